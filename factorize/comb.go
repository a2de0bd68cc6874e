package factorize

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/strategy"
)

// Comb is the class of buffered linear Toeplitz strategies with a comb. Buffers is the number of poles d, at most
// MostBuffers; 0 means 4, or T-1 if that is less. Bandwidth is the comb's period, the rows l that it keeps; 0 means b.
// Scales of columns are one over a quadratic polynomial of the step.
//
// For b ≪ T the optimum's symbol is x = √(h/λ), λ the square of the mean of √h over all ω + 2πj/b. h has a peak at 0,
// and so λ has peaks at all multiples of 2π/b, where x has dips, for each of which a rational function needs two
// poles. The dips take ten periods of coefficients: 2b + 1 coefficients, whose columns overlap with those of the
// steps before and after in a pattern, are worse than the comb of half as many numbers. The optimum is sought at
// horizons of 1024·8^i steps first (or 2b), where starts are cheap, and then at T: 2,001 coefficients at T = 10⁵ take
// 69 seconds of one core on florentine, 1,001 take 14.
//
// Certified gaps (uniform gossip, plain SGD, k = 100, b = 100 and 1,000):
//
//	                                                numbers     florentine, T = 10⁴  T = 10⁵  ego graph, T = 10⁴  T = 10⁵
//	blt, 4 buffers                                  4           0.452                0.548    0.466               0.591
//	blt, 6 buffers                                  6           0.423                0.547    0.433               0.580
//	blt, 8 buffers                                  8           0.398                0.492    0.400               0.529
//	toeplitz, 1,001 coefficients                    1,000       0.121                0.437    0.106               0.468
//	toeplitz, 2b + 1 coefficients                   200, 2,000  0.211                0.234    0.215               0.253
//	comb, 4 buffers                                 104, 1,004  0.121                0.116    0.106               0.105
//	comb, 4 buffers, scaled columns                 104, 1,004  0.054                0.060    0.058               0.062
//	blt, 16 buffers                                 16          0.391                0.522    0.402               0.577
//	toeplitz, 51 coefficients                       50          1.202                14.05    1.109               11.94
//	toeplitz, 201 coefficients                      200         0.211                3.565    0.215               3.166
//	banded-inverse, 51 coefficients                 50          0.507                0.618    0.522               0.671
//	banded-inverse, 201 coefficients                200         0.354                0.559    0.333               0.591
//	comb of half of b, 4 buffers                    54, 504     0.317                0.467    0.374               0.389
//	comb of a quarter or an eighth of b, 4 buffers  29, 129     0.446                0.549    0.419               0.578
//	comb, 8 buffers                                 108, 1,008  0.121                0.117    0.107               0.105
//
// and with 4 buffers and scaled columns, in the last but one column without scales (at k = 625 the bound is what is far
// off: 625 periods leave it one polynomial a period):
//
//	numbers  T    k    b      gap, florentine  without scales  gap, ego graph
//	44       10⁴  250  40     0.041            0.132           0.048
//	104      10⁴  100  100    0.054            0.121           0.058
//	164      10⁵  625  160    0.247            0.343           0.323
//	404      10⁵  250  400    0.048            0.131           0.054
//	1,004    10⁵  100  1,000  0.060            0.116           0.062
//
// At T = 2048, k = 32 on florentine (68 numbers) scaled columns are 6.75 % above the dense optimum, 10.6 % without scales.
type Comb = classOf[combs]

type combs struct{}

func (combs) traits() Traits {
	return Traits{
		Name:      strategy.CombClass,
		About:     "blt of d buffers (default 4) times a comb of period w, d+w rows kept (default b)",
		Bandwidth: participation.Schema.Separation,
		Buffers:   defaultBuffers, ScaleColumns: true,
		Kinds: []Kind{MeanError, ManySteps}, refuses: refuseComb,
	}
}

