package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"mafalda/accounting"
)

// Where the grid is accurate the bounds for corners are bounds, too: of 40 random mechanisms.
func TestBoundsOfCornersAreBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 6))
	closest := [2]float64{math.Inf(1), math.Inf(1)}
	for range 40 {
		q, s := math.Pow(10, -0.3-3*r.Float64()), between(r, 0.15, 3)
		d := composeSampled(t, sampledRounds(q, s, 1+r.IntN(200)))
		delta := math.Pow(10, -2-6*r.Float64())
		upper, lower := d.direction(false, delta).epsilon(delta, 0)
		if jumps := d.jumpsEpsilon(delta); jumps < lower {
			t.Errorf("%+v, δ = %v: ε = %v by jumps, at least %v", d.events[0], delta, jumps, lower)
		} else if lower > 0.01 {
			closest[0] = math.Min(closest[0], jumps/upper)
		}
		if drawn := d.drawnLower(delta); drawn > upper {
			t.Errorf("%+v, δ = %v: ε is at least %v by draws, at most %v", d.events[0], delta, drawn, upper)
		} else if drawn > 0 {
			closest[1] = math.Min(closest[1], upper/drawn)
		}
	}
	if closest[0] > 2 || closest[1] > 1.01 {
		t.Errorf("the closest are %v times the truth: no test", closest)
	}
}

// Where noise is small, δ tiny or draws are few, ε is known to some percent, or to be small.
func TestCornersAreKnown(t *testing.T) {
	for _, tc := range []struct {
		q, s   float64
		rounds int
		delta  float64
		apart  float64
		most   float64
	}{
		{0.05, 0.05, 380, 1e-6, 0.002, 8400},
		{0.01, 0.08, 100, 1e-9, 0.01, 900},
		{1e-9, 1, 1e8, 1e-300, 0.05, 17.2},
		{0.5, 1, 20, 1e-300, 0.01, 161},
		{1e-9, 0.5, 1e8, 1e-6, 1, 0.003},
	} {
		d := composeSampled(t, sampledRounds(tc.q, tc.s, tc.rounds))
		b := EpsilonBounds{}
		var err error
		if tc.rounds < 1e8 {
			b, err = d.EpsilonBounds(tc.delta)
		} else { // without a grid, which shows nothing
			upper, e := accounting.Epsilon(d.unsampled(), tc.delta)
			b, err = d.improved(EpsilonBounds{upper, d.drawnLower(tc.delta), EveryRound}, tc.delta), e
		}
		if err != nil || !(b.Upper-b.Lower <= tc.apart*b.Upper) || b.Upper > tc.most {
			t.Errorf("%+v: %+v, %v", tc, b, err)
		}
	}
}

// Of a record that is drawn about once in 10⁸ rounds, or never, ε is as large as the chance of one large loss makes it,
// which has a closed form: to 1 %, from grids of losses and not from a fallback.
func TestRarelyDrawnRecordsAreAccountedForTightly(t *testing.T) {
	for _, tc := range []struct {
		q, s   float64
		rounds int
		delta  float64
	}{
		{1e-9, 0.25, 1e8, 1e-7},
		{1e-8, 0.3, 1e8, 1e-6}, // has no grid for the bound from below
	} {
		p := lossPair{q: tc.q, s: tc.s}
		low, high := 0.0, 40.0 // ε of one large loss in any of the rounds
		for high-low > 1e-6 {
			if middle := (low + high) / 2; float64(tc.rounds)*plainDelta(p, middle) > tc.delta {
				low = middle
			} else {
				high = middle
			}
		}
		b, err := composeSampled(t, sampledRounds(tc.q, tc.s, tc.rounds)).EpsilonBounds(tc.delta)
		if err != nil || b.By != Losses || b.Upper < 0.999*low || b.Upper > 1.01*low {
			t.Errorf("%+v: %+v, %v; by one large loss %v", tc, b, err, low)
		}
	}
}
