package strategy

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/series"
)

// BandedInverse is a Toeplitz strategy whose noising matrix C⁻¹ has few bands: C⁻¹[t,s] = r[t-s], zero for t-s ≥ w. A
// node that runs it keeps the last w-1 rows of independent noise.
type BandedInverse struct {
	steps int
	r     []float64 // r[0] > 0
}

// NewBandedInverse returns the strategy of T = steps whose noising matrix has these coefficients, which are copied.
func NewBandedInverse(steps int, coefficients []float64) (*BandedInverse, error) {
	if _, err := NewToeplitz(steps, coefficients, nil); err != nil {
		return nil, err
	}
	return &BandedInverse{steps, append([]float64(nil), coefficients...)}, nil
}

// BandedInverseSquareRoot returns BISR (Kalinin, McKenna, Pradhan & Lampert 2025): the noising matrix has the first
// bands coefficients of (1-x)^(1/2).
func BandedInverseSquareRoot(steps, bands int) (*BandedInverse, error) {
	if err := CheckBandwidth(bands, steps); err != nil {
		return nil, err
	}
	return &BandedInverse{steps, series.Invert(series.PrefixRoot(bands), bands)}, nil
}

// Name returns "banded-inverse".
func (*BandedInverse) Name() string { return "banded-inverse" }

// Steps returns the number of steps, T.
func (b *BandedInverse) Steps() int { return b.steps }

// Coefficients returns a copy of r.
func (b *BandedInverse) Coefficients() []float64 { return append([]float64(nil), b.r...) }

// StrategyTo writes C, the Toeplitz matrix of 1/r, to dst.
func (b *BandedInverse) StrategyTo(dst *mat.TriDense) {
	(&Toeplitz{steps: b.steps, c: series.Invert(b.r, b.steps)}).StrategyTo(dst)
}

// NoisingTo writes C⁻¹ to dst.
func (b *BandedInverse) NoisingTo(dst *mat.TriDense) error {
	(&Toeplitz{steps: b.steps, c: b.r}).StrategyTo(dst)
	return nil
}

// Scaled returns by·C.
func (b *BandedInverse) Scaled(by float64) Strategy {
	r := b.Coefficients()
	floats.Scale(1/by, r)
	return &BandedInverse{b.steps, r}
}

// NodeCost returns w-1 rows of independent noise.
func (b *BandedInverse) NodeCost() NodeCost { return NodeCost{len(b.r) - 1, 2 * len(b.r)} }

// Filter keeps w-1 rows of independent noise. It is for any number of steps.
func (b *BandedInverse) Filter() (Filter, error) { return moving{b.r}, nil }

// Parameters returns the coefficients of C⁻¹.
func (b *BandedInverse) Parameters() Parameters {
	return Parameters{Class: b.Name(), Bandwidth: len(b.r), Coefficients: b.Coefficients()}
}

// Series returns the T coefficients of 1/r.
func (b *BandedInverse) Series() []float64 { return series.Invert(b.r, b.steps) }

// InverseSeries returns r, and zeros behind.
func (b *BandedInverse) InverseSeries() []float64 {
	r := make([]float64, b.steps)
	copy(r, b.r)
	return r
}
