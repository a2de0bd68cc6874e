package bins

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"
)

// component is a distribution to draw x from in place of P, by its density
//
//	R/Q = ((1/b) Σ_j e^(κ y_j))^k / Z,     y_j = log N(m_j, ν²I)/Q = m_j·x/ν² - |m_j|²/2ν².
//
// Multiplied out, it is a mixture of Gaussians around κ Σ_i m_(j_i), a tuple j_1 ... j_k each, whose weights are known
// and add up to Z. With κ = 1 it is Q tilted by the loss itself. The loss is L = log (1/b) Σ_j e^(y_j), and for κ ≥ 1
// the inequality of power means gives R/Q ≥ e^(kκL)/Z, so that the weight P/R is at most Z e^(-(kκ-1)L): bounded where
// L > ε, whatever the Gram matrix: 5 to 100 times δ for correlated m_j, and up to 10⁵ times δ for orthogonal ones at small ε, where
// the bound is loose unless there are more samples.
type component struct {
	tuples *tuples
	kappa  float64
	share  float64 // share of the draws that this component makes
	logZ   float64
	upTo   []float64 // cumulated weights of the tuples, the last is 1
}

// newComponent returns the component over these tuples with this κ, for noise of precision 1/ν².
func newComponent(t *tuples, kappa, precision float64) *component {
	c := &component{tuples: t, kappa: kappa, upTo: t.logWeights(kappa, precision)}
	c.logZ = floats.LogSumExp(c.upTo)
	var sum float64
	for i, w := range c.upTo {
		sum += math.Exp(w - c.logZ)
		c.upTo[i] = sum
	}
	floats.Scale(1/sum, c.upTo)
	return c
}

// logWeights returns the logarithms of the weights of the Gaussians, by tuple.
func (t *tuples) logWeights(kappa, precision float64) []float64 {
	weights := make([]float64, len(t.logChance))
	for i, chance := range t.logChance {
		weights[i] = chance + kappa*precision/2*(kappa*t.square[i]-t.trace[i])
	}
	return weights
}

// tilt returns the exponent kκ.
func (c *component) tilt() float64 { return float64(c.tuples.size) * c.kappa }

// draw returns the tuple for a uniform number below 1.
func (c *component) draw(uniform float64) []int32 {
	i := min(sort.SearchFloat64s(c.upTo, uniform), len(c.upTo)-1)
	return c.tuples.members[i*c.tuples.size : (i+1)*c.tuples.size]
}

// logPeak returns the logarithm of the largest value of (1-e^(ε-L))₊ P/R: Z e^(-(t-1)L)(1-e^(ε-L)) is largest where
// e^(ε-L) = (t-1)/t, t = kκ.
func logPeak(logZ, tilt, epsilon float64) float64 {
	if tilt <= 1 {
		return logZ
	}
	return logZ - (tilt-1)*(epsilon-math.Log1p(-1/tilt)) - math.Log(tilt)
}

// bestKappa returns the κ ≥ 1 of the least logPeak, roughly, climbing from a guess: any κ is right.
func bestKappa(t *tuples, guess, precision, epsilon float64) float64 {
	peak := func(kappa float64) float64 {
		return logPeak(floats.LogSumExp(t.logWeights(kappa, precision)), float64(t.size)*kappa, epsilon)
	}
	best := math.Max(1, guess)
	least := peak(best)
	for _, step := range []float64{1.5, 1.1, 1 / 1.5, 1 / 1.1} {
		for next := math.Max(1, best*step); next != best && next < 1e9; next = math.Max(1, best*step) {
			value := peak(next)
			if !(value < least) {
				break
			}
			best, least = next, value
		}
	}
	return best
}
