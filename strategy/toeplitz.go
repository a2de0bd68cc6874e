package strategy

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/series"
)

// Toeplitz is a strategy C[t,s] = c_(t-s)·d_s over T steps: a power series c, of one of several classes, and perhaps
// scales d of the columns. C⁻¹ is the Toeplitz matrix of r = 1/c, its rows divided by d: nothing of size T×T is needed
// to work with it.
type Toeplitz struct {
	steps   int
	series  powerSeries
	columns []float64  // d, T positive numbers; nil: ones
	divisor Polynomial // e with d = 1/e, which only combs have; nil: none
}

// powerSeries is c of a class, c_0 > 0, and what a node does that divides by it.
type powerSeries interface {
	name() string
	coefficients(steps int) []float64 // c, at most T of them, zero from there on
	inverse(steps int) []float64      // the T coefficients of r = 1/c
	times(by float64, steps int) powerSeries
	cost() NodeCost
	filter(of *Toeplitz) Filter
	parameters() Parameters
}

// Name returns the name of the class, or of the baseline.
func (p *Toeplitz) Name() string { return p.series.name() }

// Steps returns the number of steps, T.
func (p *Toeplitz) Steps() int { return p.steps }

// Series returns c, at most T coefficients, which are zero from there on.
func (p *Toeplitz) Series() []float64 { return p.series.coefficients(p.steps) }

// StrategyTo writes C to dst.
func (p *Toeplitz) StrategyTo(dst *mat.TriDense) {
	c := p.Series()
	fillLower(dst, p.steps, func(t, s int) float64 {
		if t-s < len(c) {
			return c[t-s] * p.scale(s)
		}
		return 0
	})
}

// NoisingTo writes C⁻¹[t,s] = r_(t-s)/d_t to dst.
func (p *Toeplitz) NoisingTo(dst *mat.TriDense) error {
	r := p.series.inverse(p.steps)
	if _, rational := p.series.(blt); rational { // coefficient by coefficient, as exports have it
		r = free(p.Series()).inverse(p.steps)
	}
	fillLower(dst, p.steps, func(t, s int) float64 {
		if p.divisor != nil {
			return p.divisor.At(t, p.steps) * r[t-s]
		}
		return r[t-s] / p.scale(t)
	})
	return nil
}

func (p *Toeplitz) scale(s int) float64 {
	if p.columns == nil {
		return 1
	}
	return p.columns[s]
}

// ResponseOf returns r and e of a strategy with C⁻¹[t,s] = e_t·r_(t-s), a nil e for 1, and whether it is one.
func ResponseOf(c Strategy) (r []float64, e Polynomial, ok bool) {
	p, ok := c.(*Toeplitz)
	if !ok || p.columns != nil && p.divisor == nil {
		return nil, nil, false
	}
	return p.series.inverse(p.steps), slices.Clone(p.divisor), true
}

// Scaled returns by·C: of the same class, but for baselines.
func (p *Toeplitz) Scaled(by float64) Strategy {
	scaled := *p
	scaled.series = p.series.times(by, p.steps)
	return &scaled
}

// NodeCost returns what dividing by c costs, and a multiplication if a comb's columns are scaled.
func (p *Toeplitz) NodeCost() NodeCost {
	cost := p.series.cost()
	if p.divisor != nil {
		cost.Flops++
	}
	return cost
}

// Filter divides by c. But for free coefficients and scaled columns it is for any number of steps.
func (p *Toeplitz) Filter() (Filter, error) {
	f := p.series.filter(p)
	if p.divisor != nil {
		f = scaledRows{f, p.divisor, p.steps}
	}
	return f, nil
}

// Parameters returns those of c, and the scales of columns: e of a comb.
func (p *Toeplitz) Parameters() Parameters {
	out := p.series.parameters()
	if out.Columns = slices.Clone(p.columns); p.divisor != nil {
		out.Columns = slices.Clone(p.divisor)
	}
	return out
}

// free is a series of w coefficients. A node keeps the last w-1 rows of noise and needs w multiplications a step and
// model parameter, as it does for a banded strategy.
type free []float64

// NewToeplitz returns the strategy of T = steps with these coefficients, and column scales if columns is not nil. Both
// are copied. The error cases are no coefficient or more than T, numbers that are not finite, a first coefficient or a
// scale that is not positive.
func NewToeplitz(steps int, coefficients, columns []float64) (*Toeplitz, error) {
	if err := CheckBandwidth(len(coefficients), steps); err != nil {
		return nil, err
	}
	if columns != nil && len(columns) != steps {
		return nil, fmt.Errorf("%d column scales for %d steps", len(columns), steps)
	}
	for i, v := range coefficients {
		if v-v != 0 || i == 0 && v <= 0 {
			return nil, fmt.Errorf("coefficient %d is %v", i, v)
		}
	}
	for i, v := range columns {
		if !(v > 0) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("column scale %d is %v: must be positive and finite", i, v)
		}
	}
	return &Toeplitz{steps: steps, series: free(slices.Clone(coefficients)), columns: slices.Clone(columns)}, nil
}

