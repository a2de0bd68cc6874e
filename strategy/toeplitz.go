package strategy

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/series"
)

// Toeplitz is a strategy C[t,s] = c[t-s]·d[s] with w ≤ T coefficients and, perhaps, scaled columns. A node that runs it
// keeps the last w-1 rows of noise and needs w multiplications a step and model parameter.
type Toeplitz struct {
	steps  int
	c      []float64 // w coefficients, c[0] > 0; zero from w on
	column []float64 // d, T positive numbers, or nil for ones
}

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

// SquareRoot returns the Toeplitz square root of the prefix workload (Fichtenberger, Henzinger & Upadhyay 2023), banded
// to its first bands coefficients (Kalinin & Lampert 2024); bands = T is the full square root.
func SquareRoot(steps, bands int) (*Toeplitz, error) {
	if err := CheckBandwidth(bands, steps); err != nil {
		return nil, err
	}
	return &Toeplitz{steps: steps, c: series.PrefixRoot(bands)}, nil
}

// Name returns "toeplitz".
func (*Toeplitz) Name() string { return "toeplitz" }

// Steps returns the number of steps, T.
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
	r := series.Invert(p.c, p.steps)
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

// NodeCost returns w-1 rows of correlated noise.
func (p *Toeplitz) NodeCost() NodeCost { return NodeCost{len(p.c) - 1, 2 * len(p.c)} }

// Filter keeps w-1 rows of correlated noise, as the filter of a banded strategy does.
func (p *Toeplitz) Filter() (Filter, error) {
	return autoregressive{p.steps, len(p.c), func(lag, s int) float64 { return p.c[lag] * p.scale(s) }}, nil
}

// Parameters returns the coefficients and the column scales.
func (p *Toeplitz) Parameters() Parameters {
	return Parameters{Class: p.Name(), Bandwidth: len(p.c), Coefficients: p.Coefficients(), Columns: p.Columns()}
}

// Series returns c, nil if columns are scaled.
func (p *Toeplitz) Series() []float64 {
	if p.column != nil {
		return nil
	}
	return p.Coefficients()
}

// InverseSeries returns the coefficients of 1/c, nil if columns are scaled.
func (p *Toeplitz) InverseSeries() []float64 {
	if p.column != nil {
		return nil
	}
	return series.Invert(p.c, p.steps)
}
