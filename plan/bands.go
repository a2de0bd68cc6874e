package plan

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/accounting/bins"
	"mafalda/accounting/pld"
	"mafalda/factorize"
	"mafalda/participation"
	"mafalda/strategy"
)

// Bands is what a strategy of so many bands costs at a privacy: the best one under Poisson sampling, one without
// negative entries under Bins.
type Bands struct {
	Bandwidth       int     // T for a dense strategy
	Probability     float64 // with which a record is drawn in each of the rounds of its group
	Rounds          int     // of the largest group
	NoiseMultiplier float64 // standard deviation of Z over the clip, where columns of C have norm one
	SquaredError    float64 // tr(C⁻ᵀHC⁻¹)
	ErrorAtPrivacy  float64 // NoiseMultiplier² · SquaredError

	// Under Bins: what the strategy was optimized for, InTurn (loss, as if the draw were known) or Bins (this error),
	// and how its noise was found.
	For     participation.Scheme
	Privacy bins.Privacy
}

// bandSearch looks for the number of bands of least error at an (ε, δ): a search by branch and bound.
//
// The squared error E(w) of the best strategy of w bands never rises with w, for a strategy of few bands also counts as
// one of more bands. So a lower bound of E(w) is one of all E(v), v ≤ w, too, and with the noise multiplier s_v that v
// bands need, s_v² times it bounds the error at the privacy. What is not below the best so far is excluded, often
// without s_v: if noise of √(best/bound) gives an ε above the target, s_v is larger. Searches for strategies end as
// soon as their own certificate excludes them. So what is found is the best for this accountant, up to the gap.
type bandSearch struct {
	objective      factorize.Objective
	schema         participation.Schema // cyclic
	epsilon, delta float64
	gap            float64
	progress       func(done, total int)
	all            []band // of w = index+1
	best           int    // index; -1: none
	single         participation.Cyclic
	excluded       int
}

// band is what is known of a number of bands.
type band struct {
	Bands
	settled bool              // it is excluded, or there is a result
	bound   float64           // of E, for this class and those of fewer bands
	result  *factorize.Result // nil: not searched for, or excluded
}

// newBandSearch returns the search among 1 to b bands; bound is one for the squared error of all strategies.
func newBandSearch(o factorize.Objective, schema participation.Schema, target accounting.Target,
	bound float64) (*bandSearch, error) {
	steps := schema.Steps()
	single, err := participation.NewCyclic(steps, 1, steps)
	if err != nil {
		return nil, err
	}
	s := &bandSearch{objective: o, schema: schema, epsilon: target.Epsilon, delta: target.Delta, best: -1,
		single: single,
		all:    make([]band, min(schema.Separation(), steps))}
	for i := range s.all {
		e := poissonRounds(schema, i+1)
		s.all[i].Bands = Bands{Bandwidth: i + 1, Probability: e.Probability, Rounds: e.Rounds}
		s.all[i].bound = bound
	}
	return s, nil
}

// atMost leaves out more bands than so many.
func (s *bandSearch) atMost(bands int) { s.all = s.all[:min(len(s.all), bands)] }

// only settles all numbers of bands but one.
func (s *bandSearch) only(bands int) {
	for i := range s.all {
		s.all[i].settled = i != bands-1
	}
}

// run searches until every number of bands is settled. When ctx ends it stops with what there is, if there is
// something.
func (s *bandSearch) run(ctx context.Context) error {
	for {
		i, enough, err := s.nextCandidate()
		if i < 0 || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			if s.best >= 0 {
				return nil
			}
			return err
		}
		if err := s.settle(ctx, i, enough); err != nil {
			return err
		}
		if s.all[i].result == nil && ctx.Err() == nil {
			s.excluded++
		}
		if s.progress != nil {
			s.progress(s.settled(), len(s.all))
		}
	}
}

