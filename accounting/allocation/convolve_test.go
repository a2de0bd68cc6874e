package allocation

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestConvolutionIsItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		x, y := make([]float64, 1+rng.IntN(90)), make([]float64, 1+rng.IntN(900))
		for _, v := range [][]float64{x, y} {
			for i := range v {
				v[i] = rng.ExpFloat64()
			}
		}
		got := convolve(x, y)
		want := make([]float64, len(x)+len(y)-1)
		for i, a := range x {
			for j, b := range y {
				want[i+j] += a * b
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%d terms of %d and %d", len(got), len(x), len(y))
		}
		for i, w := range want {
			if math.Abs(got[i]/w-1) > 1e-13 {
				t.Errorf("%d and %d terms: %v at %d, want %v", len(x), len(y), got[i], i, w)
			}
		}
	}
}

// A mean with itself counts every pair once; what holds the same masses elsewhere goes the long way.
func TestMeanWithItself(t *testing.T) {
	r := single(0.8, 0.05, 5)
	copied := r
	copied.mass = append([]float64(nil), r.mass...)
	got, want := r.mean(r, 0.5), r.mean(copied, 0.5)
	for i, w := range want.mass {
		if math.Abs(got.mass[i]-w) > 1e-14*w {
			t.Errorf("point %d: %v, want %v", i, got.mass[i], w)
		}
	}
}

func BenchmarkCompose(b *testing.B) {
	m := mechanism(b, Blocks{19, 20})
	for b.Loop() {
		m.compose(0.9, 1e-6, fineStep)
	}
}
