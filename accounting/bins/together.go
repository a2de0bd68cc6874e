package bins

import (
	"math"
	"slices"

	"mafalda/accounting/allocation"
)

// together returns a block of random allocation that gives away at least as much: any two patterns have the largest inner
// product of any two, and norms are rounded up to those of the largest of a quarter of them. δ grows with every entry of
// the Gram matrix (Kahane; docs/sampling-bins.md). Rounding of the Gram matrix is added, but where it is exactly 0.
func (b *Mechanism) together() allocation.Correlated {
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
// It is at most the δ of a known draw. The errors are those of Delta.
func (b *Mechanism) WithoutSamples(epsilon, noiseMultiplier float64) (float64, error) {
	known, err := b.knownDraw(point{epsilon, noiseMultiplier})
	if err != nil || b.Number() == 1 || b.Number() > allocation.MaxChoices || b.gaussianMu(noiseMultiplier) > mostMu {
		return known, err
	}
	of, scale := b.together(), math.Max(known*1e-3, leastScale)
	for {
		delta := of.Delta(epsilon, noiseMultiplier, scale)
		if delta >= 0.01*scale || scale == leastScale {
			return math.Min(known, delta), nil
		}
		scale = math.Max(delta/10, leastScale) // tails that are cut off count as lost, and must be small against δ
	}
}

// leastScale is the δ below which nothing is resolved.
const leastScale = LeastDelta / 10

// mostMu is the μ of a known draw from which on a grid of losses shows nothing that is worth it.
const mostMu = 60

// withoutSamples returns about the least argument at which the δ without samples is at most the target, at most largest.
func (c *calibration) withoutSamples() (float64, error) {
	enough := func(argument float64) (bool, error) {
		at := c.at(argument)
		delta, err := c.bins.WithoutSamples(at.epsilon, at.noiseMultiplier)
		return delta <= c.target, err
	}
	high, low := c.largest, c.largest
	for range 40 {
		low *= 0.8
		is, err := enough(low)
		if err != nil {
			return 0, err
		}
		if !is {
			break
		}
		high = low
	}
	for high > low*(1+1e-4) {
		middle := math.Sqrt(low * high)
		is, err := enough(middle)
		if err != nil {
			return 0, err
		}
		if is {
			high = middle
		} else {
			low = middle
		}
	}
	return high, nil
}
