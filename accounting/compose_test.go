package accounting

import (
	"errors"
	"math"
	"testing"
)

func TestComposition(t *testing.T) {
	if mu, err := Compose(3, 4); err != nil || !near(mu, 5, 1e-14) || mu < 5 {
		t.Errorf("Compose(3, 4) = %v, %v", mu, err)
	}
	if mu, err := Compose(1e200, 1e200); err != nil || !near(mu, math.Sqrt2*1e200, 1e-14) {
		t.Errorf("Compose(1e200, 1e200) = %v, %v", mu, err)
	}
	if mu, err := Compose(1e308, 1e308, 1e308, 1e308); !errors.Is(err, ErrParameter) {
		t.Errorf("what is beyond float64 composed to %v, %v", mu, err)
	}
	if mu, err := Compose(0, 0); err != nil || mu != 0 {
		t.Errorf("Compose(0, 0) = %v, %v", mu, err)
	}
	if mu, err := Compose(0.7); err != nil || mu != 0.7 {
		t.Errorf("Compose(0.7) = %v, %v", mu, err)
	}
	if mu, err := Compose(); err != nil || mu != 0 {
		t.Errorf("Compose() = %v, %v", mu, err)
	}
}
