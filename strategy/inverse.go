package strategy

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// CheckInverse finds that inverse is not C⁻¹: rows of it then make other noise than C says. Both are T×T. What rounding
// explains passes, unless the noise may protect less for it.
func CheckInverse(c, inverse mat.Matrix) error {
	steps, _ := c.Dims()
	for t := range steps {
		for s := t + 1; s < steps; s++ {
			if x := inverse.At(t, s); x != 0 {
				return fmt.Errorf("entry (%d,%d) of C⁻¹, above the diagonal, is %v and should be 0", t, s, x)
			}
		}
	}
	var excess mat.Dense
	excess.Mul(c, inverse)
	for t := range steps {
		excess.Set(t, t, excess.At(t, t)-1)
	}
	worst := max(mat.Max(&excess), -mat.Min(&excess))
	if allowed := 1e-13 * mat.Norm(c, math.Inf(1)) * mat.Norm(inverse, math.Inf(1)); !(worst <= allowed) {
		return fmt.Errorf("C·C⁻¹ should be I, and is off by %.1e (rounding explains %.1e)", worst, allowed)
	}
	if norm := mat.Norm(&excess, 2); !(norm <= largestExcess) {
		return fmt.Errorf("C·C⁻¹ should be I, and is off by %.1e in norm, so that the noise may protect less than C",
			norm)
	}
	return nil
}

// largestExcess bounds the Frobenius norm of E = C·C⁻¹ - I, whatever rounding explains: who draws noise by the exported
// C⁻¹ has the strategy (I+E)⁻¹C, whose sensitivity is at most C's over 1-‖E‖.
const largestExcess = 1e-9
