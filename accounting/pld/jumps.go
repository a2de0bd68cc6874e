package pld

import (
	"math"

	"mafalda/accounting"
)

// jumpsEpsilon bounds ε where losses are tiny but for very few: with outcomes above t counted as lost in every round, and
// W = e^z ≤ w = W(t) in all others. For a removed record, u = q(W-1) and orders α ≥ 2,
//
//	(1+u)^α ≤ 1 + αu + α(α-1)/2·u²·(1+qw)^{α-2},      E_Q [u; x < t] ≤ 0,
//	E_Q [(1+u)^α; x < t] ≤ 1 + α(α-1)/2·q²·V·(1+qw)^{α-2},      V = e^{1/s²}Φ((t-2)/s) + Φ(t/s) ≥ E_Q [(W-1)²; x < t],
//
// and for an added one, with β = α-1, as (1+u)^{-β} ≤ 1 above t, and E_Q u = 0,
//
//	E_Q (1+u)^{-β} ≤ 1 + βq(1-Φ((t-1)/s)) + β(β+1)/2·q²·V·(1-q)^{-β-2}.
//
// Moments of independent rounds multiply, and δ follows from them as from Rényi divergences, of any measure. It is +Inf
// where that proves nothing.
func (d *Distribution) jumpsEpsilon(delta float64) float64 {
	if len(d.events) != 1 || !d.sampled() || d.replace {
		return math.Inf(1)
	}
	e := d.events[0]
	n, q, s := float64(e.Rounds), e.Probability, e.NoiseMultiplier
	best := math.Inf(1)
	for share := 0.5; share > 1e-9 && share*delta/(2*n) > leastMass; share /= 4 {
		t := 1 + s*tailQuantile(share*delta/(2*n*q))                            // n q (1-Φ((t-1)/s)) ≤ share δ/2
		t = math.Max(t, s*tailQuantile(share*delta/(2*n)))                      // n (1-Φ(t/s)) ≤ share δ/2
		logTop := (t - 0.5) / (s * s)                                           // log w
		logSquare := 1/(s*s) + math.Log(math.Erfc((2-t)/s/math.Sqrt2)/2+1e-300) // of E_Q [W²; x < t]
		logV := math.Max(logSquare, 0) + math.Log1p(math.Exp(-math.Abs(logSquare)))
		far := math.Log1p(q*math.Exp(logTop)) * (1 + 1e-12)
		if math.IsInf(far, 1) {
			continue
		}
		epsilon := func(alpha float64) float64 {
			beta := alpha - 1
			half := 2*math.Log(q) + logV + math.Log(alpha*beta/2)
			removed := math.Exp(half + (alpha-2)*far)
			added := beta*share*delta/(2*n) + math.Exp(half-(beta+2)*math.Log1p(-q))
			rho := n * math.Log1p(math.Max(removed, added)*(1+1e-9)) / beta * (1 + 1e-12)
			if !(rho < 1e300) {
				return math.Inf(1)
			}
			left := math.Nextafter(delta*(1-share), 0) // what is lost is added to a removed record's
			epsilon, err := accounting.EpsilonFromRDP(alpha, rho, left)
			if err != nil || !(left > 0) {
				return math.Inf(1)
			}
			return epsilon
		}
		for order := 2.0; order < 1e15; order *= 1.2 {
			best = math.Min(best, epsilon(order))
		}
	}
	return best
}
