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
		everything := v.span.Rank() == len(v.span.Hidden)
		value := func(i int) float64 { return 1 + float64(i%3) }
		leaks, err := v.Leakages(context.Background(), Deviations{value, func(int, int) float64 { return 1e5 }})
		if err != nil {
			t.Fatal(err)
		}
		limits := p.Limits(coalition, value)
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
		if got, want := cycle(t, n).Limits([]int{0},
			func(int) float64 { return 10 })[1], math.Log1p(1/float64(n/2-1))/2; math.Abs(got-want) > 1e-12 {
			t.Errorf("C_%d: %g, must be %g", n, got, want)
		}
	}
}

// A limit is a bound, also where one value is far larger than all others, or squares are beyond all numbers.
func TestLimitsOfValuesFarApart(t *testing.T) {
	p := cycle(t, 7)
	for _, large := range []float64{1e9, 1e200} {
		limits := p.Limits([]int{0}, func(i int) float64 {
			if i == 3 {
				return large
			}
			return 1
		})
		// fragments of 1, 3 and 5 are joined, and of 2, 4 and 6: two others of a part have values of variance 1
		if want := math.Log(large) - math.Log(2)/2; math.IsInf(limits[3], 1) != (large > 1e150) || large < 1e150 &&
			(limits[3] < want || limits[3] > want*(1+1e-12)) {
			t.Errorf("value %g: at most %.17g, must be %.17g", large, limits[3], want)
		}
	}
	if got, want := p.Limits([]int{0}, func(int) float64 { return 1e300 })[1], p.Limits([]int{0},
		func(int) float64 { return 1 })[1]; got != want {
		t.Errorf("values of 1e300: %g, of 1: %g", got, want)
	}
}
