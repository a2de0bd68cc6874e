package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mafalda/accounting"
	"mafalda/export"
	_ "mafalda/internal/seeded"
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
		"mu10": 10, "mu0.2368": 0.23675432198765, "mu1.235": 1.23444} {
		if got := l.names([]float64{of}); got[0] != "loss-"+name {
			t.Errorf("%v is %s, want %s", of, got[0], name)
		}
	}
	if got := l.names([]float64{0.5, 0.123412345678, 0.123413345678, mu(2)}); !slices.Equal(got,
		[]string{"loss-mu0.5", "loss-mu0.123413", "loss-mu0.123414", "loss-epsilon2"}) {
		t.Errorf("%v", got)
	}
	if got := (levels{true, delta}).names([]float64{1.0 / 3}); got[0] != "loss-epsilon0.3334" {
		t.Errorf("%v", got)
	}
	if text := l.text(mu(2)); text != "ε = 2" {
		t.Error(text)
	}
}

// typed are powers of ten as programs write them.
var typed = strings.NewReplacer(", 10⁻", ", 1e-", "·10⁻", "e-", "⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7",
	"⁸", "8", "⁹", "9")

// Headings of pictures name no ε, μ or δ below the truth: 5.59712 was 5.597, and 1.23444 was 1.234.
func TestHeadingsAreNeverBelow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := math.Exp(rapid.Float64Range(-7, 7).Draw(t, "log"))
		delta := math.Exp(rapid.Float64Range(-30, -1).Draw(t, "log δ"))
		m := &export.Manifest{Steps: 1, Privacy: &export.Privacy{Mu: v}}
		mu := Setting(m)
		m.Privacy.Epsilon, m.Privacy.Delta = &v, &delta
		for _, tc := range []struct {
			text, format string
			values       []float64
		}{
			{mu, "no network, T = 1, k = 0, b = 0, μ = %g", []float64{v}},
			{Setting(m), "no network, T = 1, k = 0, b = 0, (ε, δ) = (%g, %g)", []float64{v, delta}},
			{levels{true, delta}.text(v), "ε = %g", []float64{v}},
			{levels{false, delta}.text(v), "μ = %g", []float64{v}},
		} {
			read := make([]float64, len(tc.values))
			into := make([]any, len(read))
			for i := range read {
				into[i] = &read[i]
			}
			if _, err := fmt.Sscanf(typed.Replace(tc.text), tc.format, into...); err != nil {
				t.Fatalf("%s: %v", tc.text, err)
			}
			for i, printed := range read {
				if v := tc.values[i]; printed < v || printed > 1.0011*v {
					t.Fatalf("%s for %v", tc.text, v)
				}
			}
		}
	})
}
