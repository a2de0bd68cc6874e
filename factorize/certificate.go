package factorize

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
)

// certificate computes the bound of LowerBound again and again, near the optimum, without singular values. For N = R F
// and every matrix U of spectral norm at most one ‖N‖_* ≥ ⟨N, U⟩, with equality for the polar factor of N. At the
// optimum that is Q = R⁻ᵀ X F; near it Q is nearly orthogonal, E = QᵀQ - I is small, and
//
//	U = Q p(E),   p(e) = 1 - e/2 + 3e²/8 - 5e³/16
//
// is orthogonal up to fourth order of E, and the polar factor of N up to first order, so that the bound is tight up to
// second order. p is a Taylor polynomial of (1+e)^(-1/2) of odd order: it is nowhere above that function, and not
// below its negative for e ≤ 1.6. So the singular values √(1+e)·p(e) of U are at most one wherever Q comes from, and
// the bound is a bound.
type certificate struct {
	mask       mask
	rootSource *mat.TriDense
	root       []float64
	n, q       []float64 // Nᵀ and Qᵀ, T×T
	e, b, e2   []float64 // E, NᵀQ, E²
	excessNorm float64   // ‖E‖_F at the last bound
}

// largestExcess bounds the Frobenius norm of E; beyond it Q is shrunk.
const largestExcess = 1.6

func newCertificate(root *mat.TriDense, k mask) *certificate {
	c := &certificate{mask: k, rootSource: root, root: mat.DenseCopyOf(root).RawMatrix().Data}
	for _, m := range []*[]float64{&c.n, &c.q, &c.e, &c.b, &c.e2} {
		*m = make([]float64, len(c.root))
	}
	return c
}

// certificateSlack is the relative rounding that the bound gives away: E is known up to γ‖Q‖_F² with ‖Q‖_F² = T (which
// enters the norm of U up to a factor 3), and the inner products up to γ√T, both squared in the bound.
func certificateSlack(steps int) float64 {
	t := float64(steps)
	return 8 * t * t * 0x1p-53
}

// bound returns the lower bound from X and Λ = X⁻¹HX⁻¹, both T×T row by row. It costs a triangular solve and four
// products of T×T matrices.
func (c *certificate) bound(x, lambda []float64) (float64, error) {
	steps := c.mask.schema.Steps()
	factor, total, err := dualFactor(lambda, c.mask)
	if err != nil {
		return 0, err
	}
	factor.mulTo(c.n, c.root)
	dense.Transpose(c.n, steps)
	factor.mulTo(c.q, x)
	dense.Transpose(c.q, steps)
	q := blas64.General{Rows: steps, Cols: steps, Stride: steps, Data: c.q}
	gemm.Trsm(blas.Right, blas.NoTrans, 1, c.rootSource.RawTriangular(), q)
	c.normalize()
	c.excessNorm = floats.Norm(c.e, 2)

	dense.MulTo(c.b, c.n, c.q, steps)
	dense.MulSymTo(c.e2, c.e, c.e, steps)
	be := c.n
	dense.MulTo(be, c.b, c.e, steps)
	var trace float64
	for i := range steps {
		trace += c.b[i*steps+i]
	}
	nuclear := trace - floats.Dot(c.b, c.e)/2 + 3*floats.Dot(c.b, c.e2)/8 - 5*floats.Dot(be, c.e2)/16
	return finiteBound(math.Max(nuclear, 0), total, certificateSlack(steps))
}

// normalize scales Q to ‖Q‖_F² = T, or less where E would be too large, and computes E.
func (c *certificate) normalize() {
	steps := c.mask.schema.Steps()
	scale := float64(steps) / floats.Dot(c.q, c.q)
	floats.Scale(math.Sqrt(scale), c.q)
	dense.MulSymTo(c.e, c.q, c.q, steps)
	if excess := c.excess(); excess > largestExcess {
		// ‖sQᵀQ - I‖ ≤ s‖QᵀQ - I‖ + (1-s)√T does not help; but e ≤ 1.6 is needed for the largest eigenvalue only, and
		// 1 + e ≤ 1 + ‖E‖_F, so that s = 2.6/(1+‖E‖_F) suffices.
		shrink := (1 + largestExcess) / (1 + excess)
		floats.Scale(math.Sqrt(shrink), c.q)
		for i := range steps {
			c.e[i*steps+i]++
		}
		floats.Scale(shrink, c.e)
		for i := range steps {
			c.e[i*steps+i]--
		}
	}
}

// excess subtracts the identity from QᵀQ in e and returns the Frobenius norm of what is left.
func (c *certificate) excess() float64 {
	steps := c.mask.schema.Steps()
	for i := range steps {
		c.e[i*steps+i]--
	}
	return floats.Norm(c.e, 2)
}
