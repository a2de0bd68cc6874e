package protocols

import (
	"context"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"mafalda/graph"
)

// setWork makes everything too large that takes more operations.
func setWork(t *testing.T, most, probe float64) {
	t.Helper()
	before, beforeProbe := mostWork, probeWork
	mostWork, probeWork = most, probe
	t.Cleanup(func() { mostWork, probeWork = before, beforeProbe })
}

// In a network that is too large to be followed for ever, what is seen in a few rounds is what it is in others.
func TestFewRoundsOfLargeNetworks(t *testing.T) {
	p := cyclePPAC(t, 41)
	ctx, d := context.Background(), Uniform(10, 150)
	leaks := func(rounds int) ([]Leakage, error) {
		v, err := p.View(ctx, []int{0, 7}, rounds)
		if err != nil {
			return nil, err
		}
		return v.Leakages(ctx, d)
	}
	want, err := leaks(3)
	if err != nil {
		t.Fatal(err)
	}
	setWork(t, 2e4, 1e3)
	got, err := leaks(3)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range got {
		if math.Abs(l.Nats-want[i].Nats) > 1e-13*(1+want[i].Nats) {
			t.Errorf("node %d: %.17g, followed for ever %.17g", l.Victim, l.Nats, want[i].Nats)
		}
	}
	if _, err := leaks(Forever); !errors.Is(err, ErrTooLarge) {
		t.Errorf("for ever: %v", err)
	}
	// what turns out to be little is not refused: all leaves of a star tell the same
	star := named(t, "star:60")
	setWork(t, 2e4, 1e4)
	g, err := NewGossip(star, gossipOf(t, star, graph.Metropolis))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Exposures(ctx, []int{5}, Forever); err != nil {
		t.Errorf("a leaf of a star: %v", err)
	}
}

// Large networks' broadcasts are bounded by a way through the first node.
func TestBroadcastsThroughTheFirstNodeAreLongEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "n")
		s, err := EXP(n)
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

// A limit is a bound, also where one value is far larger than all others, or squares are beyond all numbers.
func TestLimitsOfValuesFarApart(t *testing.T) {
	p := cyclePPAC(t, 7)
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
