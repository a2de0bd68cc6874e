package graph

import "math/rand/v2"

// gaps draws how many trials of success probability p fail before the first success:
//
//	powers[i] = (1-p)^(2^i)
//
// It multiplies and compares only, which IEEE 754 rounds alike everywhere; logarithms differ between machines in their
// last bit, and a graph would with them.
type gaps struct{ powers []float64 }

func newGaps(p float64) gaps {
	const negligible = 0x1p-54 // below every u of draw
	var powers []float64
	for q := 1 - p; q > negligible && len(powers) < 62; q *= q {
		powers = append(powers, q)
	}
	return gaps{powers}
}

// draw returns the largest g with (1-p)^g ≥ u, for u uniform in (0,1]: P(draw ≥ g) = (1-p)^g. If p = 0 that is 2⁶²-1.
func (x gaps) draw(rng *rand.Rand) int {
	u := 1 - rng.Float64()
	gap, power := 0, 1.0
	for i := len(x.powers) - 1; i >= 0; i-- {
		if longer := power * x.powers[i]; longer >= u {
			power = longer
			gap |= 1 << i
		}
	}
	return gap
}
