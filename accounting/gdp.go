package accounting

import (
	"cmp"
	"math"

	"mafalda/accounting/internal/gaussian"
	"mafalda/accounting/internal/parameter"
)

// Delta returns the smallest δ for which μ-GDP implies (ε, δ)-DP, rounded up: where δ underflows it is the
// smallest positive number (see LogDelta). Parameters: μ > 0, ε ≥ 0, both finite.
func Delta(mu, epsilon float64) (float64, error) {
	l, err := LogDelta(mu, epsilon)
	if err != nil {
		return 0, err
	}
	return probabilityOf(l), nil
}

// LogDelta returns the logarithm of Delta without underflow.
func LogDelta(mu, epsilon float64) (float64, error) {
	if err := cmp.Or(parameter.Positive("mu", mu), parameter.NonNegative("epsilon", epsilon)); err != nil {
		return 0, err
	}
	low, high := gaussian.LogDelta(mu, epsilon)
	if math.IsInf(low, -1) {
		return -math.MaxFloat64, nil
	}
	return math.Min(high, 0), nil
}

// probabilityOf returns e^l, at most 1, rounded up, so that it is positive.
func probabilityOf(l float64) float64 { return math.Min(math.Nextafter(math.Exp(l), 2), 1) }
