package fault

import (
	"errors"
	"math"
	"testing"
)

func TestPositive(t *testing.T) {
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		var a *Argument
		if err := Positive("Clip", v); !errors.As(err, &a) || a.Field != "Clip" {
			t.Errorf("%v: %v", v, err)
		}
	}
	if err := Positive("Clip", math.SmallestNonzeroFloat64); err != nil {
		t.Error(err)
	}
}
