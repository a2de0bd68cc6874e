package plan

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/accounting/bins"
	"mafalda/accounting/sampling"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/bands"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/measure"
	"mafalda/participation"
)

// SamplingCurves are errors at levels of privacy, as Solution.ErrorAtPrivacy.
type SamplingCurves struct {
	Problem Problem
	Delta   float64
	Rows    []SamplingRow // one for every ε
}

// SamplingRow is what batches in turn and batches in secret cost at one ε. Bounds are errors that no strategy, whatever its class,
// is below where batches are drawn in secret; 0: none is proved.
type SamplingRow struct {
	Epsilon           float64     `json:"epsilon"`
	Cyclic            float64     `json:"cyclic_error_at_privacy"`       // error of the dense optimum for batches in turn
	Best              *AtPrivacy  `json:"best"`                          // best of Bands and bands.Table.Descend; nil with CurveOptions.Picture
	PoissonLowerBound float64     `json:"poisson_lower_bound,omitempty"` // bound for Poisson sampling from as many groups as Best has bands
	BinsLowerBound    float64     `json:"bins_lower_bound,omitempty"`
	Allocation        *AtPrivacy  `json:"allocation,omitempty"` // the best number of bands; nil with CurveOptions.Picture, and unless T = k·b
	Bins              *BinsPoint  `json:"bins,omitempty"`       // nil but at CurveOptions.Bins, and for problems of too many steps or bins
	Bands             []AtPrivacy `json:"bands"`                // costs of some numbers of bands with Poisson sampling
}

// CurveOptions tunes SamplingCurve. The zero value computes every curve, of strategies within a certified gap of 1e-5.
type CurveOptions struct {
	// Picture leaves out all but the curves of numbers of bands and of batches in turn, whose strategies are then within
	// 1e-3 of the best.
	Picture bool

	// Bins are those of the ε at which random bins are computed, too: some seconds each.
	Bins []float64

	Progress func(phase string, fraction float64) // if not nil, sees how far it is, from 0 to 1
}

// Certified gaps of the bands that curves are of.
const (
	curveGap   = 1e-5
	pictureGap = 1e-3
)

// SamplingCurve computes the errors at several ε for up to five numbers of bands from 1 to b with Poisson sampling, for
// the best numbers, and for batches in turn. Strategies do not depend on ε, noise multipliers do. It fails as
// Problem.Check does with Options.Sampling Poisson, as Privacies.Check and the accountant do, and without any ε.
func SamplingCurve(ctx context.Context, p Problem, levels Privacies, o CurveOptions) (*SamplingCurves, error) {
	s, err := prepareCurve(p, levels)
	if err != nil {
		return nil, err
	}
	if o.Progress != nil {
		s.Options.Progress = func(e Event) { o.Progress(e.Phase, e.Fraction) }
	}
	c := &curve{job: s, CurveOptions: o, delta: levels.Delta}
	if err := runSteps(ctx, func(context.Context) error { return p.checkNetwork() }, s.measures, s.cyclicOptimum); err != nil {
		return nil, err
	}
	gap := curveGap
	if o.Picture {
		gap = pictureGap
	}
	c.table = bands.NewTable(factorize.Mean(s.gram), p.Schema, bands.Options{Gap: gap})
	c.bounds = measure.NewSecretBounds(s.gram, p.Schema, s.Cyclic, 10*curveGap)
	all := &SamplingCurves{Problem: p, Delta: levels.Delta}
	for i, epsilon := range levels.Epsilons {
		s.counts("errors at the levels of privacy")(i, len(levels.Epsilons))
		r, err := c.row(ctx, epsilon)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		all.Rows = append(all.Rows, r)
	}
	s.show("errors at the levels of privacy", 1)
	return all, nil
}

// curve makes rows.
type curve struct {
	*job
	CurveOptions
	delta      float64
	table      *bands.Table
	bounds     *measure.SecretBounds
	strategies []binsStrategy // strategies for random bins; nil until they are needed
}

