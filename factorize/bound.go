package factorize

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/rounding"
	"mafalda/participation"
)

// LowerBound returns a number that the loss sens(C)²·tr(C⁻ᵀHC⁻¹) of no strategy C can be below, for the T×T Gram matrix h
// under the schema. It is good if the guess x is close to an optimal X = CᵀC, but valid for every positive definite x.
//
// The argument: let Λ be PSD and block diagonal over the patterns, with diagonal entries of at most y_i on block i. Then
// ⟨Λ, CᵀC⟩ ≤ sens(C)² Σ y_i for every C, and by the Cauchy-Schwarz inequality for the nuclear norm
//
//	loss(C) ≥ ‖R F‖_*² / Σ_i y_i,       H = RᵀR,  Λ = F Fᵀ.
//
// Λ is made of x⁻¹hx⁻¹, which at the optimum has that form itself, by dropping what is outside the blocks and scaling
// each block to a constant diagonal. Its factor F is what is kept, so that rounding cannot make Λ indefinite, and each y_i
// is the largest squared row norm in the block, rounded up. The singular values count with the error bound of their
// computation subtracted. The cost is O(T³).
func LowerBound(h, x *mat.SymDense, schema participation.Cyclic) (float64, error) {
	steps := schema.Steps()
	if h.SymmetricDim() != steps || x.SymmetricDim() != steps {
		return 0, fmt.Errorf("lower bound of %d steps from matrices of %d and %d", steps, h.SymmetricDim(), x.SymmetricDim())
	}
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return 0, fmt.Errorf("%w: it is not positive definite in floating point", ErrGram)
	}
	var root mat.TriDense
	chol.UTo(&root)
	o := newObjective(h, &root, schema)
	full := mat.DenseCopyOf(x).RawMatrix().Data
	if math.IsInf(o.Value(full), 0) {
		return 0, fmt.Errorf("lower bound from X: %w", ErrNotPositiveDefinite)
	}
	o.GradientTo(make([]float64, len(full)))
	near := newCertificate(&root, schema)
	bound, err := near.bound(full, o.lambda)
	if err != nil || near.excessNorm < tightExcess {
		return bound, err
	}
	far, err := singularValueBound(&root, o.lambda, schema)
	return math.Max(bound, far), err
}

// tightExcess is the norm of the certificate's E up to which it gives away less than 1e-6 of the bound.
const tightExcess = 0.03

// singularValueBound is the bound by the singular values of R F themselves: slower, and good far from the optimum.
func singularValueBound(root *mat.TriDense, lambda []float64, schema participation.Cyclic) (float64, error) {
	factor, total, err := dualFactor(lambda, schema)
	if err != nil {
		return 0, err
	}
	var n mat.Dense
	n.Mul(root, factor.dense())
	var svd mat.SVD
	if !svd.Factorize(&n, mat.SVDNone) {
		return 0, errors.New("singular values for the lower bound did not converge")
	}
	values := svd.Values(nil)
	var nuclear float64
	backward := 8 * float64(schema.Steps()) * 0x1p-53 * values[0] // of the product and of each singular value
	for _, v := range values {
		nuclear += math.Max(v-backward, 0)
	}
	return finiteBound(nuclear, total, 1e-12)
}

// finiteBound returns nuclear²/total·(1-slack).
func finiteBound(nuclear, total, slack float64) (float64, error) {
	bound := nuclear * nuclear / total * (1 - slack)
	if nuclear <= 0 {
		return 0, nil
	}
	if math.IsNaN(bound) || math.IsInf(bound, 0) {
		return 0, errors.New("lower bound is not finite: the Gram matrix is out of range")
	}
	return bound, nil
}

// blockFactor is the factor F of a block-diagonal Λ = F Fᵀ: for every pattern a lower-triangular k×k matrix.
type blockFactor struct {
	schema   participation.Cyclic
	patterns [][]int
	blocks   []*mat.TriDense
}

// dualFactor makes F of lambda (T×T, row by row; symmetric with a positive diagonal) and returns it with Σ_i y_i, rounded
// up. A block that is not numerically positive definite is mixed with the identity until it is.
func dualFactor(lambda []float64, schema participation.Cyclic) (*blockFactor, float64, error) {
	f := &blockFactor{schema: schema, patterns: schema.Patterns()}
	var total rounding.Sum
	for _, pattern := range f.patterns {
		block, y, err := scaledBlock(lambda, schema.Steps(), pattern)
		if err != nil {
			return nil, 0, err
		}
		factor := factorOf(block)
		factor.ScaleTri(math.Sqrt(y), factor)
		f.blocks = append(f.blocks, factor)
		var largest float64
		for i := range pattern {
			var norm rounding.Sum
			for j := range i + 1 {
				norm.AddProduct(factor.At(i, j), factor.At(i, j))
			}
			largest = math.Max(largest, norm.Up())
		}
		total.Add(largest)
	}
	return f, total.Up(), nil
}

// scaledBlock returns the block of lambda on the pattern, scaled to unit diagonal by congruence, and its mean diagonal.
func scaledBlock(lambda []float64, steps int, pattern []int) (block *mat.SymDense, mean float64, err error) {
	scale := make([]float64, len(pattern))
	for i, s := range pattern {
		d := lambda[s*steps+s]
		if !(d > 0) || math.IsInf(d, 1) {
			return nil, 0, fmt.Errorf("dual variable has the diagonal entry %v", d)
		}
		scale[i] = 1 / math.Sqrt(d)
		mean += d / float64(len(pattern))
	}
	block = mat.NewSymDense(len(pattern), nil)
	for i, s := range pattern {
		block.SetSym(i, i, 1)
		for j := i + 1; j < len(pattern); j++ {
			block.SetSym(i, j, lambda[s*steps+pattern[j]]*scale[i]*scale[j])
		}
	}
	return block, mean, nil
}

// factorOf returns the lower Cholesky factor of the unit-diagonal block, after shrinking its off-diagonal as much as it
// takes to have one.
func factorOf(block *mat.SymDense) *mat.TriDense {
	var chol mat.Cholesky
	k := block.SymmetricDim()
	for mix := 1e-14; !chol.Factorize(block); mix = math.Min(8*mix, 1) {
		for i := range k {
			for j := i + 1; j < k; j++ {
				block.SetSym(i, j, (1-mix)*block.At(i, j))
			}
		}
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	return &lower
}

// dense returns F as a T×T matrix whose columns are sorted by pattern; the order changes no nuclear norm.
func (f *blockFactor) dense() *mat.Dense {
	steps := f.schema.Steps()
	d := mat.NewDense(steps, steps, nil)
	column := 0
	for i, pattern := range f.patterns {
		for j := range pattern {
			for r := j; r < len(pattern); r++ {
				d.Set(pattern[r], column, f.blocks[i].At(r, j))
			}
			column++
		}
	}
	return d
}

// mulTo writes a·F to dst for a T×T matrix a, both row by row: pattern by pattern, O(T²k).
func (f *blockFactor) mulTo(dst, a []float64) {
	steps := f.schema.Steps()
	gathered := make([]float64, f.schema.Participations())
	for t := range steps {
		row, out := a[t*steps:(t+1)*steps], dst[t*steps:(t+1)*steps]
		for i, pattern := range f.patterns {
			for r, s := range pattern {
				gathered[r] = row[s]
			}
			block := f.blocks[i].RawTriangular()
			result := out[i*len(pattern) : (i+1)*len(pattern)]
			clear(result)
			for r, v := range gathered {
				for j, x := range block.Data[r*block.Stride : r*block.Stride+r+1] {
					result[j] += v * x
				}
			}
		}
	}
}
