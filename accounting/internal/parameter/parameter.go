// Package parameter checks numbers that are to be privacy parameters.
package parameter

import (
	"errors"
	"fmt"
	"math"
)

// Err is wrapped by every error about a number that cannot be a privacy parameter.
var Err = errors.New("not a privacy parameter")

// Positive rejects numbers that are not positive and finite.
func Positive(name string, v float64) error {
	if !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("%w: %s = %v must be positive and finite", Err, name, v)
	}
	return nil
}

// NonNegative rejects numbers that are not zero or more, and finite.
func NonNegative(name string, v float64) error {
	if !(v >= 0) || math.IsInf(v, 1) {
		return fmt.Errorf("%w: %s = %v must be zero or more, and finite", Err, name, v)
	}
	return nil
}

// Probability rejects a δ that is not above 0 and below 1.
func Probability(delta float64) error {
	if !(delta > 0 && delta < 1) {
		return fmt.Errorf("%w: delta = %v must be above 0 and below 1", Err, delta)
	}
	return nil
}

// Order rejects an order α that is not above 1 and finite.
func Order(alpha float64) error {
	if !(alpha > 1) || math.IsInf(alpha, 1) {
		return fmt.Errorf("%w: alpha = %v must be above 1 and finite", Err, alpha)
	}
	return nil
}
