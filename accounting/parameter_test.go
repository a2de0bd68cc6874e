package accounting

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestParametersAreChecked(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, bad := range []float64{nan, inf, 0, -1} {
		for name, call := range map[string]func() error{
			"Delta":              func() error { _, err := Delta(bad, 1); return err },
			"Epsilon":            func() error { _, err := Epsilon(bad, 1e-5); return err },
			"Epsilon's δ":        func() error { _, err := Epsilon(1, bad); return err },
			"MuFromDP's δ":       func() error { _, err := MuFromDP(1, bad); return err },
			"RDP":                func() error { _, err := RDP(bad, 2); return err },
			"RDP's α":            func() error { _, err := RDP(1, bad); return err },
			"EpsilonFromRDP's α": func() error { _, err := EpsilonFromRDP(bad, 1, 1e-5); return err },
			"EpsilonFromRDP's δ": func() error { _, err := EpsilonFromRDP(2, 1, bad); return err },
			"EpsilonByRDP's δ":   func() error { _, _, err := EpsilonByRDP(1, bad); return err },
			"all of them": func() error {
				_, err := Calibrate(Target{Mu: bad, Epsilon: bad, Delta: bad}, bad, bad, 7)
				return err
			},
			"MuFromRDP":    func() error { _, err := MuFromRDP(2, bad); return err },
			"EpsilonByRDP": func() error { _, _, err := EpsilonByRDP(bad, 1e-5); return err },
			"Calibrate":    func() error { _, err := Calibrate(Target{Mu: bad}, 1, 1, ZeroOut); return err },
			"sensitivity":  func() error { _, err := Calibrate(Target{Mu: 1}, bad, 1, ZeroOut); return err },
			"clip":         func() error { _, err := Calibrate(Target{Mu: 1}, 1, bad, ZeroOut); return err },
		} {
			if err := call(); !errors.Is(err, ErrParameter) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s with %v: error %v", name, bad, err)
			}
		}
	}
	for _, bad := range []float64{nan, inf, -1} {
		if _, err := Delta(1, bad); !errors.Is(err, ErrParameter) {
			t.Errorf("ε = %v: %v", bad, err)
		}
		if _, err := EpsilonFromRDP(2, bad, 1e-5); !errors.Is(err, ErrParameter) {
			t.Errorf("EpsilonFromRDP with ρ = %v: %v", bad, err)
		}
		if _, err := Compose(1, bad); !errors.Is(err, ErrParameter) {
			t.Errorf("Compose with %v: %v", bad, err)
		}
	}
	if _, err := Epsilon(1, 1); !errors.Is(err, ErrParameter) {
		t.Errorf("δ = 1: %v", err)
	}
}