// row computes what batches in turn and in secret cost at an ε, and what no strategy is below.
func (c *curve) row(ctx context.Context, epsilon float64) (r SamplingRow, err error) {
	r.Epsilon = epsilon
	if r.Cyclic, err = cyclicError(c.Cyclic, &Privacy{Target: accounting.Target{Epsilon: epsilon, Delta: c.delta}}); err != nil {
		return r, err
	}
	secret := func(at bands.Cost, err error) (AtPrivacy, error) {
		return SecretCost(at, epsilon, c.delta, r.Cyclic), err
	}
	schema := c.schema()
	steps, k, b := schema.Steps(), schema.Participations(), schema.Separation()
	for _, w := range curveBands(c.table.Most()) {
		at, err := secret(c.table.At(ctx, w, epsilon, c.delta))
		if err != nil {
			return r, err
		}
		r.Bands = append(r.Bands, at)
	}
	if c.Picture {
		return r, nil
	}
	best, err := secret(c.table.Descend(ctx, epsilon, c.delta))
	for _, at := range r.Bands { // the error may fall again where Descend does not look
		if at.Error < best.Error {
			best = at
		}
	}
	if r.Best = &best; err == nil && steps == k*b {
		var at AtPrivacy
		at, err = secret(c.table.Under(sampling.Scheme{Of: participation.Allocation}).Descend(ctx, epsilon, c.delta))
		r.Allocation = &at
	}
	if err == nil && slices.Contains(c.CurveOptions.Bins, epsilon) && b <= curveBins && steps <= curveSteps {
		if r.Bins, err = c.bins(ctx, epsilon); err == nil {
			r.Bins.Ratio = r.Bins.Error / r.Cyclic
		}
	}
	if err == nil {
		r.PoissonLowerBound, err = c.bounds.Poisson(ctx, r.Best.Bands, epsilon, c.delta)
	}
	if err == nil {
		r.BinsLowerBound, err = c.bounds.Bins(epsilon, c.delta)
	}
	return r, err
}

// CheckSamplingCurve refuses, in milliseconds, what SamplingCurve refuses; a network may be missing.
func CheckSamplingCurve(p Problem, levels Privacies) error {
	_, err := prepareCurve(p, levels)
	return err
}

