package allocation

import (
	"math"

	"mafalda/internal/rounding"
)

// Group are steps of a block of a Correlated one that tell the same: the variance of y, W = e^y, is Variance over ν².
type Group struct {
	Choices  int
	Variance float64 // variance of y, in units of 1/ν²; positive, at least Correlated.Common
}

// Correlated is one block whose steps tell the same in part: a record takes part in one of all the Choices of its groups, and
//
//	dP/dQ = e^z · (1/b) Σ_j W_j,
//
// z of variance Common/ν² under Q, the logarithm of W_j of variance (Variance-Common)/ν², all of them independent and of
// mean one. It bounds random bins (docs/sampling-bins.md): their means m_j have ⟨m_i, m_j⟩ ≤ Common for i ≠ j, and
// |m_j|² ≤ Variance.
type Correlated struct {
	Common float64
	Groups []Group
}

// Delta returns a δ for which the mechanism is (ε, δ)-DP with this noise multiplier: a little above the least, where that
// is of about the size scale or more.
func (c Correlated) Delta(epsilon, noiseMultiplier, scale float64) float64 {
	tail := 1e-5 * scale
	r := c.ratio(noiseMultiplier, rounding.Few(fineStep*c.std(noiseMultiplier)), tail)
	one := r.losses()
	return allLosses{both{one.removed, one.added}, roundedLoss, 2 * roundedMass}.delta(epsilon)
}

// choices returns the number of steps of a block, b.
func (c Correlated) choices() int {
	all := 0
	for _, g := range c.Groups {
		all += g.Choices
	}
	return all
}

// std returns about the standard deviation of the loss.
func (c Correlated) std(noise float64) float64 {
	least := math.Inf(1)
	for _, g := range c.Groups {
		least = math.Min(least, lossVariance((g.Variance-c.Common)/(noise*noise), c.choices()))
	}
	return math.Sqrt(least + c.Common/(noise*noise))
}

// ratio returns the distribution of dP/dQ, larger in convex order.
func (c Correlated) ratio(noise, step, tail float64) ratio {
	var sum ratio
	done := 0
	for _, g := range c.Groups {
		own := math.Max(g.Variance-c.Common, 1e-12*g.Variance)
		next := block(g.Choices, noise/math.Sqrt(own), step, tail)
		if done > 0 {
			next = sum.mean(next, float64(done)/float64(done+g.Choices)).trim(tail, tail)
		}
		sum, done = next, done+g.Choices
	}
	if c.Common == 0 {
		return sum
	}
	return sum.times(single(noise/math.Sqrt(c.Common), step, math.Sqrt(-2*math.Log(tail))+1)).trim(tail, tail)
}

// times returns the distribution of the product of independent ratios on grids of the same step.
func (r ratio) times(o ratio) ratio {
	return ratio{step: r.step, low: r.low + o.low, mass: convolve(r.mass, o.mass), zero: r.zero + o.zero - r.zero*o.zero,
		beyond: r.beyond + o.beyond}
}
