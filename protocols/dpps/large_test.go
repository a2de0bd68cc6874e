package dpps

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Large networks' broadcasts are bounded by a way through the first node.
func TestBroadcastsThroughTheFirstNodeAreLongEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "n")
		s, err := Exponential(n)
		if rapid.Bool().Draw(t, "out") {
			s, err = DOut(n, rapid.IntRange(2, n).Draw(t, "d"))
		}
		if err != nil {
			t.Fatal(err)
		}
		exact, err := s.BroadcastRounds(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if enough, err := s.throughFirst(context.Background()); err != nil || enough < exact ||
			enough > 2*exact+s.Period() {
			t.Fatalf("%d rounds are taken for enough, it takes %d (%v)", enough, exact, err)
		}
	})
}

// Sensitivity of single numbers takes no pairs.
func TestRealSensitivityOfSingleNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64(), 2, 8).Draw(t, "values")
		p := &PushSum{}
		var want float64
		for i, v := range values {
			p.shared = append(p.shared, []float64{v})
			for j := range i {
				want = math.Max(want, math.Abs(v-values[j]))
			}
		}
		if got := p.real(); got != want {
			t.Fatalf("%g, must be %g", got, want)
		}
	})
}
