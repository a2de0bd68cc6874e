package factorize

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/participation"
)

// Dual is a feasible point Λ = FFᵀ of the dual problem: it bounds the loss of every strategy on every workload, and well
// on those that it fits.
type Dual struct {
	factor *mat.Dense
	total  float64 // Σ y_i, rounded up
}

// NewDual returns the dual point that x makes for the Gram matrix h, both T×T: that of LowerBound. It fits workloads
// like h if x is close to its optimal X.
func NewDual(h, x *mat.SymDense, schema participation.Schema) (*Dual, error) {
	k := denseMask(participation.Relaxation(schema))
	_, lambda, err := dualOf(h, mat.DenseCopyOf(x).RawMatrix().Data, k)
	if err != nil {
		return nil, err
	}
	f, total, err := dualFactor(lambda, k)
	if err != nil {
		return nil, err
	}
	return &Dual{f.dense(), total}, nil
}

// LowerBound returns a number that the loss of no strategy can be below on a workload with the positive semidefinite
// Gram matrix h, which may be singular: ‖h^½ F‖_*²/Σ y_i, by the eigenvalues of FᵀhF, with the error of their computation
// subtracted. O(T³).
func (d *Dual) LowerBound(h *mat.SymDense) (float64, error) {
	steps := h.SymmetricDim()
	var half, product mat.Dense
	dense.Mul(&half, d.factor.T(), h)
	dense.Mul(&product, &half, d.factor)
	s := mat.NewSymDense(steps, nil)
	for i := range steps {
		for j := i; j < steps; j++ {
			s.SetSym(i, j, (product.At(i, j)+product.At(j, i))/2)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(s, false) {
		return 0, errors.New("eigenvalues for the lower bound did not converge")
	}
	values := eigen.Values(nil)
	// The products are off by γ_2T |Fᵀ||h||F|, whose norm is at most ‖F‖_F² tr(h), and so are all eigenvalues.
	norm := mat.Norm(d.factor, 2)
	wrong := 8 * float64(steps) * 0x1p-53 * norm * norm * mat.Trace(h)
	var nuclear float64
	for _, v := range values {
		nuclear += math.Sqrt(math.Max(0, v-wrong))
	}
	return finiteBound(nuclear, d.total, 1e-12)
}
