package secant

import (
	"errors"
	"math"
	"testing"
)

// A multiplier is enough and the least one to 3e-5 or as ε tells, from any guess, of steep and flat ε; the end of the interval is found where
// it is enough, and nothing where none is.
func TestLeast(t *testing.T) {
	never := func(float64) bool { return false }
	for _, power := range []float64{0.2, 1, 7} {
		for _, guess := range []float64{-20, -1, 0, 9} {
			for _, root := range []float64{1e-3, 2.5, 4e5, 1e-9, 1e9} {
				s := Search{Low: 1e-6, High: 1e6, Slope: -1, Epsilon: 3, Close: 3e-5, Margin: 1e-5, Tries: 60}
				at := func(m float64) (float64, error) { return 3 * math.Pow(root/m, power), nil }
				got, err := s.Least(guess, at, never)
				want := math.Max(root, s.Low)
				if root > s.High {
					want = math.Inf(1)
				}
				if epsilon, _ := at(got); err != nil || epsilon > 3 && want < 1e9 || got != want && !(got < want*(1+math.Max(5e-5/power, 3e-5))) {
					t.Errorf("power %v, guess %v: %v, want %v, %v", power, guess, got, want, err)
				}
			}
		}
	}
	failed := errors.New("no")
	if _, err := (Search{Low: 1, High: 2, Tries: 3}).Least(0, func(float64) (float64, error) { return 0, failed }, never); err != failed {
		t.Error(err)
	}
}
