package strategy

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
)

// Dense is a strategy stored entry by entry. A node that runs it keeps all rows of independent noise.
type Dense struct{ c *mat.TriDense }

// NewDense returns the strategy with the T×T lower-triangular matrix c, which is copied. The error cases are entries
// that are NaN or infinite, an entry above the diagonal, and a diagonal that is not positive.
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
				return nil, fmt.Errorf("strategy entry (%d,%d) above the diagonal is %v: C must be lower triangular",
					t, s, v)
			case s == t && v <= 0:
				return nil, fmt.Errorf("strategy diagonal entry %d is %v: must be positive", t, v)
			case s <= t:
				lower.SetTri(t, s, v)
			}
		}
	}
	return &Dense{lower}, nil
}

// Name returns "dense".
func (*Dense) Name() string { return DenseClass }

// Steps returns the number of steps, T.
func (d *Dense) Steps() int { n, _ := d.c.Dims(); return n }

// StrategyTo copies C to dst.
func (d *Dense) StrategyTo(dst *mat.TriDense) {
	fillLower(dst, d.Steps(), d.c.At)
}

// NoisingTo writes C⁻¹ to dst, by a triangular inversion.
func (d *Dense) NoisingTo(dst *mat.TriDense) error {
	resizeLower(dst, d.Steps())
	return dense.InverseTri(dst, d.c)
}

// Scaled returns by·C.
func (d *Dense) Scaled(by float64) Strategy {
	var c mat.TriDense
	c.ScaleTri(by, d.c)
	return &Dense{&c}
}

// NodeCost returns T: all rows of independent noise.
func (d *Dense) NodeCost() NodeCost { return NodeCost{d.Steps(), 2 * d.Steps()} }

// Filter combines all rows of Z, by the rows of C⁻¹: it is a Recombiner.
func (d *Dense) Filter() (Filter, error) {
	var noising mat.TriDense
	if err := d.NoisingTo(&noising); err != nil {
		return nil, err
	}
	return recombining{dense.Full(&noising)}, nil
}

// Parameters returns the class alone: what makes the strategy again is C itself.
func (d *Dense) Parameters() Parameters { return Parameters{Class: d.Name()} }
