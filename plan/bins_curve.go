package plan

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting/bins"
	"mafalda/benchmarks"
	"mafalda/factorize"
)

// BinsPoint is what a strategy reaches under random bins at one ε: the best of some strategies without negative entries
// that do not depend on ε. Its privacy is confirmed, but for a chance of Failure; OptimizeForBins finds a little better ones.
type BinsPoint struct {
	benchmarks.AtPrivacy
	Blend   float64 `json:"blend"`             // λ of factorize.Bins.Blend
	Failure float64 `json:"failure,omitempty"` // of the accountant's samples
	Samples int     `json:"samples,omitempty"` // for each direction; 0 if none were needed
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
	blend     float64
	mechanism *bins.Mechanism
	squared   float64 // tr(C⁻ᵀHC⁻¹)
}

// binsCurve computes what random bins reach at some of the levels.
func (s *job) binsCurve(ctx context.Context, all *SamplingCurves, epsilons []float64) error {
	number := s.schema().Separation()
	if len(epsilons) == 0 || number > curveBins || s.schema().Steps() > curveSteps {
		return nil
	}
	strategies, err := s.binsStrategies(ctx)
	if err != nil {
		return err
	}
	near := 0
	for i, epsilon := range all.Levels.Epsilons {
		if !slices.Contains(epsilons, epsilon) {
			continue
		}
		s.show("random bins", float64(i)/float64(len(all.Levels.Epsilons)))
		likely, err := s.bestForBins(ctx, strategies, near, epsilon, all.Levels.Delta)
		if err != nil {
			return err
		}
		near = likely[0]
		best, err := confirmedBest(ctx, strategies, likely, epsilon, all.Levels.Delta)
		if err != nil {
			return err
		}
		best.Ratio = best.Error / all.Cyclic[i]
		all.Bins = append(all.Bins, *best)
	}
	return ctx.Err()
}

// confirmedBest returns the point of the strategy that needs the least error, of some. Each noise multiplier is confirmed
// with its share of the chance to fail, so that the least one may be taken.
func confirmedBest(ctx context.Context, all []*binsStrategy, some []int, epsilon, delta float64) (*BinsPoint, error) {
	asked := bins.MonteCarlo{Samples: curveSamples}.Filled()
	each := asked
	each.Failure /= float64(len(some))
	var best *BinsPoint
	for _, i := range some {
		p, err := all[i].mechanism.NoiseMultiplier(ctx, epsilon, delta, each)
		if err != nil {
			return nil, err
		}
		error := errorAtPrivacy(p.NoiseMultiplier, 1, all[i].squared)
		if best != nil && error >= best.Error {
			continue
		}
		best = &BinsPoint{AtPrivacy: benchmarks.AtPrivacy{Epsilon: epsilon, Delta: delta, Error: error,
			NoiseMultiplier: p.NoiseMultiplier}, Blend: all[i].blend, Samples: p.Confirmed.Samples}
		if p.Failure > 0 {
			best.Failure = asked.Failure
		}
	}
	return best, nil
}

// likelyBest is by how much an estimated error may exceed the least one for the strategy to be worth a confirmation:
// estimates from few samples differ by up to some percent, and confirmations add some percent of their own.
const likelyBest = 1.06

// bestForBins returns the strategy of the least estimated error, and the better one of its neighbours if it is likelyBest:
// the search goes from one near it on as far as errors fall, as strategies are in the order of their blends, and the less
// ε, the more of the blend.
func (s *job) bestForBins(ctx context.Context, all []*binsStrategy, near int, epsilon, delta float64) ([]int, error) {
	costs := map[int]float64{}
	cost := func(i int) (float64, error) {
		if known, there := costs[i]; there || i < 0 || i >= len(all) {
			return cmp.Or(known, math.Inf(1)), nil
		}
		t, err := all[i].mechanism.Tangent(ctx, epsilon, delta, bins.MonteCarlo{Samples: curveSamples / 8})
		if err != nil {
			return 0, err
		}
		costs[i] = errorAtPrivacy(t.NoiseMultiplier, 1, all[i].squared)
		return costs[i], nil
	}
	for {
		here, err1 := cost(near)
		below, err2 := cost(near - 1)
		above, err3 := cost(near + 1)
		switch err := cmp.Or(err1, err2, err3); {
		case err != nil:
			return nil, err
		case above < here && above <= below:
			near++
		case below < here:
			near--
		default:
			likely, next := []int{near}, near+1
			if below < above {
				next = near - 1
			}
			if math.Min(below, above) <= likelyBest*here {
				likely = append(likely, next)
			}
			return likely, nil
		}
	}
}

// binsStrategies returns the strategies of a curve, each searched for from the one before, and scaled to columns of
// patterns of norm at most one.
func (s *job) binsStrategies(ctx context.Context) ([]*binsStrategy, error) {
	d := &binsDescent{class: factorize.Bins{Number: s.schema().Separation()}, gram: s.gram, schema: s.schema()}
	var all []*binsStrategy
	var start mat.Matrix
	for i, lambda := range curveBlends {
		s.show("strategies without negative entries", float64(i)/float64(len(curveBlends)))
		c, err := d.descend(ctx, d.class.Blend(lambda), start, 0)
		if err != nil {
			return nil, err
		}
		start = c
		_, mechanism, squared, err := d.evaluate(d.normalized(c))
		if err != nil {
			return nil, err
		}
		all = append(all, &binsStrategy{lambda, mechanism, squared})
	}
	return all, nil
}

// BinsAt returns what random bins reach at an ε; nil if that was not computed.
func (c *SamplingCurves) BinsAt(epsilon float64) *BinsPoint {
	for i, b := range c.Bins {
		if b.Epsilon == epsilon {
			return &c.Bins[i]
		}
	}
	return nil
}
