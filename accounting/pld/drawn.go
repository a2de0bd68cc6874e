package pld

import (
	"math"

	"mafalda/accounting/internal/gaussian"
	"mafalda/internal/rounding"
)

// mostDraws is how many numbers of draws drawnLower looks at.
const mostDraws = 1 << 12

// drawnLower bounds ε from below, for rounds that are all alike, where the grid cannot: few draws that tell much, or a
// very small δ; of a replaced record, for one that is replaced by zeros. A loss is at least log(1-q), and log q + z with
// z ~ N(1/2s², 1/s²) in a round that draws the record, so that with J draws in n rounds
//
//	δ(ε) ≥ (1-e^-g) P(loss ≥ ε+g) ≥ (1-e^-g) Σ_j P(J = j) (1-Φ((ε+g - j log q - (n-j) log(1-q) - j/2s²) s/√j))
//
// for every g > 0. It is 0 where that shows nothing.
func (d *Distribution) drawnLower(delta float64) float64 {
	if len(d.events) != 1 || !d.sampled() {
		return 0
	}
	e := d.events[0]
	n, q, s := float64(e.Rounds), e.Probability, e.NoiseMultiplier
	mean := n * q
	first, last := 1.0, n
	for last-first >= mostDraws { // around what is likely, and more than that
		first, last = math.Max(1, math.Floor(mean)-mostDraws/4), math.Min(n, math.Ceil(mean)+mostDraws/2)
		if last-first >= mostDraws {
			return 0
		}
	}
	type draws struct{ log, least, perStd float64 }
	var all []draws
	for j := first; j <= last; j++ {
		log, off := gaussian.LogBinomial(n, j, q)
		none := (n - j) * math.Log1p(-q)
		least := j*math.Log(q) + none + j/(2*s*s)
		least -= 16 * 0x1p-53 * (math.Abs(least) + 2*(j*-math.Log(q)-none))
		all = append(all, draws{log - off, least, s / math.Sqrt(j)})
	}
	goal := rounding.Log(delta)
	shows := func(epsilon float64) bool {
		for _, gap := range []float64{0.02, 0.3, 2, 6} {
			top, sum := math.Inf(-1), 0.0
			for _, j := range all {
				x := (epsilon + gap - j.least) * j.perStd
				l := j.log + logUpperTail(x+1e-14*math.Abs(x))
				if l > top {
					sum, top = sum*math.Exp(top-l)+1, l
				} else {
					sum += math.Exp(l - top)
				}
			}
			if total := top + math.Log(sum) + math.Log(-math.Expm1(-gap)); total-1e-9-1e-12*math.Abs(total) > goal {
				return true
			}
		}
		return false
	}
	low, high := 0.0, 1.0
	if !shows(low) {
		return 0
	}
	for shows(high) {
		low, high = high, 4*high
	}
	low, _ = rounding.Narrow(low, high, 1e-6, shows)
	return low
}

// logUpperTail returns log(1-Φ(x)), to a relative error of 1-Φ(x) far below 1e-9.
func logUpperTail(x float64) float64 {
	if x < 1 {
		return math.Log(math.Erfc(x/math.Sqrt2) / 2)
	}
	return math.Log(gaussian.Mills(x)/math.Sqrt(2*math.Pi)) - x*x/2
}
