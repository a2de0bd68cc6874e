package factorize

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// A Strategy is a lower-triangular T×T matrix C with a positive diagonal. Implementations are immutable.
type Strategy interface {
	Steps() int                        // T
	StrategyTo(dst *mat.TriDense)      // C; dst is resized if empty, else it must be T×T lower
	NoisingTo(dst *mat.TriDense) error // C⁻¹; a mat.Condition error leaves a result of low accuracy in dst
	Scaled(by float64) Strategy        // by·C, of the same structure
}

// Dense is a strategy stored entry by entry.
type Dense struct{ c *mat.TriDense }

var (
	_ Strategy = (*Dense)(nil)
	_ Strategy = Identity(0)
	_ Strategy = AntiPGD(0)
)

// NewDense returns the strategy with the T×T lower-triangular matrix c, which is copied. The error cases are entries that
// are NaN or infinite, an entry above the diagonal, and a diagonal that is not positive.
func NewDense(c mat.Matrix) (*Dense, error) {
	steps, cols := c.Dims()
	if steps != cols || steps == 0 {
		return nil, fmt.Errorf("strategy is %d×%d: must be square and not empty", steps, cols)
	}
	lower := mat.NewTriDense(steps, mat.Lower, nil)
	for t := range steps {
		for s := range steps {
			v := c.At(t, s)
			switch {
			case math.IsNaN(v) || math.IsInf(v, 0):
				return nil, fmt.Errorf("strategy entry (%d,%d) is %v", t, s, v)
			case s > t && v != 0:
				return nil, fmt.Errorf("strategy entry (%d,%d) above the diagonal is %v: C must be lower triangular", t, s, v)
			case s == t && v <= 0:
				return nil, fmt.Errorf("strategy diagonal entry %d is %v: must be positive", t, v)
			case s <= t:
				lower.SetTri(t, s, v)
			}
		}
	}
	return &Dense{lower}, nil
}

// Steps returns T.
func (d *Dense) Steps() int { n, _ := d.c.Dims(); return n }

// StrategyTo copies C to dst.
func (d *Dense) StrategyTo(dst *mat.TriDense) {
	resizeLower(dst, d.Steps())
	dst.Copy(d.c)
}

// NoisingTo writes C⁻¹ to dst, by a triangular inversion.
func (d *Dense) NoisingTo(dst *mat.TriDense) error {
	resizeLower(dst, d.Steps())
	return dst.InverseTri(d.c)
}

// Scaled returns by·C.
func (d *Dense) Scaled(by float64) Strategy {
	var c mat.TriDense
	c.ScaleTri(by, d.c)
	return &Dense{&c}
}

// Identity is DP-D-SGD with T steps: independent noise, C = I.
type Identity int

// Steps returns T.
func (i Identity) Steps() int { return int(i) }

// StrategyTo writes I to dst.
func (i Identity) StrategyTo(dst *mat.TriDense) {
	resizeLower(dst, int(i))
	dst.Zero()
	for t := range int(i) {
		dst.SetTri(t, t, 1)
	}
}

// NoisingTo writes I to dst.
func (i Identity) NoisingTo(dst *mat.TriDense) error {
	i.StrategyTo(dst)
	return nil
}

// Scaled returns by·I as a Toeplitz strategy.
func (i Identity) Scaled(by float64) Strategy { return &Toeplitz{steps: int(i), c: []float64{by}} }

// AntiPGD is the strategy of T steps whose noise is z_t - z_{t-1}: C⁻¹ has ones on the diagonal and -1 below it, C is the
// lower triangle of ones (Koloskova et al. 2023; Bellet et al., Appendix A.3).
type AntiPGD int

// Steps returns T.
func (a AntiPGD) Steps() int { return int(a) }

// StrategyTo writes the lower triangle of ones to dst.
func (a AntiPGD) StrategyTo(dst *mat.TriDense) {
	resizeLower(dst, int(a))
	for t := range int(a) {
		for s := range t + 1 {
			dst.SetTri(t, s, 1)
		}
	}
}

// NoisingTo writes the bidiagonal difference matrix to dst.
func (a AntiPGD) NoisingTo(dst *mat.TriDense) error {
	Identity(a).StrategyTo(dst)
	for t := 1; t < int(a); t++ {
		dst.SetTri(t, t-1, -1)
	}
	return nil
}

// Scaled returns by·C as a Toeplitz strategy.
func (a AntiPGD) Scaled(by float64) Strategy {
	c := make([]float64, a)
	for i := range c {
		c[i] = by
	}
	return &Toeplitz{steps: int(a), c: c}
}

// resizeLower makes an empty dst a T×T lower triangle and panics if a non-empty one is anything else.
func resizeLower(dst *mat.TriDense, steps int) {
	if dst.IsEmpty() {
		dst.ReuseAsTri(steps, mat.Lower)
		return
	}
	if n, kind := dst.Triangle(); n != steps || kind != mat.Lower {
		panic(mat.ErrShape)
	}
}
