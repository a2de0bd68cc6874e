package strategy

import (
	"testing"

	"gonum.org/v1/gonum/mat"
)

// An ill-conditioned C explained any C⁻¹ as rounding, one without noise in the first step too.
func TestInverseOfIllConditioned(t *testing.T) {
	c := mat.NewDense(2, 2, []float64{1, 0, 0, 1e-14})
	if err := CheckInverse(c, mat.NewDense(2, 2, []float64{1, 0, 0, 1e14})); err != nil {
		t.Error(err)
	}
	if err := CheckInverse(c, mat.NewDense(2, 2, []float64{0, 0, 0, 1e14})); err == nil {
		t.Error("a C⁻¹ that adds no noise in the first step passes")
	}
}
