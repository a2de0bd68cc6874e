package bins

import (
	"math"
	"slices"

	"mafalda/accounting/allocation"
)

// commonBlock returns a block of random allocation that gives away at least as much: all pairs of patterns have the largest
// inner product of a pair, and each quarter of the patterns, sorted by norm, has its largest norm. The rounding error of the
// Gram matrix is added unless all inner products are exactly 0.
//
// δ grows with every entry of the Gram matrix (Kahane's inequality). Let G ≤ G' entry by entry, both positive semidefinite,
// y and y' independent normal vectors with covariances G/ν² and G'/ν², and
//
//	L_t = (1/b) Σ_j exp(√(1-t) y_j + √t y'_j - ((1-t) G_jj + t G'_jj)/2ν²),     0 ≤ t ≤ 1.
//
// For smooth convex F integration by parts of the normal vectors leaves
//
//	d/dt E F(L_t) = (1/2ν²) Σ_ij (G'_ij - G_ij) E[F''(L_t) e_i e_j] ≥ 0,     e_j > 0 the terms of L_t,
//
// and other convex functions are limits of smooth ones. δ is the larger of E_Q (L - e^ε)₊ (removal) and E_Q (1 - e^ε L)₊
// (addition), means of convex functions of L: the pair of G' dominates in both directions.
//
// With G'_ij = c for i ≠ j and G'_jj = d_j the likelihood ratio is e^z · (1/b) Σ_j W_j, log W_j of variance (d_j - c)/ν², z of
// variance c/ν², all independent and of mean one: a product of independent factors, whose distribution is computed on a grid
// as for random allocation. Where c = 0 (orthogonal patterns: one band, DP-D-SGD) it is random allocation of one block.
// For two bands a dynamic program over the overlap of neighbouring patterns would be sharper; it would carry one common
// factor from bin to bin beside the sum, around the circle, on a grid of three dimensions for every ε.
func (b *Mechanism) commonBlock() allocation.Correlated {
	n := b.Number()
	var of allocation.Correlated
	var lift float64
	for i := range n {
		lift = math.Max(lift, b.diagonal[i]-b.gram.At(i, i))
		for j := range i {
			of.Common = math.Max(of.Common, b.gram.At(i, j))
		}
	}
	if of.Common > 0 {
		of.Common += lift
	}
	squares := slices.Sorted(slices.Values(b.diagonal))
	for _, part := range slices.Collect(slices.Chunk(squares, (n+3)/4)) {
		largest := math.Max(part[len(part)-1], of.Common) * (1 + 1e-12)
		if last := len(of.Groups) - 1; last >= 0 && of.Groups[last].Variance > largest*(1-1e-6) {
			of.Groups[last] = allocation.Group{Choices: of.Groups[last].Choices + len(part), Variance: largest}
		} else {
			of.Groups = append(of.Groups, allocation.Group{Choices: len(part), Variance: largest})
		}
	}
	return of
}

// WithoutSamples returns a δ for which the mechanism is (ε, δ)-DP, by the distribution of a privacy loss that is no smaller:
// exact, but for its grid, for patterns that are orthogonal and of the same norm, and close where any two have nearly the same inner product.
// It is at most the δ of a known draw. It fails where Delta fails.
func (b *Mechanism) WithoutSamples(epsilon, noiseMultiplier float64) (float64, error) {
	known, err := b.knownDraw(point{epsilon, noiseMultiplier})
	if err != nil || b.Number() == 1 || b.Number() > allocation.MaxChoices || b.gaussianMu(noiseMultiplier) > mostMu {
		return known, err
	}
	of, scale := b.commonBlock(), math.Max(known*1e-3, leastScale)
	for {
		delta := of.Delta(epsilon, noiseMultiplier, scale)
		if !(delta < 0.01*scale) || scale == leastScale {
			if delta < known { // which nothing is on a grid of losses that floating point cannot hold
				return delta, nil
			}
			return known, nil
		}
		scale = math.Max(delta/10, leastScale) // tails that are cut off count as lost, and must be small against δ
	}
}

// leastScale is the δ below which nothing is resolved.
const leastScale = LeastDelta / 10

// mostMu is the μ of a known draw from which on a grid of losses shows nothing that is worth it.
const mostMu = 60

// near is how far log δ may be below the target's where a search ends.
const near = 1e-3

// leastWithoutSamples returns about the least argument at which the δ without samples is at most the target, at most largest.
func (c *calibration) leastWithoutSamples() (float64, error) {
	excess := func(argument float64) (float64, error) { // of log δ; decreasing
		at := c.at(argument)
		delta, err := c.bins.WithoutSamples(at.epsilon, at.noiseMultiplier)
		return math.Log(math.Max(delta, 1e-300) / c.target), err
	}
	high, low, lowY := c.largest, 0.0, 0.0
	highY, err := excess(high)
	slope := -20.0 // of log δ over the logarithm of the argument
	for tries := 0; err == nil && highY < -near && high > low*(1+1e-4) && tries < 40; tries++ {
		var y float64
		step := math.Max((highY+near/2)/-slope, -1) // down from high, to a little below the target
		if low > 0 {
			width := math.Log(high / low)
			step = -width * math.Min(math.Max((highY+near/2)/(highY-lowY), 0.02), 0.98)
		}
		argument := high * math.Exp(step)
		if y, err = excess(argument); y <= 0 {
			slope = math.Min((y-highY)/step, -0.1)
			high, highY = argument, y
		} else {
			low, lowY = argument, y
		}
	}
	return high, err
}
