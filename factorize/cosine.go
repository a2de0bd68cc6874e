package factorize

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"mafalda/internal/dense"
)

// cosine takes symmetric n×n matrices to the basis of the discrete cosine transform (DCT-II) and back: with the
// orthogonal matrix U[t,j] ∝ cos(π(t+½)j/n), forward computes Uᵀ m U and backward U m Uᵀ. Both are matrix products,
// which are faster than fast transforms up to n of a few thousand, whatever the factors of n.
type cosine struct {
	n    int
	u    []float64 // U
	t    []float64 // Uᵀ
	half []float64
}

func newCosine(n int) *cosine {
	c := &cosine{n: n, u: make([]float64, n*n), t: make([]float64, n*n), half: make([]float64, n*n)}
	for j := range n {
		norm := math.Sqrt(2 / float64(n))
		if j == 0 {
			norm = math.Sqrt(1 / float64(n))
		}
		for t := range n {
			angle := (2*t + 1) * j % (4 * n) // in units of π/2n
			v := norm * math.Cos(math.Pi*float64(angle)/float64(2*n))
			c.u[t*n+j], c.t[j*n+t] = v, v
		}
	}
	return c
}

// forward transforms the symmetric m in place; the result is symmetric.
func (c *cosine) forward(m []float64) {
	dense.MulTo(c.half, c.t, m, c.n)
	dense.MulSymTo(m, c.t, c.half, c.n)
}

// backward inverts forward.
func (c *cosine) backward(m []float64) {
	dense.MulTo(c.half, c.u, m, c.n)
	dense.MulSymTo(m, c.u, c.half, c.n)
}

// diagonal returns u_jᵀ m u_j for every cosine, m symmetric.
func (c *cosine) diagonal(m []float64) []float64 {
	dense.MulTo(c.half, c.t, m, c.n)
	d := make([]float64, c.n)
	for j := range d {
		d[j] = floats.Dot(c.half[j*c.n:(j+1)*c.n], c.t[j*c.n:(j+1)*c.n])
	}
	return d
}
