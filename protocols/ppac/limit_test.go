package ppac

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"mafalda/protocols/internal/protocoltest"
)

// With more and more noise, observers who see all of v(0) are left with sums over components, others with less.
func TestNoiseLeavesSumsOverComponents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProtocol(t, 9)
		coalition := protocoltest.DrawCoalition(t, p.Nodes())
		v, err := p.View(context.Background(), coalition, Forever)
		if err != nil {
			t.Fatal(err)
		}
		everything := v.span.Whole
		leaks, err := v.Leakages(context.Background(), Deviations{1, 1e5})
		if err != nil {
			t.Fatal(err)
		}
		limits := p.Limits(coalition)
		for _, a := range coalition {
			if !math.IsNaN(limits[a]) {
				t.Fatalf("observer %d has the limit %g", a, limits[a])
			}
		}
		for _, l := range leaks {
			limit := limits[l.Victim]
			if everything && !(math.Abs(l.Nats-limit) < 1e-6) && !(math.IsInf(limit, 1) && math.IsInf(l.Nats, 1)) {
				t.Fatalf("%v learn %g of %d, the sums say %g", coalition, l.Nats, l.Victim, limit)
			}
			if l.Nats > limit+1e-6 {
				t.Fatalf("%v learn %g of %d, more than the sums, %g", coalition, l.Nats, l.Victim, limit)
			}
		}
	})
	// on a cycle half of the nodes are in a sum
	for _, n := range []int{10, 11, 40} {
		if got, want := cycle(t, n).Limits([]int{0})[1], math.Log1p(1/float64(n/2-1))/2; math.Abs(got-want) > 1e-12 {
			t.Errorf("C_%d: %g, must be %g", n, got, want)
		}
	}
}
