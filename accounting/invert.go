package accounting

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"mafalda/accounting/internal/gaussian"
	"mafalda/accounting/internal/parameter"
	"mafalda/internal/rounding"
)

// Epsilon returns the smallest ε ≥ 0 for which μ-GDP implies (ε, δ)-DP, rounded up. Parameters: μ > 0, 0 < δ < 1.
func Epsilon(mu, delta float64) (float64, error) {
	if err := cmp.Or(parameter.Positive("mu", mu), parameter.Probability(delta)); err != nil {
		return 0, err
	}
	target := rounding.Log(delta)
	holds := func(epsilon float64) bool {
		l, err := LogDelta(mu, epsilon)
		return err == nil && l <= target
	}
	if holds(0) {
		return 0, nil
	}
	// Φ̄(x) ≤ exp(-x²/2) bounds ε by μ²/2 + μ√(-2 log δ)
	high := mu*mu/2 + mu*math.Sqrt(-2*target) + 1e-300
	for !holds(high) {
		high *= 1.001
		if math.IsInf(high, 0) {
			return 0, fmt.Errorf("%w: mu = %v and delta = %v leave no finite epsilon", ErrParameter, mu, delta)
		}
	}
	_, high = rounding.Bisect(0, high, func(e float64) bool { return !holds(e) })
	return high, nil
}

// MuFromDP returns the largest μ for which μ-GDP implies (ε, δ)-DP, rounded down. Parameters: ε ≥ 0, 0 < δ < 1.
func MuFromDP(epsilon, delta float64) (float64, error) {
	if err := cmp.Or(parameter.NonNegative("epsilon", epsilon), parameter.Probability(delta)); err != nil {
		return 0, err
	}
	target := rounding.Log(delta)
	low, _, err := muWhere(func(mu float64) bool {
		l, err := LogDelta(mu, epsilon)
		return err == nil && l <= target
	})
	if err != nil {
		err = fmt.Errorf("%w: epsilon = %v and delta = %v %w", ErrParameter, epsilon, delta, err)
	}
	return low, err
}

// LargestMu returns a μ above which μ-GDP does not imply (ε, δ)-DP, rounded up: +Inf where none is known. ε ≥ 0, 0 < δ < 1.
func LargestMu(epsilon, delta float64) float64 {
	target := rounding.Log(delta)
	_, high, err := muWhere(func(mu float64) bool {
		l, _ := gaussian.LogDelta(mu, epsilon)
		return !(l > target)
	})
	if err != nil {
		return math.Inf(1)
	}
	return high
}

// muWhere returns the neighbouring numbers between which a property of small μ ends.
func muWhere(holds func(mu float64) bool) (low, high float64, err error) {
	low, high = 1, 1
	for !holds(low) {
		if low /= 2; low < 1e-300 {
			return 0, 0, errors.New("leave no mu")
		}
	}
	for holds(high) {
		if high *= 2; high > 1e150 {
			return 0, 0, errors.New("bound no mu")
		}
	}
	low, high = rounding.Bisect(low, high, holds)
	return low, high, nil
}
