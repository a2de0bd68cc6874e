package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"mafalda/accounting/internal/gaussian"
)

// leastLogDelta is the logarithm of a δ that like rounds of sampled noise have at least, for a removed record: of J draws in
// n rounds the loss is at least (n-J) log(1-q) + J log q + z, z ~ N(J/2s², J/s²), so that for every g > 0
//
//	δ(ε) ≥ (1-e^-g) Σ_j P(J = j) P(loss ≥ ε+g).
//
// It knows no grid.
func leastLogDelta(e Rounds, epsilon float64) float64 {
	n, q, s := float64(e.Rounds), e.Probability, e.NoiseMultiplier
	best := math.Inf(-1)
	for _, gap := range []float64{0.02, 0.3, 2, 6} {
		sum := math.Inf(-1)
		for j := 1.0; j <= math.Min(n, 2000); j++ {
			x := (epsilon+gap-j*math.Log(q)-(n-j)*math.Log1p(-q))*s/math.Sqrt(j) - math.Sqrt(j)/(2*s)
			tail := math.Log(math.Erfc(x/math.Sqrt2) / 2)
			if x > 1 {
				tail = math.Log(gaussian.Mills(x)/math.Sqrt(2*math.Pi)) - x*x/2
			}
			chance, _ := gaussian.LogBinomial(n, j, q)
			larger := math.Max(sum, chance+tail)
			sum = larger + math.Log(math.Exp(sum-larger)+math.Exp(chance+tail-larger))
		}
		best = math.Max(best, sum+math.Log(-math.Expm1(-gap)))
	}
	return best
}

// In 80 random corners, of rare draws, little noise and δ down to 1e-300, ε is never below what the number of draws shows, of
// a replaced record neither; fallbacks and grids are among them.
func TestCornersAreNeverBelowTheTruth(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 6))
	by := map[Source]int{}
	for i := range 80 {
		e := sampledRounds(math.Pow(10, -6*r.Float64()), between(r, 0.3, 5), 1+int(between(r, 1, 1000)))
		delta := math.Pow(10, -2-10*r.Float64())
		if i%5 > 0 {
			delta = math.Pow(10, -20-280*r.Float64())
		}
		d := composeSampled(t, e)
		if i%3 == 0 {
			d = replaced(t, e)
		}
		b, err := d.EpsilonBounds(delta)
		if err != nil || math.IsInf(b.Upper, 1) || leastLogDelta(e, b.Upper) > math.Log(delta)+1e-6 {
			t.Errorf("%+v, δ = %v: %+v does not hold, %v", e, delta, b, err)
		}
		by[b.By]++
	}
	if by[EveryRound] < 20 || by[Losses] < 5 {
		t.Errorf("by %v: no test", by)
	}
}

// Of a record that is drawn about once in 10⁸ rounds, or never, ε is not below what the chance of one large loss makes it,
// which has a closed form: from a fallback, which says so.
func TestRarelyDrawnRecordsAreAccountedFor(t *testing.T) {
	for _, tc := range []struct {
		q, s   float64
		rounds int
		delta  float64
	}{
		{1e-9, 0.25, 1e8, 1e-7},
		{1e-8, 0.3, 1e8, 1e-6},
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
		if err != nil || b.By != EveryRound || b.Upper < 0.999*low {
			t.Errorf("%+v: %+v, %v; by one large loss %v", tc, b, err, low)
		}
	}
}
