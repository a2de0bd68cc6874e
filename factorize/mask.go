package factorize

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/participation"
)

// mask is the domain of X that is optimized over, and the linear space of its directions: symmetric matrices that are
// zero between different steps of one pattern and outside the band |s-t| < bandwidth, with a diagonal that keeps the
// schema's budgets. Under it sens² is one.
type mask struct {
	schema    participation.Schema
	bandwidth int // number of bands; T: all
	budgets   []participation.Budget
	keep      []bool // T×T: off-diagonal entries that may differ from zero
}

// newMask returns the mask of strategies with a bandwidth; T means no band.
func newMask(schema participation.Schema, bandwidth int) mask {
	return maskOf(schema, bandwidth, schema.Budgets(), schema.Together)
}

// maskOf returns the mask of a band and of zeros where steps are together.
func maskOf(
	schema participation.Schema, bandwidth int, budgets []participation.Budget, together func(s, t int) bool,
) mask {
	steps := schema.Steps()
	k := mask{schema, bandwidth, budgets, make([]bool, steps*steps)}
	for s := range steps {
		for t := range steps {
			k.keep[s*steps+t] = s != t && max(s-t, t-s) < bandwidth && !together(s, t)
		}
	}
	return k
}

func denseMask(schema participation.Schema) mask { return newMask(schema, schema.Steps()) }

// partition reports whether the zeros of the mask are the blocks of a partition of the steps into patterns.
func (k mask) partition() bool {
	return k.bandwidth >= k.schema.Steps() && participation.IsPartition(k.schema)
}

// project writes the orthogonal projection of the T×T matrix m on the space over m, rounding away any asymmetry.
func (k mask) project(m []float64) {
	steps := k.schema.Steps()
	dense.VisitBelow(steps, func(s, from, to int) {
		for t := from; t < to; t++ {
			v := 0.0
			if k.keep[s*steps+t] {
				v = (m[s*steps+t] + m[t*steps+s]) / 2
			}
			m[s*steps+t], m[t*steps+s] = v, v
		}
	})
	for _, budget := range k.budgets {
		var sum, weight float64 // of the group means, and of the groups' 1/size
		for _, group := range budget.Groups {
			sum += k.mean(m, group)
			weight += 1 / float64(len(group))
		}
		for _, group := range budget.Groups {
			v := k.mean(m, group) - sum/weight/float64(len(group))
			if len(budget.Groups) == 1 {
				v = 0
			}
			for _, s := range group {
				m[s*steps+s] = v
			}
		}
	}
}

// mean returns the mean of the group's diagonal entries.
func (k mask) mean(m []float64, group []int) float64 {
	var sum float64
	for _, s := range group {
		sum += m[s*k.schema.Steps()+s]
	}
	return sum / float64(len(group))
}

// feasible brings the positive definite x into the domain: masked entries become zero, and rows and columns are scaled
// to a diagonal within the budgets. It is for x whose masked entries are zero anyway, or for diagonally dominant ones.
func (k mask) feasible(x []float64) {
	steps := k.schema.Steps()
	scale := make([]float64, steps)
	for _, budget := range k.budgets {
		var spent float64
		for _, group := range budget.Groups {
			spent += budget.Cost * k.mean(x, group)
		}
		for _, group := range budget.Groups {
			value := k.mean(x, group) / spent
			for _, s := range group {
				scale[s] = math.Sqrt(value / x[s*steps+s])
			}
		}
	}
	for s := range steps {
		for t := range steps {
			if s != t && !k.keep[s*steps+t] {
				x[s*steps+t] = 0
			}
			x[s*steps+t] *= scale[s] * scale[t]
		}
	}
}

// maskedObjective is f(X) = tr(H X⁻¹) over the masked X whose diagonal keeps the schema's budgets, as a function on T²
// numbers: X row by row. It is an optim.Objective. H is given by its upper-triangular root, H = RᵀR.
type maskedObjective struct {
	steps   int
	h       []float64     // T×T, all matrices row by row
	upper   *mat.TriDense // R
	root    []float64     // R, with its zeros
	mask    mask
	inverse *mat.SymDense // X⁻¹ of the last X, both triangles filled after a gradient
	lambda  []float64     // Λ = X⁻¹ H X⁻¹ of the last gradient
	scratch *scratch
}

func newMaskedObjective(h *mat.SymDense, root *mat.TriDense, k mask) *maskedObjective {
	steps := k.schema.Steps()
	return &maskedObjective{steps: steps, h: numbersOf(h), upper: root, root: numbersOf(root), mask: k,
		inverse: mat.NewSymDense(steps, nil), lambda: make([]float64, steps*steps), scratch: newScratch(steps)}
}

// numbersOf returns a copy of the numbers of a matrix, row by row.
func numbersOf(m mat.Matrix) []float64 { return mat.DenseCopyOf(m).RawMatrix().Data }

// rowsOf returns the matrix of these numbers, row by row.
func rowsOf(data []float64, rows, columns int) blas64.General {
	return blas64.General{Rows: rows, Cols: columns, Stride: columns, Data: data}
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
	dense.MirrorUpper(inverse, o.steps) // which the factorization leaves alone
	half := o.scratch.take()            // X⁻¹Rᵀ
	dense.MulUpperTo(half, inverse, o.root, o.steps)
	dense.MulSymTo(o.lambda, half, half, o.steps)
	o.scratch.giveBack(half)
	for i, l := range o.lambda {
		dst[i] = -l
	}
	o.mask.project(dst)
}
