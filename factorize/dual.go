package factorize

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/participation"
)

// Dual is a feasible point Λ = FFᵀ of the dual problem: it bounds the loss of every strategy on every workload, and well
// on those that it fits.
type Dual struct {
	factor  *mat.Dense // F, or FV for many steps, V the eigenvectors of Fᵀh₀F for the h₀ that it was made for
	squared float64    // ‖F‖_F², rounded up
	total   float64    // Σ y_i, rounded up
}

// manyEigenvalues are more than are worth computing where nearly all of a nuclear norm can be had for less.
const manyEigenvalues = 128

// NewDual returns the dual point that x makes for the Gram matrix h, both T×T, as LowerBound uses it. It fits workloads
// like h if x is close to its optimal X.
func NewDual(h, x *mat.SymDense, schema participation.Schema) (*Dual, error) {
	k := denseMask(participation.Relaxation(schema))
	o, err := dualOf(h, numbersOf(x), k)
	if err != nil {
		return nil, err
	}
	f, total, err := dualFactor(o.lambda, k)
	if err != nil {
		return nil, err
	}
	d := &Dual{factor: f.dense(), total: total}
	norm := mat.Norm(d.factor, 2)
	d.squared = norm * norm * (1 + 1e-9) // of FV, too
	if k.schema.Steps() > manyEigenvalues {
		return d, d.rotate(h)
	}
	return d, nil
}

// rotate replaces F by FV, largest eigenvalues first. As V is orthogonal but for rounding, nuclear norms change by no
// more than that.
func (d *Dual) rotate(h *mat.SymDense) error {
	_, v, ok := dense.Spectrum(d.product(h))
	if !ok {
		return errEigen
	}
	var rotated mat.Dense
	steps := h.SymmetricDim()
	for i := range steps {
		slices.Reverse(v.RawRowView(i))
	}
	dense.Mul(&rotated, d.factor, v)
	d.factor = &rotated
	return nil
}

// product returns FᵀhF. It is off by γ_2T |Fᵀ||h||F|, whose norm is at most ‖F‖_F² tr(h): see wrong.
func (d *Dual) product(h *mat.SymDense) *mat.SymDense {
	var half, product mat.Dense
	dense.Mul(&half, d.factor.T(), h)
	dense.Mul(&product, &half, d.factor)
	return symmetricOf(&product)
}

// symmetricOf rounds the asymmetry of a product away.
func symmetricOf(m *mat.Dense) *mat.SymDense {
	n, _ := m.Dims()
	return dense.NewSym(n, func(i, j int) float64 { return (m.At(i, j) + m.At(j, i)) / 2 })
}

// wrong bounds the error of a product, and so of its eigenvalues, with the rounding of what is done with it after that.
func (d *Dual) wrong(h *mat.SymDense) float64 {
	return 8 * float64(h.SymmetricDim()) * 0x1p-53 * d.squared * mat.Trace(h)
}

// LowerBound returns a lower bound of the loss of every strategy on a workload with the positive semidefinite
// Gram matrix h, which may be singular: ‖h^½ F‖_*²/Σ y_i, by the eigenvalues of FᵀhF, with the error of their computation
// subtracted. O(T³). Of many steps it is a fraction of that bound, nearly all of it for workloads that are like that
// which the point was made for.
func (d *Dual) LowerBound(h *mat.SymDense) (float64, error) {
	s, wrong := d.product(h), d.wrong(h)
	if h.SymmetricDim() > manyEigenvalues {
		return d.byBlocks(s, wrong)
	}
	values, err := eigenvalues(s)
	if err != nil {
		return 0, err
	}
	var nuclear float64
	for _, v := range values {
		nuclear += math.Sqrt(math.Max(0, v-wrong))
	}
	return finiteBound(nuclear, d.total, 1e-12)
}

// byBlocks is LowerBound by a Cholesky factor L of s, known but for wrong: the nuclear norm of L is at least the sum of
// its diagonal blocks' nuclear norms (pinching), and where s is nearly diagonal, that is nearly all of it. With s shifted to
// be positive definite beyond rounding,
//
//	LLᵀ ≤ FᵀhF + shift·I,    ‖L‖_* ≤ ‖h^½ F‖_* + T √shift.
func (d *Dual) byBlocks(s *mat.SymDense, wrong float64) (float64, error) {
	const block = 48
	steps := s.SymmetricDim()
	lower := blas64.Symmetric{Uplo: blas.Lower, N: steps, Stride: steps, Data: make([]float64, steps*steps)}
	for i := range steps {
		for j := range i + 1 {
			lower.Data[i*steps+j] = s.At(j, i)
		}
		lower.Data[i*steps+i] += 2 * wrong
	}
	factor, ok := gemm.Potrf(lower)
	if !ok {
		return 0, nil
	}
	nuclear := -float64(steps) * math.Sqrt(4*wrong)
	for from := 0; from < steps; from += block {
		size := min(block, steps-from)
		diagonal := mat.NewDense(size, size, nil)
		for i := range size {
			copy(diagonal.RawRowView(i)[:i+1], factor.Data[(from+i)*factor.Stride+from:])
		}
		values, err := singularValues(diagonal)
		if err != nil {
			return 0, err
		}
		nuclear += floats.Sum(values)
	}
	return finiteBound(math.Max(nuclear, 0), d.total, 1e-7) // which is more than what rotate has rounded
}