// refuseComb refuses records that take part once unless a period is given, and scaled columns under all but cyclic
// participation with T ≤ kb, and for ManySteps where kT is above 10⁸.
func refuseComb(p Parameters, k Kind, schema participation.Schema) error {
	_, cyclic := schema.(participation.Cyclic)
	long := k == ManySteps && float64(schema.Participations())*float64(schema.Steps()) > mostColumnProducts
	if p.ScaleColumns && (long || !cyclic || !participation.IsPartition(schema)) {
		return fmt.Errorf("scaled columns of combs where patterns overlap, or are listed, or k·T is above %.0f: %w",
			mostColumnProducts, ErrUnsupported)
	}
	if p.Bandwidth == 0 && schema.Separation() >= schema.Steps() {
		return fmt.Errorf("%s strategies for records that take part once: %w", Comb{}.Name(), ErrUnsupported)
	}
	return nil
}

// optimize minimizes the loss from starts of BLT and weak and strong combs. There is no certificate. For Long see
// Toeplitz. Scales of columns are fitted to the comb that is best without. It fails as Supports does, for fewer than
// one buffer or more than T-1 or MostBuffers, for a period of T or more, with ErrGram, and for scaled columns of many
// steps with weights.
func (combs) optimize(
	ctx context.Context, o Objective, schema participation.Schema, opts Options,
	p Parameters,
) (*Result, error) {
	if p.Bandwidth >= schema.Steps() {
		return nil, fault.New("Bandwidth", p.Bandwidth, "must be less than T = %d", schema.Steps())
	}
	r, err := optimizeSeries(ctx, o, schema, opts, combSeries{rationalSeries{p.Buffers}, p.Bandwidth}, false)
	if err != nil || !p.ScaleColumns {
		return r, err
	}
	return r, scaleColumns(r, o, schema.(participation.Cyclic))
}

// combSeries is the family of products of a rational series and a comb, both within the unit circle: the parameters
// are the series' and (artanh p, artanh a).
type combSeries struct {
	rational rationalSeries
	period   int
}

func (f combSeries) dimension() int { return f.rational.dimension() + 2 }

func (f combSeries) split(x []float64) ([]float64, strategy.Teeth) {
	n := f.rational.dimension()
	return x[:n], strategy.Teeth{P: math.Tanh(x[n]), A: math.Tanh(x[n+1])}
}

func (f combSeries) strategy(steps int, x, _ []float64) (strategy.Strategy, error) {
	own, teeth := f.split(x)
	return strategy.NewComb(steps, 1, f.rational.sectionsOf(own), f.period, teeth)
}

// seriesTo knows the gradient by r = 1/c, too, which is of the family with poles and zeros exchanged.
func (f combSeries) seriesTo(c, r, x []float64) pull {
	own, teeth := f.split(x)
	rational, inverse := f.rational.seriesTo(c, r, own), teeth.Inverse()
	if rational == nil {
		return nil
	}
	teeth.Multiply(c, f.period)
	inverse.Multiply(r, f.period)
	if !allFinite(c) || !allFinite(r) {
		return nil
	}
	return func(dst, gc, gr []float64) {
		n := len(own)
		p, a := teethGradient(c, gc, f.period, teeth)
		otherA, otherP := teethGradient(r, gr, f.period, inverse)
		dst[n], dst[n+1] = (p+otherP)*(1-teeth.P*teeth.P), (a+otherA)*(1-teeth.A*teeth.A)
		teeth.MultiplyBack(gc, f.period)
		inverse.MultiplyBack(gr, f.period)
		rational(dst[:n], gc, gr)
	}
}

// teethGradient returns the derivatives by P and A of a series with the comb, given the one by the series:
// ∂c/∂P = -x^l·c/(1 - P x^l) and ∂c/∂A = x^l·c/(1 - A x^l).
func teethGradient(c, gc []float64, period int, teeth strategy.Teeth) (p, a float64) {
	by := func(root float64) (sum float64) {
		y := slices.Clone(c)
		strategy.Teeth{A: root}.Multiply(y, period)
		for t := period; t < len(gc); t++ {
			sum += gc[t] * y[t-period]
		}
		return sum
	}
	return -by(teeth.P), by(teeth.A)
}

// starts are those of the rational series, a quarter of them, with weak and strong combs.
func (f combSeries) starts(separation int) [][]float64 {
	var points [][]float64
	for i, x := range f.rational.starts(separation)[:12] {
		strength := [][2]float64{{0.1, 0.3}, {0.6, 0.3}, {1.2, 0.6}}[i%3]
		points = append(points, append(x, strength[0], strength[1]))
	}
	return points
}