// SquareRoot returns the Toeplitz square root of the prefix workload (Fichtenberger, Henzinger & Upadhyay 2023), banded
// to its first bands coefficients (Kalinin & Lampert 2024); bands = T is the full square root.
func SquareRoot(steps, bands int) (*Toeplitz, error) {
	if err := CheckBandwidth(bands, steps); err != nil {
		return nil, err
	}
	return &Toeplitz{steps: steps, series: free(series.PrefixRoot(bands))}, nil
}

func (free) name() string                  { return ToeplitzClass }
func (c free) coefficients(int) []float64  { return slices.Clone(c) }
func (c free) inverse(steps int) []float64 { return series.Invert(c, steps) }
func (c free) times(by float64, _ int) powerSeries {
	return free(floats.ScaleTo(make([]float64, len(c)), by, c))
}
func (c free) cost() NodeCost         { return NodeCost{len(c) - 1, 2 * len(c)} }
func (c free) parameters() Parameters { return namedList(c.name(), c) }

func (c free) filter(of *Toeplitz) Filter {
	return autoregressive{of.steps, len(c), func(lag, s int) float64 { return c[lag] * of.scale(s) }}
}

// namedList returns the parameters of a class of w coefficients.
func namedList(class string, coefficients []float64) Parameters {
	return Parameters{Class: class, Bandwidth: len(coefficients), Coefficients: slices.Clone(coefficients)}
}

// dividing is a series 1/r of w coefficients r: C⁻¹ has few bands. A node keeps the last w-1 rows of independent noise.
type dividing []float64

// NewBandedInverse returns the strategy of T = steps whose noising matrix has these coefficients, which are copied.
func NewBandedInverse(steps int, coefficients []float64) (*Toeplitz, error) {
	_, err := NewToeplitz(steps, coefficients, nil)
	return &Toeplitz{steps: steps, series: dividing(slices.Clone(coefficients))}, err
}

// BandedInverseSquareRoot returns BISR (Kalinin, McKenna, Pradhan & Lampert 2025): the noising matrix has the first
// bands coefficients of (1-x)^(1/2).
func BandedInverseSquareRoot(steps, bands int) (*Toeplitz, error) {
	if err := CheckBandwidth(bands, steps); err != nil {
		return nil, err
	}
	return &Toeplitz{steps: steps, series: dividing(series.Invert(series.PrefixRoot(bands), bands))}, nil
}

func (dividing) name() string                       { return BandedInverseClass }
func (r dividing) coefficients(steps int) []float64 { return series.Invert(r, steps) }
func (r dividing) cost() NodeCost                   { return free(r).cost() }
func (r dividing) filter(*Toeplitz) Filter          { return moving{r} }
func (r dividing) parameters() Parameters           { return namedList(r.name(), r) }

func (r dividing) inverse(steps int) []float64 {
	all := make([]float64, steps)
	copy(all, r)
	return all
}

func (r dividing) times(by float64, _ int) powerSeries {
	return dividing(floats.ScaleTo(make([]float64, len(r)), 1/by, r))
}

// baseline is a series with a name of its own, and r of ones or their negatives: what a node does takes no products.
type baseline struct {
	powerSeries
	called string
	r      []float64
}

// Identity is DP-D-SGD with T steps: independent noise, C = I. Its parameters are those of one coefficient.
func Identity(steps int) *Toeplitz {
	return &Toeplitz{steps: steps, series: baseline{free{1}, "dp-d-sgd", []float64{1}}}
}

// AntiPGD returns the strategy of T steps whose noise is z_t - z_{t-1}: C⁻¹ has ones on the diagonal and -1 below it, C
// is the lower triangle of ones (Koloskova et al. 2023; Bellet et al., Appendix A.3). Its parameters are those of a
// banded inverse.
func AntiPGD(steps int) *Toeplitz {
	r := []float64{1, -1}
	return &Toeplitz{steps: steps, series: baseline{dividing(r[:min(2, steps)]), "antipgd", r}}
}

func (b baseline) name() string                { return b.called }
func (b baseline) cost() NodeCost              { return NodeCost{len(b.r) - 1, len(b.r)} }
func (b baseline) filter(*Toeplitz) Filter     { return moving{b.r} }
func (b baseline) inverse(steps int) []float64 { return dividing(b.r).inverse(steps) }

// times writes the coefficients out.
func (b baseline) times(by float64, steps int) powerSeries {
	return free(b.coefficients(steps)).times(by, steps)
}
