// Package bands finds the best strategies of 1 to b bands for batches that are drawn in secret by Poisson sampling,
// or random allocation, and the noise that each of them needs: w bands go with w groups, of which records are drawn with probability w/b,
// so that a batch is as large as the schema's in expectation.
//
//	Table     the strategies and their noise, each made when it is first needed
//	Search    the number of bands of least error at an (ε, δ), with a proof, by branch and bound
//	Descend   the least error of some numbers of bands, looked at as long as it falls: no proof, for many (ε, δ)
//	Noise     the noise multipliers, which depend on no workload
//
// Strategies do not depend on the privacy: columns of a group have no rows in common, so that they are optimized for
// a single participation of every record.
package bands

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting/pld"
	"mafalda/accounting/sampling"
	"mafalda/factorize"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// Cost is what the best strategy with some number of bands costs at a privacy.
type Cost struct {
	Bandwidth       int     // T for a dense strategy
	Probability     float64 // probability that a record is drawn in a round of its group
	Rounds          int     // rounds of the largest group
	NoiseMultiplier float64 // standard deviation of Z over the clip, where columns of C have norm one
	SquaredError    float64 // tr(C⁻ᵀHC⁻¹)
	ErrorAtPrivacy  float64 // NoiseMultiplier² · SquaredError
}

// Options says how strategies are made.
type Options struct {
	Gap   float64 // certified relative gap to stop at; 0: the default of the objective
	Noise Noise   // noise multipliers to look up and add to; nil: the table has its own

	Sampling sampling.Scheme // how batches are drawn; the zero value: by Poisson sampling, of any size, under zero-out

	// Searches start from a guess, not from the strategy of fewer bands: what one finds depends on no other.
	FromGuess bool
}

// Table has the best strategies of 1 to b bands for a workload, and their noise. It is for one goroutine.
type Table struct {
	objective factorize.Objective
	schema    participation.Schema // schema of batches in turn
	single    participation.Cyclic
	options   Options
	found     map[int]*factorize.Result
}

// NewTable returns the table of a workload. It is empty: nothing is computed yet.
func NewTable(o factorize.Objective, schema participation.Schema, opts Options) *Table {
	if opts.Noise == nil {
		opts.Noise = Noise{}
	}
	return &Table{objective: o, schema: schema, single: participation.Single(schema), options: opts,
		found: map[int]*factorize.Result{}}
}

// Under returns the table of the same strategies with batches that are drawn in another way.
func (t *Table) Under(s sampling.Scheme) *Table {
	other := *t
	other.options.Sampling = s
	return &other
}

// Most returns the most bands: b, or T if that is less.
func (t *Table) Most() int { return min(t.schema.Separation(), t.schema.Steps()) }

// Multiplier returns the noise multiplier for this number of bands. It fails as Noise.MultiplierUnder does.
func (t *Table) Multiplier(bands int, epsilon, delta float64) (float64, error) {
	return t.options.Noise.MultiplierUnder(t.options.Sampling, t.schema, bands, epsilon, delta)
}

// Strategy returns the best strategy with this number of bands. It fails as factorize.Banded does, and with context.Canceled
// if ctx ends first.
func (t *Table) Strategy(ctx context.Context, bands int) (*factorize.Result, error) {
	if r := t.found[bands]; r != nil {
		return r, nil
	}
	r, err := t.optimize(ctx, bands, nil)
	switch {
	case err != nil:
		return nil, err
	case r.Status == optim.Interrupted:
		return nil, context.Canceled
	}
	t.found[bands] = r
	return r, nil
}

// optimize searches for the best strategy with this number of bands.
func (t *Table) optimize(ctx context.Context, bands int, progress factorize.Progress) (*factorize.Result, error) {
	return factorize.Banded{Bandwidth: bands}.Optimize(ctx, t.objective, t.single,
		factorize.Options{Gap: t.options.Gap, Start: t.start(bands), Progress: progress})
}

// start returns the X of the nearest smaller number of bands, which has the zeros that more bands need, too.
func (t *Table) start(bands int) *mat.SymDense {
	for w := bands - 1; w > 0 && !t.options.FromGuess; w-- {
		if r := t.found[w]; r != nil {
			return strategy.GramOf(r.Strategy)
		}
	}
	return nil
}

