package factorize

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
)

// maskedObjective is f(X) = tr(H X⁻¹) over the masked X whose diagonal keeps the schema's budgets, as a function on T²
// numbers: X row by row. It is an optim.Objective. H is given by its upper-triangular root, H = RᵀR.
type maskedObjective struct {
	steps   int
	h       []float64 // T×T, all matrices row by row
	root    []float64 // R
	mask    mask
	inverse *mat.SymDense // X⁻¹ of the last X, both triangles filled after a gradient
	half    []float64     // X⁻¹ Rᵀ
	lambda  []float64     // Λ = X⁻¹ H X⁻¹ of the last gradient
}

func newMaskedObjective(h *mat.SymDense, root *mat.TriDense, k mask) *maskedObjective {
	steps := k.schema.Steps()
	return &maskedObjective{steps: steps,
		h: mat.DenseCopyOf(h).RawMatrix().Data, root: mat.DenseCopyOf(root).RawMatrix().Data,
		mask: k, inverse: mat.NewSymDense(steps, nil),
		half: make([]float64, steps*steps), lambda: make([]float64, steps*steps)}
}

// Value returns tr(H X⁻¹), or +Inf if X is not positive definite. It reads the upper triangle of x.
func (o *maskedObjective) Value(x []float64) float64 {
	inverse := o.inverse.RawSymmetric().Data
	copy(inverse, x)
	factor, ok := gemm.Potrf(o.inverse.RawSymmetric())
	if !ok {
		return math.Inf(1)
	}
	if _, ok := gemm.Potri(factor); !ok {
		return math.Inf(1)
	}
	var off, diagonal float64
	for s := range o.steps {
		row := s * o.steps
		diagonal += o.h[row+s] * inverse[row+s]
		off += floats.Dot(o.h[row+s+1:row+o.steps], inverse[row+s+1:row+o.steps])
	}
	return diagonal + 2*off
}

// GradientTo writes the gradient -Λ, projected on the directions that keep mask and budgets, to dst.
func (o *maskedObjective) GradientTo(dst []float64) {
	inverse := o.inverse.RawSymmetric().Data
	for s := range o.steps { // the lower triangle, which gonum leaves alone
		for t := s + 1; t < o.steps; t++ {
			inverse[t*o.steps+s] = inverse[s*o.steps+t]
		}
	}
	dense.MulUpperTo(o.half, inverse, o.root, o.steps)
	dense.MulSymTo(o.lambda, o.half, o.half, o.steps)
	for i, l := range o.lambda {
		dst[i] = -l
	}
	o.mask.project(dst)
}
