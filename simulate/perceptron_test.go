package simulate

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestTanhInSinglePrecision(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200_000 {
		x := float32(rng.NormFloat64() * math.Exp(8*rng.Float64()-7))
		want := float32(math.Tanh(float64(x)))
		if got := tanh(x); math.Abs(float64(got-want)) > 6e-8*math.Abs(float64(want)) {
			t.Fatalf("tanh(%v) = %v, want %v", x, got, want)
		}
	}
	for x, want := range map[float32]float32{100: 1, -100: -1, 0: 0, float32(math.Inf(-1)): -1} {
		if got := tanh(x); got != want {
			t.Errorf("tanh(%v) = %v, want %v", x, got, want)
		}
	}
}
