package factorize

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/participation"
)

// objective is f(X) = tr(H X⁻¹) over the masked X of unit pattern sums, as a function on T² numbers: X row by row. It is
// an optim.Objective. H is given by its upper-triangular root, H = RᵀR.
type objective struct {
	steps   int
	h       []float64 // T×T, all matrices row by row
	root    []float64 // R
	mask    mask
	x       *mat.SymDense // the last X
	chol    mat.Cholesky
	inverse *mat.SymDense // X⁻¹ of the last X, both triangles filled
	half    []float64     // X⁻¹ Rᵀ
	lambda  []float64     // Λ = X⁻¹ H X⁻¹ of the last gradient
}

func newObjective(h *mat.SymDense, root *mat.TriDense, k mask) *objective {
	steps := k.schema.Steps()
	return &objective{steps: steps, h: mat.DenseCopyOf(h).RawMatrix().Data, root: mat.DenseCopyOf(root).RawMatrix().Data,
		mask: k, x: mat.NewSymDense(steps, nil), inverse: mat.NewSymDense(steps, nil),
		half: make([]float64, steps*steps), lambda: make([]float64, steps*steps)}
}

// Value returns tr(H X⁻¹), or +Inf if X is not positive definite. It reads the upper triangle of x.
func (o *objective) Value(x []float64) float64 {
	copy(o.x.RawSymmetric().Data, x)
	if !o.chol.Factorize(o.x) {
		return math.Inf(1)
	}
	// A condition number beyond 1/ε comes as an error; its value is still an honest, if inaccurate, one.
	_ = o.chol.InverseTo(o.inverse)
	inverse := o.inverse.RawSymmetric().Data
	var off, diagonal float64
	for s := range o.steps {
		row := s * o.steps
		diagonal += o.h[row+s] * inverse[row+s]
		off += floats.Dot(o.h[row+s+1:row+o.steps], inverse[row+s+1:row+o.steps])
	}
	return diagonal + 2*off
}

// GradientTo writes the gradient -Λ, projected on the directions that keep mask and pattern sums, to dst.
func (o *objective) GradientTo(dst []float64) {
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

// mask is the linear space of directions in X: symmetric, zero between different steps of one pattern and outside the
// band |s-t| < bandwidth, and with diagonal entries that sum to zero over every pattern.
type mask struct {
	schema    participation.Cyclic
	bandwidth int // T: no band
}

func denseMask(schema participation.Cyclic) mask { return mask{schema, schema.Steps()} }

// free reports whether the entry (s, t) off the diagonal may differ from zero.
func (k mask) free(s, t int) bool {
	d := max(s-t, t-s)
	return d < k.bandwidth && d%k.schema.Separation() != 0
}

// project writes the orthogonal projection of the T×T matrix m on the space over m, rounding away any asymmetry.
func (k mask) project(m []float64) {
	steps := k.schema.Steps()
	for s := range steps {
		for t := range s {
			v := 0.0
			if k.free(s, t) {
				v = (m[s*steps+t] + m[t*steps+s]) / 2
			}
			m[s*steps+t], m[t*steps+s] = v, v
		}
	}
	for _, pattern := range k.schema.Patterns() {
		var mean float64
		for _, s := range pattern {
			mean += m[s*steps+s] / float64(len(pattern))
		}
		for _, s := range pattern {
			m[s*steps+s] -= mean
		}
	}
}

// feasible brings the positive definite x into the domain: masked entries become zero, and rows and columns are scaled to
// pattern sums of one. It is for x whose masked entries are zero anyway, or for diagonally dominant ones.
func (k mask) feasible(x []float64) {
	steps := k.schema.Steps()
	scale := make([]float64, steps)
	for _, pattern := range k.schema.Patterns() {
		var sum float64
		for _, s := range pattern {
			sum += x[s*steps+s]
		}
		for _, s := range pattern {
			scale[s] = 1 / math.Sqrt(sum)
		}
	}
	for s := range steps {
		for t := range steps {
			if s != t && !k.free(s, t) {
				x[s*steps+t] = 0
			}
			x[s*steps+t] *= scale[s] * scale[t]
		}
	}
}