// At returns what the best strategy with this number of bands costs at (ε, δ). It fails as Multiplier and Strategy do.
func (t *Table) At(ctx context.Context, bands int, epsilon, delta float64) (Cost, error) {
	multiplier, err := t.Multiplier(bands, epsilon, delta)
	if err != nil {
		return Cost{}, fmt.Errorf("noise for %d bands: %w", bands, err)
	}
	r, err := t.Strategy(ctx, bands)
	if err != nil {
		return Cost{}, fmt.Errorf("%d bands: %w", bands, err)
	}
	c := t.cost(bands)
	c.NoiseMultiplier, c.SquaredError, c.ErrorAtPrivacy = multiplier, r.SquaredError, multiplier*multiplier*r.SquaredError
	return c, nil
}

// Descend returns the number of bands of least error at (ε, δ) of 1, 2, 4, … and b bands as far as it falls, and then
// of the numbers of bands beside the best, again as far as it falls. It fails as At does.
func (t *Table) Descend(ctx context.Context, epsilon, delta float64) (Cost, error) {
	errorOf := func(bands int) (float64, error) {
		c, err := t.At(ctx, bands, epsilon, delta)
		return c.ErrorAtPrivacy, err
	}
	best, err := Descend(append(Powers(t.Most()-1), t.Most()), 1, errorOf)
	for _, way := range []int{-1, 1} {
		var beside []int
		for w := best; w >= 1 && w <= t.Most(); w += way {
			beside = append(beside, w)
		}
		if err != nil {
			return Cost{}, err
		}
		best, err = Descend(beside, 1, errorOf)
	}
	if err != nil {
		return Cost{}, err
	}
	return t.At(ctx, best, epsilon, delta)
}

// Descend returns the number of least error of those given, which are looked at in their order until enough of them, one
// after the other are no better than the best before them. It fails as errorOf does.
func Descend(numbers []int, patience int, errorOf func(bands int) (float64, error)) (best int, err error) {
	var least float64
	worse := 0 // numbers since the best
	for i, w := range numbers {
		e, err := errorOf(w)
		if err != nil {
			return best, err
		}
		if i == 0 || e < least {
			best, least, worse = w, e, 0
		} else if worse++; worse == patience {
			break
		}
	}
	return best, nil
}

// Powers returns the powers of two up to a number.
func Powers(most int) []int {
	var all []int
	for w := 1; w <= most; w *= 2 {
		all = append(all, w)
	}
	return all
}

func (t *Table) cost(bands int) Cost {
	n := t.options.Sampling.For(t.schema, bands)
	return Cost{Bandwidth: bands, Probability: n.Probability, Rounds: n.Rounds}
}

// tooLittle reports whether a noise multiplier does not give this number of bands the privacy. What is out of the accountant's
// range excludes nothing.
func (t *Table) tooLittle(bands int, multiplier, epsilon, delta float64) (bool, error) {
	if multiplier < pld.MinNoiseMultiplier || multiplier > pld.MaxNoiseMultiplier {
		return false, nil
	}
	d, err := t.options.Sampling.Draw(t.schema, bands)
	if err != nil {
		return false, err
	}
	upper, err := d.Epsilon(delta, multiplier)
	return upper > epsilon, err
}

// Noise keeps the noise multipliers for bands with batches that are drawn in secret.
type Noise map[level]float64

// level is what a noise multiplier depends on.
type level struct {
	sampling                 sampling.Scheme
	steps, separation, bands int
	epsilon, delta           float64
}

// Multiplier is MultiplierUnder Poisson sampling and zero-out adjacency.
func (n Noise) Multiplier(schema participation.Schema, bands int, epsilon, delta float64) (float64, error) {
	return n.MultiplierUnder(sampling.Scheme{}, schema, bands, epsilon, delta)
}

// MultiplierUnder returns the noise multiplier with which a strategy of this number of bands is (ε, δ)-DP in place of batches in
// turn under the schema. It fails as sampling.Scheme.Draw and sampling.Draw.NoiseMultiplier do.
func (n Noise) MultiplierUnder(by sampling.Scheme, schema participation.Schema, bands int,
	epsilon, delta float64) (float64, error) {
	at := level{by, schema.Steps(), schema.Separation(), bands, epsilon, delta}
	if m, known := n[at]; known {
		return m, nil
	}
	d, err := by.Draw(schema, bands)
	if err != nil {
		return 0, err
	}
	m, err := d.NoiseMultiplier(epsilon, delta)
	if err == nil {
		n[at] = m
	}
	return m, err
}
