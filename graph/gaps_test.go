package graph

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The draw is the floor of log u / log(1-p), from the same u.
func TestGapsAreLogarithms(t *testing.T) {
	for _, p := range []float64{1e-9, 0.001, 0.2, 0.5, 0.97, 1} {
		x := newGaps(p)
		draws, logs := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
		for range 2000 {
			got := float64(x.draw(draws))
			want := math.Log(1-logs.Float64()) / math.Log1p(-p)
			// a draw on the edge between two whole numbers may fall to either side
			if got != math.Floor(want) && math.Abs(want-math.Round(want)) > 1e-7*(1+want) {
				t.Fatalf("p = %v: %v, want the floor of %v", p, got, want)
			}
		}
	}
}

func TestGapsWithoutSuccess(t *testing.T) {
	if got := newGaps(0).draw(rand.New(rand.NewPCG(1, 2))); got != 1<<62-1 {
		t.Errorf("%d failures, want 2⁶²-1", got)
	}
}
