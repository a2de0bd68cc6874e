package strategy

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
)

// A Strategy is a lower-triangular T×T matrix C with a positive diagonal. Implementations are immutable.
type Strategy interface {
	Name() string                      // of its class, or of the baseline that it is
	Steps() int                        // T
	StrategyTo(dst *mat.TriDense)      // C; dst is resized if empty, else it must be T×T lower
	NoisingTo(dst *mat.TriDense) error // C⁻¹; a mat.Condition error leaves a result of low accuracy in dst
	Scaled(by float64) Strategy        // by·C, of the same structure
	NodeCost() NodeCost                // of running it by its Filter
	Filter() (Filter, error)           // the rows of C⁻¹Z, one after the other; it fails as NoisingTo does
	Parameters() Parameters            // what Build makes the same C of; of Dense there is the name of the class only
}

// NodeCost is what a node that runs a strategy needs for each parameter of its model.
type NodeCost struct {
	Floats int `json:"memory_floats"`  // numbers kept from step to step
	Flops  int `json:"flops_per_step"` // multiplications and additions a step, at most
}

// LowerOf returns the matrix C of a strategy, T×T.
func LowerOf(c Strategy) *mat.TriDense {
	var lower mat.TriDense
	c.StrategyTo(&lower)
	return &lower
}

// GramOf returns X = CᵀC, T×T.
func GramOf(c Strategy) *mat.SymDense {
	x := mat.NewSymDense(c.Steps(), nil)
	dense.SymOuterK(x, 1, LowerOf(c).T())
	return x
}

// CheckBandwidth refuses numbers of bands, or of coefficients, that are not from 1 to T.
func CheckBandwidth(bands, steps int) error {
	if bands < 1 || bands > steps {
		return fmt.Errorf("bandwidth %d: must be from 1 to T = %d", bands, steps)
	}
	return nil
}

// fillLower makes an empty dst a T×T lower triangle, panics if a non-empty one is anything else, and writes the entries.
func fillLower(dst *mat.TriDense, steps int, at func(t, s int) float64) {
	resizeLower(dst, steps)
	for t := range steps {
		for s := range t + 1 {
			dst.SetTri(t, s, at(t, s))
		}
	}
}

func resizeLower(dst *mat.TriDense, steps int) {
	if dst.IsEmpty() {
		dst.ReuseAsTri(steps, mat.Lower)
	}
	if n, kind := dst.Triangle(); n != steps || kind != mat.Lower {
		panic(mat.ErrShape)
	}
}
