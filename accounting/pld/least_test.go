package pld

import (
	"math"
	"testing"

	"mafalda/accounting"
)

// The least positive δ leaves no mass to cut off, and has an ε all the same: above the ε of a larger δ, and not above
// the ε of noise without sampling.
func TestSampledLeastDelta(t *testing.T) {
	e := Rounds{Mechanism{0.1, 1}, 5}
	d, err := Compose(accounting.ZeroOut, e)
	if err != nil {
		t.Fatal(err)
	}
	before := 0.0
	for _, delta := range []float64{1e-300, 1e-308, 1e-314, 1e-320, math.SmallestNonzeroFloat64} {
		upper, lower, err := d.Epsilon(delta)
		if err != nil || !(lower <= upper) || !(upper >= before*0.999) {
			t.Errorf("δ = %v: ε from %v to %v after %v, %v", delta, lower, upper, before, err)
		}
		if without, err := accounting.Epsilon(math.Sqrt(5), delta); err != nil || !(upper <= without*(1+1e-12)) {
			t.Errorf("δ = %v: ε = %v, without sampling %v, %v", delta, upper, without, err)
		}
		p, err := Calibrate(Target{Probability: 0.1, Rounds: 5, Epsilon: 8, Delta: delta})
		if err != nil || !(p.Epsilon <= 8) {
			t.Errorf("δ = %v: %+v, %v", delta, p, err)
		}
		before = upper
	}
}
