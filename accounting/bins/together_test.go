package bins

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Two patterns: the pair is integrated in the plane (pairDeltas), in 60 random cases. The δ without samples is never below
// it, at most 0.2 % above, and half of the cases are within 0.1 %.
func TestWithoutSamplesIsNeverBelowIntegrals(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 0))
	var above []float64
	for len(above) < 60 {
		a, c, epsilon := math.Exp(3*random.Float64()-2), math.Exp(3*random.Float64()-2), 4*random.Float64()
		inner := math.Sqrt(a*c) * random.Float64() * 0.99
		if inner > math.Min(a, c) { // a norm is rounded up to the inner product: a bound, but not a close one
			continue
		}
		removal, addition := pairDeltas(a, inner, c, epsilon)
		want := math.Max(removal, addition)
		if want < 1e-12 {
			continue
		}
		got, err := binsOf(t, 2, a, inner, inner, c).WithoutSamples(epsilon, 1)
		if err != nil || got < want || got > want*1.002 {
			t.Errorf("norms %v, %v, inner product %v, ε = %v: %v, integrated %v, %v", a, c, inner, epsilon, got, want, err)
		}
		above = append(above, got/want-1)
	}
	slices.Sort(above)
	t.Logf("above by %.2g to %.2g, median %.2g", above[0], above[59], above[30])
	if above[30] > 1e-3 {
		t.Errorf("half of the bounds are more than %v above", above[30])
	}
}

// Patterns of any norms and inner products: the bound is not below what samples, drawn for the real pair, estimate.
func TestWithoutSamplesBoundsWhatSamplesSay(t *testing.T) {
	random := rand.New(rand.NewPCG(32, 0))
	for range 6 {
		n := 3 + random.IntN(3)
		rows := mat.NewDense(n, n, nil)
		rows.Apply(func(i, j int, _ float64) float64 { return random.Float64() * math.Exp(-math.Abs(float64(i-j))) }, rows)
		var gram mat.Dense
		gram.Mul(rows, rows.T())
		b := binsOf(t, n, gram.RawMatrix().Data...)
		by, err := b.Delta(t.Context(), 1, 0.6, MonteCarlo{Samples: 1 << 12})
		got, err2 := b.WithoutSamples(1, 0.6)
		known, err3 := b.knownDraw(point{1, 0.6})
		if err != nil || err2 != nil || err3 != nil || got < by.Value*0.97 || got > known {
			t.Errorf("%d patterns: %v, by samples %+v, %v, %v", n, got, by, err, err2)
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

// Where losses are larger than floating point holds, what a known draw gives away is the answer, and at once.
func TestWithoutSamplesEndsWhereLossesAreLarge(t *testing.T) {
	for _, mu := range []float64{30, 40, 59} {
		for _, inner := range []float64{0, 0.9} {
			b := binsOf(t, 2, mu*mu, inner*mu*mu, inner*mu*mu, mu*mu)
			for _, epsilon := range []float64{1, 1000} {
				known, err := b.knownDraw(point{epsilon, 1})
				if err != nil {
					t.Fatal(err)
				}
				if got, err := b.WithoutSamples(epsilon, 1); err != nil || !(got <= known) {
					t.Errorf("μ = %v, ε = %v: %v, by a known draw %v, %v", mu, epsilon, got, known, err)
				}
			}
		}
	}
}
