package factorize

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/participation"
	"mafalda/strategy"
)

// LowerBound returns a number that the loss sens(C)²·tr(C⁻ᵀHC⁻¹) of no strategy C can be below, for the T×T Gram
// matrix h under the schema. It is good if the guess x is close to an optimal X = CᵀC, but valid for every positive
// definite x.
//
// The argument: let Λ be PSD and block diagonal over the patterns, with diagonal entries of at most y_i on block i.
// Then ⟨Λ, CᵀC⟩ ≤ sens(C)² Σ y_i for every C, and by the Cauchy-Schwarz inequality for the nuclear norm
//
//	loss(C) ≥ ‖R F‖_*² / Σ_i y_i,       H = RᵀR,  Λ = F Fᵀ.
//
// Λ is made of x⁻¹hx⁻¹, which at the optimum has that form itself, by dropping what is outside the blocks and scaling
// each block to a constant diagonal. Its factor F is what is kept, so that rounding cannot make Λ indefinite, and each
// y_i is the largest squared row norm in the block, rounded up. The singular values count with the error bound of
// their computation subtracted. The cost is O(T³).
//
// Where patterns overlap, the schema's Relaxation takes its place. A matrix h that is singular in floating point is
// replaced by one below it, and Λ made with a share of the identity in h.
func LowerBound(h, x *mat.SymDense, schema participation.Schema) (float64, error) {
	steps := schema.Steps()
	if h.SymmetricDim() != steps || x.SymmetricDim() != steps {
		return 0, fmt.Errorf("lower bound of %d steps from matrices of %d and %d", steps, h.SymmetricDim(),
			x.SymmetricDim())
	}
	k := denseMask(participation.Relaxation(schema))
	full := mat.DenseCopyOf(x).RawMatrix().Data
	root, lambda, err := dualOf(h, full, k)
	if errors.Is(err, errSingular) {
		return lowerBoundSingular(h, x, k)
	}
	if err != nil {
		return 0, err
	}
	near := newCertificate(root, k)
	bound, err := near.bound(full, lambda)
	if err != nil || near.excessNorm < tightExcess {
		return bound, err
	}
	far, err := singularValueBound(root, lambda, k)
	return math.Max(bound, far), err
}

// dualOf returns R with h = RᵀR, and Λ = x⁻¹hx⁻¹.
func dualOf(h *mat.SymDense, x []float64, k mask) (*mat.TriDense, []float64, error) {
	var chol dense.Cholesky
	if !chol.Factorize(h) {
		return nil, nil, fmt.Errorf("%w: %w", ErrGram, errSingular)
	}
	var root mat.TriDense
	chol.UTo(&root)
	o := newMaskedObjective(h, &root, k)
	if math.IsInf(o.Value(x), 0) {
		return nil, nil, fmt.Errorf("lower bound from X: %w", strategy.ErrNotPositiveDefinite)
	}
	o.GradientTo(make([]float64, len(x)))
	return &root, o.lambda, nil
}

// tightExcess is the norm of the certificate's E up to which it gives away, being of second order, less than 1e-6 of
// the bound.
const tightExcess = 1e-3

// singularValueBound is the bound by the singular values of R F themselves: slower, and good far from the optimum.
func singularValueBound(root mat.Matrix, lambda []float64, k mask) (float64, error) {
	factor, total, err := dualFactor(lambda, k)
	if err != nil {
		return 0, err
	}
	var n mat.Dense
	dense.Mul(&n, root, factor.dense())
	var svd mat.SVD
	if !svd.Factorize(&n, mat.SVDNone) {
		return 0, errors.New("singular values for the lower bound did not converge")
	}
	values := svd.Values(nil)
	var nuclear float64
	backward := 8 * float64(k.schema.Steps()) * 0x1p-53 * values[0] // of the product and of each singular value
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
