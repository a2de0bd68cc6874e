package strategy

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Identity is DP-D-SGD with T steps: independent noise, C = I.
type Identity int

// Name returns "dp-d-sgd".
func (Identity) Name() string { return "dp-d-sgd" }

// Steps returns the number of steps, T.
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

// AntiPGD returns the strategy of T steps whose noise is z_t - z_{t-1}: C⁻¹ has ones on the diagonal and -1 below it, C
// is the lower triangle of ones (Koloskova et al. 2023; Bellet et al., Appendix A.3).
func AntiPGD(steps int) Stationary {
	return antiPGD{&BandedInverse{steps, []float64{1, -1}[:min(2, steps)]}}
}

type antiPGD struct{ *BandedInverse }

// Name returns "antipgd".
func (antiPGD) Name() string { return "antipgd" }

// Scaled returns by·C as a Toeplitz strategy.
func (a antiPGD) Scaled(by float64) Strategy {
	return &Toeplitz{steps: a.steps, c: slices.Repeat([]float64{by}, a.steps)}
}

// NodeCost returns one row: the noise of the step before.
func (antiPGD) NodeCost() NodeCost { return NodeCost{1, 2} }

// Filter keeps one row of Z. It is for any number of steps.
func (antiPGD) Filter() (Filter, error) { return moving{[]float64{1, -1}}, nil }
