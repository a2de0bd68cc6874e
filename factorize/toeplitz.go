package factorize

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Toeplitz is a strategy C[t,s] = c[t-s]·d[s] with w ≤ T coefficients and, perhaps, scaled columns. A node that runs it
// keeps the last w-1 rows of noise and needs w multiplications a step and model parameter.
type Toeplitz struct {
	steps  int
	c      []float64 // w coefficients, c[0] > 0; zero from w on
	column []float64 // d, T positive numbers, or nil for ones
}

var _ Strategy = (*Toeplitz)(nil)

// NewToeplitz returns the strategy of T = steps with these coefficients, and column scales if columns is not nil. Both are
// copied. The error cases are no coefficient or more than T, numbers that are not finite, a first coefficient or a scale
// that is not positive.
func NewToeplitz(steps int, coefficients, columns []float64) (*Toeplitz, error) {
	if err := checkBandwidth(len(coefficients), steps); err != nil {
		return nil, err
	}
	if columns != nil && len(columns) != steps {
		return nil, fmt.Errorf("%d column scales for %d steps", len(columns), steps)
	}
	for i, v := range coefficients {
		if math.IsNaN(v) || math.IsInf(v, 0) || (i == 0 && v <= 0) {
			return nil, fmt.Errorf("coefficient %d is %v", i, v)
		}
	}
	for i, v := range columns {
		if !(v > 0) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("column scale %d is %v: must be positive and finite", i, v)
		}
	}
	return &Toeplitz{steps, append([]float64(nil), coefficients...), append([]float64(nil), columns...)}, nil
}

// SquareRoot returns the Toeplitz square root of the prefix workload (Fichtenberger, Henzinger & Upadhyay 2023), banded to
// its first bands coefficients (Kalinin & Lampert 2024); bands = T is the full square root.
func SquareRoot(steps, bands int) (*Toeplitz, error) {
	if err := checkBandwidth(bands, steps); err != nil {
		return nil, err
	}
	return &Toeplitz{steps: steps, c: squareRootCoefficients(bands)}, nil
}

// Steps returns T.
func (p *Toeplitz) Steps() int { return p.steps }

// Coefficients returns a copy of c.
func (p *Toeplitz) Coefficients() []float64 { return append([]float64(nil), p.c...) }

// Columns returns a copy of the column scales, or nil if there are none.
func (p *Toeplitz) Columns() []float64 { return append([]float64(nil), p.column...) }

// StrategyTo writes C to dst.
func (p *Toeplitz) StrategyTo(dst *mat.TriDense) {
	resizeLower(dst, p.steps)
	for t := range p.steps {
		for s := range t + 1 {
			v := 0.0
			if t-s < len(p.c) {
				v = p.c[t-s] * p.scale(s)
			}
			dst.SetTri(t, s, v)
		}
	}
}

// NoisingTo writes C⁻¹[t,s] = r[t-s]/d[t] to dst, where r are the coefficients of 1/c as a power series.
func (p *Toeplitz) NoisingTo(dst *mat.TriDense) error {
	resizeLower(dst, p.steps)
	r := invertSeries(p.c, p.steps)
	for t := range p.steps {
		for s := range t + 1 {
			dst.SetTri(t, s, r[t-s]/p.scale(t))
		}
	}
	return nil
}

// Scaled returns by·C.
func (p *Toeplitz) Scaled(by float64) Strategy {
	c := p.Coefficients()
	floats.Scale(by, c)
	return &Toeplitz{p.steps, c, p.column}
}

func (p *Toeplitz) scale(s int) float64 {
	if len(p.column) == 0 {
		return 1
	}
	return p.column[s]
}

// invertSeries returns the first count coefficients of the power series 1/c, O(count·len(c)).
func invertSeries(c []float64, count int) []float64 {
	r := make([]float64, count)
	r[0] = 1 / c[0]
	for i := 1; i < count; i++ {
		var sum float64
		for j := 1; j <= i && j < len(c); j++ {
			sum += c[j] * r[i-j]
		}
		r[i] = -sum / c[0]
	}
	return r
}

// squareSeries returns the power series c·c, to as many coefficients as c has.
func squareSeries(c []float64) []float64 {
	square := make([]float64, len(c))
	for i := range square {
		for j := range i + 1 {
			square[i] += c[j] * c[i-j]
		}
	}
	return square
}
