package ppac

import (
	"cmp"
	"fmt"
	"math"

	"mafalda/internal/fault"
)

// Deviations are the standard deviations of everything random: the values u_i, and the noise Γ_ij for j ≠ m_i.
type Deviations struct{ Value, Noise float64 }

// widestRange is by how much standard deviations may differ: leakages, never below the truth, are right to nine
// digits up to there, and beyond lose one for each power of ten.
const widestRange = 1e10

// wideRange is from where on a second look is taken at every victim.
const wideRange = 1e3

// check refuses what is not positive and finite, for values and noise have a density (Assumption 4.1), and what is
// too far apart for double precision.
func (d Deviations) check(p *Protocol) error {
	if err := cmp.Or(fault.Positive("Deviations.Value", d.Value), fault.Positive("Deviations.Noise", d.Noise)); err != nil {
		return err
	}
	if p.sources > p.Nodes() && d.differBy(widestRange) { // of two nodes alone, no fragment is noise
		return fmt.Errorf("standard deviations from %g to %g of values and noise: more than a factor of %g is beyond "+
			"double precision", min(d.Value, d.Noise), max(d.Value, d.Noise), widestRange)
	}
	return nil
}

// differBy reports whether values and noise differ by more than a factor.
func (d Deviations) differBy(factor float64) bool {
	return max(d.Value, d.Noise) > factor*min(d.Value, d.Noise)
}

// normalize returns the deviations times the power of two that brings the larger one to 1 at least, and below 2.
func (d Deviations) normalize() Deviations {
	exponent := -math.Ilogb(max(d.Value, d.Noise))
	return Deviations{math.Ldexp(d.Value, exponent), math.Ldexp(d.Noise, exponent)}
}
