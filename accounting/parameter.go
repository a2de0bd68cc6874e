package accounting

import (
	"errors"
	"fmt"
	"math"
)

// ErrParameter is wrapped by every error about a number that cannot be a privacy parameter.
var ErrParameter = errors.New("not a privacy parameter")

func positive(name string, v float64) error {
	if !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("%w: %s = %v must be positive and finite", ErrParameter, name, v)
	}
	return nil
}

func nonNegative(name string, v float64) error {
	if !(v >= 0) || math.IsInf(v, 1) {
		return fmt.Errorf("%w: %s = %v must be zero or more, and finite", ErrParameter, name, v)
	}
	return nil
}

func probability(delta float64) error {
	if !(delta > 0 && delta < 1) {
		return fmt.Errorf("%w: delta = %v must be above 0 and below 1", ErrParameter, delta)
	}
	return nil
}

func order(alpha float64) error {
	if !(alpha > 1) || math.IsInf(alpha, 1) {
		return fmt.Errorf("%w: alpha = %v must be above 1 and finite", ErrParameter, alpha)
	}
	return nil
}
