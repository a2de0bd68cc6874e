package measure

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting/pld"
	"mafalda/accounting/secrecy"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/strategy"
)

// SecretBounds are lower bounds of errors at (ε, δ), as of Solution.ErrorAtPrivacy, where batches are drawn in secret:
// no strategy, whatever its class, has a smaller error under the sampling. What does not depend on ε and δ is computed
// once.
type SecretBounds struct {
	gram   *mat.SymDense
	schema participation.Schema
	cyclic *factorize.Result
	gap    float64

	bins    *factorize.SecretBound // bound for random bins, made when it is first needed
	poisson map[int]*factorize.Result
}

// NewSecretBounds returns the bounds for the Gram matrix h of a network and the cyclic participation that batches in
// turn would have; cyclic is the dense optimum for it. Other optima that bounds are
// made of are searched for to a relative gap.
func NewSecretBounds(h *mat.SymDense, schema participation.Schema, cyclic *factorize.Result, gap float64) *SecretBounds {
	return &SecretBounds{gram: h, schema: schema, cyclic: cyclic, gap: gap, poisson: map[int]*factorize.Result{}}
}

// ErrorAtPrivacy is a squared error with noise of this multiplier, in units of the clip.
func ErrorAtPrivacy(multiplier, squaredError float64) float64 {
	return multiplier * multiplier * squaredError
}

// Under returns the bound under the sampling of a manifest for this ε: 0 where nothing is proved, as for random allocation. It
// fails as Bins and Poisson do.
func (b *SecretBounds) Under(ctx context.Context, s *export.Sampling, epsilon float64) (float64, error) {
	switch {
	case s.Scheme == export.SchemeBins:
		return b.Bins(epsilon, s.Delta)
	case s.Kind().Traits().Independent:
		return b.Poisson(ctx, s.Groups, epsilon, s.Delta+s.Overflow)
	}
	return 0, nil
}

// Bins returns the bound under random bins, as many as the schema has steps between participations: 0, which bounds
// everything, where nothing is proved, as for more than factorize.SecretSteps steps. It fails as
// factorize.NewSecretBound and secrecy.NewBins do.
//
// A record of bin j takes part in the steps j, j+b, ... The attacks are on the bins apart from each other, for which
// the optimum for batches in turn is the best guess, and on all of them together (secrecy.Bins.MeanSquare).
func (b *SecretBounds) Bins(epsilon, delta float64) (float64, error) {
	steps, number := b.schema.Steps(), b.schema.Separation()
	if steps > factorize.SecretSteps {
		return 0, nil
	}
	private, err := secrecy.NewBins(number, epsilon, delta)
	if err != nil {
		return 0, err
	}
	if b.bins == nil {
		apart := factorize.Cells{Steps: everyOf(steps, number), Guess: strategy.GramOf(b.cyclic.Strategy)}
		apart.Weights = slices.Repeat([]float64{1 / float64(number)}, len(apart.Steps))
		together := factorize.AllTogether(b.gram, everyOf(steps, 1), 1/float64(number*number))
		if b.bins, err = factorize.NewSecretBound(b.gram, apart, together); err != nil {
			return 0, err
		}
	}
	return b.bins.Error(private.MeanSquare(1), private.MeanSquare(number)), nil
}

// Poisson returns the bound under Poisson sampling from a number of groups, of records whose group is known: 0, which bounds
// everything, where nothing is proved. It fails with a fault.Argument of Groups, and as factorize.Dense.Optimize and
// secrecy.NewPoisson do.
//
// Privacy leaves to the record what it can change in all steps of its group together (secrecy.Poisson.SquaredSum), and
// that is the sensitivity of a record that takes part in all of them.
func (b *SecretBounds) Poisson(ctx context.Context, groups int, epsilon, delta float64) (float64, error) {
	steps := b.schema.Steps()
	if groups < 1 || groups > b.schema.Separation() {
		return 0, fault.New("Groups", groups, "must be from 1 to b = %d", b.schema.Separation())
	}
	rounds := pld.BandRounds(steps, b.schema.Separation(), groups)
	private, err := secrecy.NewPoisson(rounds.Probability, rounds.Rounds, epsilon, delta)
	if err != nil {
		return 0, err
	}
	most := private.SquaredSum()
	if math.IsInf(most, 1) {
		return 0, nil
	}
	if b.poisson[groups] == nil {
		all, err := participation.NewCyclic(steps, rounds.Rounds, groups)
		if err != nil {
			return 0, err
		}
		best, err := factorize.Dense{}.Optimize(ctx, factorize.Mean(b.gram), all, factorize.Options{Gap: b.gap})
		if err != nil {
			return 0, err
		}
		b.poisson[groups] = best
	}
	return b.poisson[groups].LowerBound / most * (1 - 1e-15), ctx.Err()
}

// everyOf returns the steps j, j+b, j+2b, ... for every j < b.
func everyOf(steps, b int) [][]int {
	all := make([][]int, min(b, steps))
	for t := range steps {
		all[t%b] = append(all[t%b], t)
	}
	return all
}