// prepareCurve returns the job of a problem and levels that SamplingCurve takes.
func prepareCurve(p Problem, levels Privacies) (*job, error) {
	if err := levels.Check(); err != nil {
		return nil, err
	}
	if len(levels.Epsilons) == 0 {
		return nil, fault.New("Epsilon", nil, "there is none")
	}
	j, err := prepare(p, Options{Sampling: participation.Poisson,
		Privacy: &Privacy{Target: accounting.Target{Epsilon: levels.Epsilons[0], Delta: levels.Delta}}})
	if err != nil {
		return nil, err
	}
	for _, epsilon := range levels.Epsilons {
		if _, err := (bands.Noise{}).Multiplier(p.Schema, 1, epsilon, levels.Delta); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// Finer returns the ε of a smooth picture: three more between neighbours of ascending ones.
func Finer(epsilons []float64) []float64 {
	var all []float64
	for i, e := range epsilons {
		all = append(all, e)
		for j := 1; j < 4 && i+1 < len(epsilons); j++ {
			all = append(all, e*math.Pow(epsilons[i+1]/e, float64(j)/4))
		}
	}
	return all
}

// Only returns the curves at some of their ε.
func (c *SamplingCurves) Only(epsilons []float64) *SamplingCurves {
	some := *c
	some.Rows = slices.DeleteFunc(slices.Clone(c.Rows), func(r SamplingRow) bool { return !slices.Contains(epsilons, r.Epsilon) })
	return &some
}

// curveBands returns at most five numbers of bands: powers of 2, or of 4, … that are clearly below b, and b.
func curveBands(b int) []int {
	for base := 2; ; base *= 2 {
		var all []int
		for w := 1; 3*w <= 2*b; w *= base {
			all = append(all, w)
		}
		if all = append(all, b); len(all) <= 5 {
			return all
		}
	}
}

// ProblemOf returns the problem that an export was made for, on its network (see NetworkOf); nil for the prefix
// workload.
func ProblemOf(e *export.Export, n *graph.Network) (Problem, error) {
	m := e.Manifest
	spec, err := m.WorkloadSpec.Attached(n)
	if err != nil {
		return Problem{}, err
	}
	p := Problem{Network: n, Workload: spec, SchemaFile: m.Participation.Source}
	if p.Schema, err = m.Participation.Of(m.Steps); err != nil {
		return Problem{}, err
	}
	if p.Objective, err = measure.ObjectiveOf(m); err != nil {
		return Problem{}, err
	}
	if g := m.Gram; g != nil && n != nil {
		p.Gram = Gram{Probes: g.Probes, LanczosSteps: g.LanczosSteps, Seed: g.Seed}
		if p.Gram.Method, err = measure.ParseGramMethod(g.Method); err != nil {
			return Problem{}, err
		}
	}
	return p, nil
}

// BinsPoint is what a strategy reaches under random bins at one ε: the best of some strategies without negative entries
// that do not depend on ε. Its privacy is confirmed, but for a chance of Failure; OptimizeForBins finds a little better
// ones.
type BinsPoint struct {
	AtPrivacy
	Blend   float64 `json:"blend"`             // λ of factorize.Bins.Blend
	Failure float64 `json:"failure,omitempty"` // probability that the accountant's samples mislead
	Samples int     `json:"samples,omitempty"` // number of samples for each direction; 0 if none were needed
}

// curveBlends are the strategies that a curve is the least of.
var curveBlends = []float64{0, 0.4, 0.7, 0.85, 0.93, 0.97, 0.99, 0.997}

// curveSamples is how many samples confirm a point of a curve, and estimate which strategy is the best there.
const curveSamples = 1 << 17

// Limits of curves under random bins: beyond, they take minutes, and are left out.
const (
	curveSteps = 512
	curveBins  = 64
)

// binsStrategy is one of the strategies of a curve.
type binsStrategy struct {
	blend float64
	*binsCandidate
}

// bins computes what random bins reach at an ε.
func (c *curve) bins(ctx context.Context, epsilon float64) (*BinsPoint, error) {
	if c.strategies == nil {
		var err error
		if c.strategies, err = c.binsStrategies(ctx); err != nil {
			return nil, err
		}
	}
	likely, err := likelyForBins(ctx, c.strategies, epsilon, c.delta)
	if err != nil {
		return nil, err
	}
	return confirmedBest(ctx, likely, epsilon, c.delta)
}

// confirmedBest returns the point of the strategy that needs the least error, of some. Each noise multiplier is
// confirmed with its share of the chance to fail, so that the least one may be taken.
func confirmedBest(ctx context.Context, some []binsStrategy, epsilon, delta float64) (*BinsPoint, error) {
	asked := bins.MonteCarlo{Samples: curveSamples}.Filled()
	each := asked
	each.Failure /= float64(len(some))
	var best *BinsPoint
	for _, c := range some {
		p, err := c.NoiseMultiplier(ctx, epsilon, delta, each)
		if err != nil {
			return nil, err
		}
		error := measure.ErrorAtPrivacy(p.NoiseMultiplier, c.SquaredError)
		if best != nil && error >= best.Error {
			continue
		}
		best = &BinsPoint{AtPrivacy: AtPrivacy{Epsilon: epsilon, Delta: delta, Error: error,
			NoiseMultiplier: p.NoiseMultiplier}, Blend: c.blend, Samples: p.Confirmed.Samples}
		if p.Failure > 0 {
			best.Failure = asked.Failure
		}
	}
	return best, nil
}

// likelyBest is by how much an estimated error may exceed the least one for the strategy to be worth a confirmation:
// estimates from few samples differ by up to some percent, and confirmations add some percent of their own.
const likelyBest = 1.06

// likelyForBins returns the strategy of the least estimated error, and the next one if it is likelyBest.
func likelyForBins(ctx context.Context, all []binsStrategy, epsilon, delta float64) ([]binsStrategy, error) {
	for _, c := range all {
		if _, err := c.estimate(ctx, epsilon, delta, bins.MonteCarlo{Samples: curveSamples / 8}); err != nil {
			return nil, err
		}
	}
	sorted := slices.SortedFunc(slices.Values(all), func(a, b binsStrategy) int { return cmp.Compare(a.error(), b.error()) })
	if sorted[1].error() > likelyBest*sorted[0].error() {
		return sorted[:1], nil
	}
	return sorted[:2], nil
}

// binsStrategies returns the strategies of a curve, scaled to columns of patterns of norm at most one.
func (s *job) binsStrategies(ctx context.Context) (all []binsStrategy, err error) {
	d := &binsDescent{class: factorize.Bins{Number: s.schema().Separation()}, gram: s.gram, schema: s.schema()}
	err = d.blends(ctx, curveBlends, func(lambda float64, c *mat.TriDense) error {
		s.show("strategies without negative entries", float64(len(all))/float64(len(curveBlends)))
		found, err := d.normalized(c)
		all = append(all, binsStrategy{lambda, found})
		return err
	})
	return all, err
}
