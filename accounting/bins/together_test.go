package bins

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Two patterns: the pair is integrated in the plane (pairDeltas). The δ without samples is never below it, and where they are
// of the same norm at most 0.2 % above: any two patterns are then alike.
func TestWithoutSamplesIsNeverBelowIntegrals(t *testing.T) {
	for _, c := range [][3]float64{{0.3, 0, 0.3}, {0.3, 0.15, 0.3}, {1, 0.3, 1}, {1, 0.9, 1}, {4, 1, 4}, {0.3, 0.2, 0.6}, {1, 0, 2}} {
		for _, epsilon := range []float64{0.3, 1, 3} {
			removal, addition := pairDeltas(c[0], c[1], c[2], epsilon)
			want := math.Max(removal, addition)
			got, err := binsOf(t, 2, c[0], c[1], c[1], c[2]).WithoutSamples(epsilon, 1)
			if err != nil || want < 1e-14 {
				t.Fatal(c, epsilon, want, err)
			}
			t.Logf("%v, ε = %v: %v above %v", c, epsilon, got/want-1, want)
			if got < want || c[0] == c[2] && got > want*1.002 {
				t.Errorf("%v, ε = %v: %v, integrated %v", c, epsilon, got, want)
			}
		}
	}
}

// Patterns that are orthogonal need no samples: less noise than the bound by samples asks for, no confidence, and the same
// confirmation again.
func TestOrthogonalPatternsNeedNoSamples(t *testing.T) {
	identity := mat.NewDense(12, 12, nil)
	for i := range 12 {
		identity.Set(i, i, 1)
	}
	b, err := New(identity, 6)
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.NoiseMultiplier(t.Context(), 1, 1e-5, MonteCarlo{Samples: 1 << 13})
	if err != nil || p.Rounds != 0 || p.Failure != 0 || p.Confirmed.Samples != 0 || p.Confirmed.Upper > 1e-5 ||
		p.Confirmed.Upper < 0.995e-5 {
		t.Fatalf("%+v, %v", p, err)
	}
	by, err := b.Delta(t.Context(), 1, p.NoiseMultiplier, MonteCarlo{Samples: 1 << 17})
	if err != nil || p.Confirmed.Upper > by.Upper || math.Abs(by.Value/p.Confirmed.Upper-1) > 0.03 {
		t.Errorf("without samples %v, by samples %+v, %v", p.Confirmed.Upper, by, err)
	}
	again, err := b.Confirm(t.Context(), p, MonteCarlo{})
	if err != nil || again != p.Confirmed {
		t.Errorf("%+v, at first %+v, %v", again, p.Confirmed, err)
	}
}