// nextCandidate returns the number of bands, less one, to look at, and a squared error that need not be searched for
// further once it is shown to be a lower bound; -1 if all are settled. It begins with the fewest and the most bands,
// which all others lie between, and goes on with what looks best. If nothing looks better than the best, it excludes
// from few bands upwards: by as many bands as have, it seems, an error that is large enough for the fewest.
func (s *bandSearch) nextCandidate() (at int, enough float64, err error) {
	first, last, least := -1, -1, math.Inf(1)
	at = -1
	for i := range s.all {
		if s.all[i].settled {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
		if s.best >= 0 {
			if e := s.guess(i); e < least {
				at, least = i, e
			}
		}
	}
	switch {
	case first < 0:
		return -1, 0, nil
	case s.best < 0:
		return first, math.Inf(1), s.calibrate(last) // for the guesses
	case s.all[len(s.all)-1].result == nil && last == len(s.all)-1:
		return last, math.Inf(1), nil
	}
	wanted := s.all[s.best].ErrorAtPrivacy
	if err := s.calibrate(first); err != nil || math.Exp(least) < wanted {
		return at, s.excluding(at, wanted), err
	}
	enough = s.excluding(first, wanted)
	for at = last; at > first && (s.all[at].settled || s.squaredError(at) < enough*1.02); at-- {
	}
	return at, enough, nil
}

// excluding is the least squared error with which so many bands are no better than what is wanted; +Inf where their
// noise is not known yet.
func (s *bandSearch) excluding(i int, wanted float64) float64 {
	m := s.all[i].NoiseMultiplier
	if m == 0 {
		return math.Inf(1)
	}
	return wanted / (m * m)
}

// settle excludes a number of bands, or finds its best strategy, or stops where the error is shown to be enough.
func (s *bandSearch) settle(ctx context.Context, i int, enough float64) error {
	b := &s.all[i]
	b.settled = true
	if s.best >= 0 && b.NoiseMultiplier == 0 {
		least := math.Sqrt(s.all[s.best].ErrorAtPrivacy / b.bound)
		if excluded, err := s.tooLittle(poissonRounds(s.schema, i+1), least); excluded || err != nil {
			return err
		}
	}
	if err := s.calibrate(i); err != nil {
		return err
	}
	own := math.Inf(1)
	if s.best >= 0 {
		if own = s.excluding(i, s.all[s.best].ErrorAtPrivacy); b.bound >= own {
			return nil
		}
	}
	return s.search(ctx, i, own, enough)
}

// search finds the best strategy of so many bands, unless its squared error is first shown to be at least own, which
// excludes these bands, and, if it can be, enough to exclude fewer ones as well.
func (s *bandSearch) search(ctx context.Context, i int, own, enough float64) error {
	searching, stop := context.WithCancel(ctx)
	defer stop()
	excluded := false
	r, err := factorize.Banded{Bandwidth: i + 1}.Optimize(searching, s.objective, s.single,
		factorize.Options{Gap: s.gap,
			Start: s.start(i), Progress: func(it factorize.Iteration) {
				if it.LowerBound >= own && (it.LowerBound >= enough || it.Loss < enough) && it.Gap > s.gap {
					excluded = true
					stop()
				}
			}})
	if err != nil {
		return err
	}
	s.bounded(i, r.ClassBound)
	if excluded || ctx.Err() != nil && s.best >= 0 {
		return nil
	}
	b := &s.all[i]
	b.result, b.SquaredError, b.ErrorAtPrivacy = r, r.SquaredError, errorAtPrivacy(b.NoiseMultiplier, 1, r.SquaredError)
	if s.best < 0 || b.ErrorAtPrivacy < s.all[s.best].ErrorAtPrivacy {
		s.best = i
	}
	return nil
}

// tooLittle reports whether noise of so many clips does not give the privacy. What is out of the accountant's range
// excludes nothing.
func (s *bandSearch) tooLittle(e pld.Rounds, multiplier float64) (bool, error) {
	if multiplier < pld.MinNoiseMultiplier || multiplier > pld.MaxNoiseMultiplier {
		return false, nil
	}
	e.NoiseMultiplier = multiplier
	d, err := pld.Compose(accounting.ZeroOut, e)
	if err != nil {
		return false, err
	}
	upper, _, err := d.Epsilon(s.delta)
	return upper > s.epsilon, err
}

func (s *bandSearch) calibrate(i int) error {
	b := &s.all[i]
	if b.NoiseMultiplier != 0 {
		return nil
	}
	var err error
	b.NoiseMultiplier, err = noiseFor(poissonRounds(s.schema, i+1), s.epsilon, s.delta)
	return err
}

// complete finds the best strategy of a number of bands that the search has left out.
func (s *bandSearch) complete(ctx context.Context, i int) error {
	b := &s.all[i]
	if b.result != nil || ctx.Err() != nil {
		return ctx.Err()
	}
	if err := s.calibrate(i); err != nil {
		return err
	}
	r, err := factorize.Banded{Bandwidth: b.Bandwidth}.Optimize(ctx, s.objective, s.single,
		factorize.Options{Gap: s.gap, Start: s.start(i)})
	if err != nil {
		return err
	}
	b.result, b.SquaredError, b.ErrorAtPrivacy = r, r.SquaredError, errorAtPrivacy(b.NoiseMultiplier, 1, r.SquaredError)
	return nil
}

// bounded stores a lower bound for one number of bands, and for every smaller number, too.
func (s *bandSearch) bounded(i int, bound float64) {
	for j := range s.all[:i+1] {
		s.all[j].bound = math.Max(s.all[j].bound, bound)
	}
}

// start returns the X of the nearest smaller number of bands, which has the zeros that more bands need, too.
func (s *bandSearch) start(i int) *mat.SymDense {
	for j := i - 1; j >= 0; j-- {
		if r := s.all[j].result; r != nil {
			return strategy.GramOf(r.Strategy)
		}
	}
	return nil
}

// settled is how many numbers of bands need not be looked at any more.
func (s *bandSearch) settled() int {
	count := 0
	for _, b := range s.all {
		if b.settled {
			count++
		}
	}
	return count
}

// candidates returns those that were searched for to the end, in ascending order.
func (s *bandSearch) candidates() []Bands {
	var found []Bands
	for _, b := range s.all {
		if b.result != nil {
			found = append(found, b.Bands)
		}
	}
	return found
}
