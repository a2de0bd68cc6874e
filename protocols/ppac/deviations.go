package ppac

import (
	"cmp"
	"fmt"
	"math"

	"mafalda/internal/fault"
)

// Deviations are the standard deviations of everything random: the values u_i, and the noise Γ_ij for j ≠ m_i.
type Deviations struct{ Value, Noise float64 }

// widestRange is by how much standard deviations may differ.
const widestRange = 1e10

// check refuses what is not positive and finite, for values and noise have a density (Assumption 4.1), and what is
// too far apart.
func (d Deviations) check(p *Protocol) error {
	if err := cmp.Or(fault.Positive("Deviations.Value", d.Value), fault.Positive("Deviations.Noise", d.Noise)); err != nil {
		return err
	}
	least, most := min(d.Value, d.Noise), max(d.Value, d.Noise)
	if p.sources > p.Nodes() && most > widestRange*least { // of two nodes alone, no fragment is noise
		return fmt.Errorf("standard deviations from %g to %g of values and noise: must be at most a factor of %g apart",
			least, most, widestRange)
	}
	return nil
}

// normalize returns the deviations times the power of two that brings the larger one to 1 at least, and below 2.
func (d Deviations) normalize() Deviations {
	exponent := -math.Ilogb(max(d.Value, d.Noise))
	return Deviations{math.Ldexp(d.Value, exponent), math.Ldexp(d.Noise, exponent)}
}
