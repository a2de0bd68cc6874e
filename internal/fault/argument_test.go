package fault

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

func TestArgument(t *testing.T) {
	err := fmt.Errorf("running: %w", Argument{"Rounds", -1, "must not be negative"})
	var a Argument
	if !errors.As(err, &a) || a.Field != "Rounds" || err.Error() != "running: Rounds -1: must not be negative" {
		t.Errorf("%v, %+v", err, a)
	}
}

func TestPositive(t *testing.T) {
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if err := Positive("Clip", v); !errors.As(err, new(Argument)) {
			t.Errorf("%v: %v", v, err)
		}
	}
	if err := Positive("Clip", math.SmallestNonzeroFloat64); err != nil {
		t.Error(err)
	}
}
