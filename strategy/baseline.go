package strategy

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Identity is DP-D-SGD with T steps: independent noise, C = I.
type Identity int

// Name returns "dp-d-sgd".
func (Identity) Name() string { return "dp-d-sgd" }

// Steps returns T.
func (i Identity) Steps() int { return int(i) }

// StrategyTo writes I to dst.
func (i Identity) StrategyTo(dst *mat.TriDense) {
	resizeLower(dst, int(i))
	dst.Zero()
	for t := range int(i) {
		dst.SetTri(t, t, 1)
	}
}

// NoisingTo writes I to dst.
func (i Identity) NoisingTo(dst *mat.TriDense) error {
	i.StrategyTo(dst)
	return nil
}

// Scaled returns by·I as a Toeplitz strategy.
func (i Identity) Scaled(by float64) Strategy { return &Toeplitz{steps: int(i), c: []float64{by}} }

// NodeCost returns nothing but the scaling of fresh noise.
func (i Identity) NodeCost() NodeCost { return NodeCost{0, 1} }

// Filter keeps nothing.
func (i Identity) Filter() (Filter, error) { return moving{[]float64{1}}, nil }

// Parameters returns the parameters of a Toeplitz strategy with one coefficient.
func (i Identity) Parameters() Parameters { return i.Scaled(1).Parameters() }

// Series returns 1.
func (i Identity) Series() []float64 { return []float64{1} }

// InverseSeries returns 1, 0, 0, ...
func (i Identity) InverseSeries() []float64 {
	return append([]float64{1}, make([]float64, int(i)-1)...)
}

// AntiPGD is the strategy of T steps whose noise is z_t - z_{t-1}: C⁻¹ has ones on the diagonal and -1 below it, C is
// the lower triangle of ones (Koloskova et al. 2023; Bellet et al., Appendix A.3).
type AntiPGD int

// Name returns "antipgd".
func (AntiPGD) Name() string { return "antipgd" }

// Steps returns T.
func (a AntiPGD) Steps() int { return int(a) }

// inverse returns the same C by the coefficients of C⁻¹.
func (a AntiPGD) inverse() *BandedInverse {
	return &BandedInverse{int(a), []float64{1, -1}[:min(2, int(a))]}
}

// StrategyTo writes the lower triangle of ones to dst.
func (a AntiPGD) StrategyTo(dst *mat.TriDense) { a.inverse().StrategyTo(dst) }

// NoisingTo writes the bidiagonal difference matrix to dst.
func (a AntiPGD) NoisingTo(dst *mat.TriDense) error { return a.inverse().NoisingTo(dst) }

// Scaled returns by·C as a Toeplitz strategy.
func (a AntiPGD) Scaled(by float64) Strategy {
	return &Toeplitz{steps: int(a), c: slices.Repeat([]float64{by}, int(a))}
}

// NodeCost returns one row: the noise of the step before.
func (a AntiPGD) NodeCost() NodeCost { return NodeCost{1, 2} }

// Filter keeps one row of Z. It is for any number of steps.
func (a AntiPGD) Filter() (Filter, error) { return moving{[]float64{1, -1}}, nil }

// Parameters returns the parameters of the banded inverse with coefficients 1 and -1.
func (a AntiPGD) Parameters() Parameters { return a.inverse().Parameters() }

// Series returns T ones.
func (a AntiPGD) Series() []float64 { return slices.Repeat([]float64{1}, int(a)) }

// InverseSeries returns 1, -1, 0, 0, ...
func (a AntiPGD) InverseSeries() []float64 { return a.inverse().InverseSeries() }
