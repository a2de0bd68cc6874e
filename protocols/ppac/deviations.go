package ppac

import (
	"fmt"
	"math"

	"mafalda/internal/fault"
)

// Deviations are the standard deviations of everything random: the values u_i, and the noise Γ_ij for j ≠ m_i.
type Deviations struct {
	Value func(i int) float64
	Noise func(i, j int) float64
}

// Uniform is the same for all values, and for all noise.
func Uniform(value, noise float64) Deviations {
	return Deviations{func(int) float64 { return value }, func(int, int) float64 { return noise }}
}

// widestRange is by how much standard deviations may differ: leakages, never below the truth, are right to nine
// digits up to there, and beyond lose one for each power of ten.
const widestRange = 1e10

// wideRange is from where on a second look is taken at every victim.
const wideRange = 1e3

// check refuses what is not positive and finite, for values and noise have a density (Assumption 4.1), and what is
// too far apart for double precision.
func (d Deviations) check(p *Protocol) error {
	for i, around := range p.neighbours {
		if s := d.Value(i); !positive(s) {
			return fault.Positive(fmt.Sprintf("Deviations.Value(%s)", p.graph.Label(i)), s)
		}
		for _, j := range around {
			if j == p.chosen[i] {
				continue
			}
			if s := d.Noise(i, j); !positive(s) {
				return fault.Positive(fmt.Sprintf("Deviations.Noise(%s, %s)", p.graph.Label(i), p.graph.Label(j)), s)
			}
		}
	}
	if least, most := d.span(p); most > widestRange*least {
		return fmt.Errorf("standard deviations from %g to %g of values and noise: more than a factor of %g is beyond "+
			"double precision", least, most, widestRange)
	}
	return nil
}

func positive(s float64) bool { return s > 0 && !math.IsInf(s, 1) }

// span returns the smallest and the largest.
func (d Deviations) span(p *Protocol) (least, most float64) {
	least = math.Inf(1)
	for i, around := range p.neighbours {
		least, most = math.Min(least, d.Value(i)), math.Max(most, d.Value(i))
		for _, j := range around {
			if j != p.chosen[i] {
				least, most = math.Min(least, d.Noise(i, j)), math.Max(most, d.Noise(i, j))
			}
		}
	}
	return least, most
}

// scaled returns them times 2^exponent.
func (d Deviations) scaled(exponent int) Deviations {
	return Deviations{
		Value: func(i int) float64 { return math.Ldexp(d.Value(i), exponent) },
		Noise: func(i, j int) float64 { return math.Ldexp(d.Noise(i, j), exponent) },
	}
}
