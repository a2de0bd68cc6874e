package figures

import (
	"slices"
	"testing"

	"mafalda/accounting"
)

// Levels are called what they were asked for, in four digits, or more if two would have one name.
func TestLevelNames(t *testing.T) {
	const delta = 1e-6
	mu := func(epsilon float64) float64 {
		m, err := accounting.MuFromDP(epsilon, delta)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	l := levels{delta: delta}
	for name, of := range map[string]float64{"epsilon1": mu(1), "epsilon2": mu(2), "epsilon0.5": mu(0.5), "epsilon2.346": mu(2.34567), "mu0.5": 0.5,
		"mu10": 10, "mu0.2368": 0.23675432198765} {
		if got := l.names([]float64{of}); got[0] != "loss-"+name {
			t.Errorf("%v is %s, want %s", of, got[0], name)
		}
	}
	if got := l.names([]float64{0.5, 0.123412345678, 0.123413345678, mu(2)}); !slices.Equal(got,
		[]string{"loss-mu0.5", "loss-mu0.123412", "loss-mu0.123413", "loss-epsilon2"}) {
		t.Errorf("%v", got)
	}
	if got := (levels{true, delta}).names([]float64{1.0 / 3}); got[0] != "loss-epsilon0.3333" {
		t.Errorf("%v", got)
	}
	if text := l.text(mu(2)); text != "ε = 2" {
		t.Error(text)
	}
}
