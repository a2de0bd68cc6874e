package baselines

import (
	"errors"

	"mafalda/internal/series"
	"mafalda/strategy"
	"mafalda/workload"
)

// ErrNoRoot is returned for optimizers whose centralized workload is no Toeplitz matrix: rates that change, and missed
// steps. It has no Toeplitz square root then.
var ErrNoRoot = errors.New("the optimizer has no Toeplitz square root: its steps differ")

// SquareRoot returns the strategy of the first bands coefficients of the Toeplitz square root of the centralized
// workload (Kalinin & Lampert 2024, for momentum and weight decay); for plain training the root of prefix sums. Weights
// of the steps are left aside. It fails with ErrNoRoot, and for a bandwidth outside 1..T.
func SquareRoot(s workload.Spec, steps, bands int) (*strategy.Toeplitz, error) {
	if err := strategy.CheckBandwidth(bands, steps); err != nil {
		return nil, err
	}
	root, err := rootOf(s, bands)
	if err != nil {
		return nil, err
	}
	return strategy.NewToeplitz(steps, root, nil)
}

// BandedInverseSquareRoot returns the strategy whose noising matrix has the first bands coefficients of the inverse of
// that root (BISR). It fails as SquareRoot does.
func BandedInverseSquareRoot(s workload.Spec, steps, bands int) (*strategy.BandedInverse, error) {
	if err := strategy.CheckBandwidth(bands, steps); err != nil {
		return nil, err
	}
	root, err := rootOf(s, bands)
	if err != nil {
		return nil, err
	}
	return strategy.NewBandedInverse(steps, series.Invert(root, bands))
}

// rootOf returns the first coefficients of the square root.
func rootOf(s workload.Spec, count int) ([]float64, error) {
	s = s.Centralized()
	if s.IsPlain() {
		return series.PrefixRoot(count), nil
	}
	if !s.IsTimeInvariant() {
		return nil, ErrNoRoot
	}
	response, err := impulse(s, count)
	if err != nil {
		return nil, err
	}
	return series.Root(response, count), nil
}

// impulse returns what a gradient makes of the model in the steps after it, times -1: the recursion of training itself.
func impulse(s workload.Spec, count int) ([]float64, error) {
	s.Weights = workload.Weights{}
	state, err := workload.NewState[float64](s, count, 1, 1, 1)
	if err != nil {
		return nil, err
	}
	response := make([]float64, count)
	gradient := []float64{1}
	for t := range response {
		state.Descend(gradient, nil)
		state.Gossip(nil)
		response[t] = -state.Models()[0]
		gradient[0] = 0
	}
	return response, nil
}
