package factorize

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"mafalda/internal/dense"
	"mafalda/internal/lists"
	"mafalda/internal/parallel"
	"mafalda/optim"
)

// metric approximates the inverse Hessian of the objective. The Hessian takes a direction V to the projection of
//
//	Λ V X⁻¹ + X⁻¹ V Λ.
//
// Optimal noise is nearly stationary in time, so cosines (the columns u_i of U, DCT-II) nearly diagonalize Λ and X⁻¹:
// with the Rayleigh quotients λ_i = u_iᵀΛu_i and ξ_i = u_iᵀX⁻¹u_i, dividing by λ_i ξ_j + ξ_i λ_j in the cosine basis
// nearly inverts the Hessian, and the projection on the mask comes last. The metric is symmetric and positive definite
// on the mask's space.
type metric struct {
	objective *maskedObjective
	cosine    *cosine
	inverse   []float64 // ξ, and λ: D_ij = 1/(λ_i ξ_j + ξ_i λ_j)
	lambda    []float64
	gain      float64
}

func newMetric(o *maskedObjective) *metric {
	return &metric{objective: o, cosine: newCosine(o.steps, o.scratch), gain: 1}
}

const refreshEvery = 5 // iterations between refreshes of the metric

// follow adapts the metric to an iteration.
func (m *metric) follow(it optim.Iteration) {
	if it.Count%refreshEvery == 0 {
		m.refresh(m.objective.inverse.RawSymmetric().Data, m.objective.lambda)
	}
	if it.Step != nil {
		m.fit(it.Step, it.Change)
	}
}

// refresh adapts the metric to the current X⁻¹ and Λ.
func (m *metric) refresh(inverse, lambda []float64) {
	m.inverse, m.lambda = m.cosine.diagonal(inverse), m.cosine.diagonal(lambda)
}

// entry returns D_ij.
func (m *metric) entry(i, j int) float64 {
	return 1 / (m.lambda[i]*m.inverse[j] + m.inverse[i]*m.lambda[j])
}

// fit sets the gain so that the metric M maps the change of gradient y, in the mask's space, to a step as long as the
// step s that caused it: sᵀy = yᵀMy.
func (m *metric) fit(s, y []float64) {
	n, scratch := m.cosine.n, m.cosine.scratch
	work := scratch.take()
	defer scratch.giveBack(work)
	copy(work, y)
	m.cosine.transform(work, m.cosine.t)
	var yMy float64
	for i := range n {
		for j, v := range work[i*n : (i+1)*n] {
			yMy += v * v * m.entry(i, j)
		}
	}
	sy := floats.Dot(s, y)
	if gain := sy / yMy; gain > 1e-3 && gain < 1e3 {
		m.gain = gain
	}
}

// solveTo writes the metric applied to the projected gradient g to dst.
func (m *metric) solveTo(dst, g []float64) {
	copy(dst, g)
	m.cosine.transform(dst, m.cosine.t)
	n := m.cosine.n
	parallel.For(n, func(i int) {
		for j := range n {
			dst[i*n+j] *= m.entry(i, j) * m.gain
		}
	})
	m.cosine.transform(dst, m.cosine.u)
	m.objective.mask.project(dst)
}

// cosine takes symmetric n×n matrices to the basis of the discrete cosine transform (DCT-II) and back: with the
// orthogonal matrix U[t,j] ∝ cos(π(t+½)j/n), these are Uᵀ m U and U m Uᵀ: matrix products, which are faster than fast
// transforms up to n of a few thousand, whatever the factors of n.
type cosine struct {
	n       int
	u       []float64 // U
	t       []float64 // Uᵀ
	scratch *scratch
}

func newCosine(n int, s *scratch) *cosine {
	c := &cosine{n: n, u: make([]float64, n*n), t: make([]float64, n*n), scratch: s}
	cosines := lists.Make(4*n, func(angle int) float64 { // in units of π/2n
		return math.Cos(math.Pi * float64(angle) / float64(2*n))
	})
	parallel.For(n, func(j int) {
		norm := math.Sqrt(2 / float64(n))
		if j == 0 {
			norm = math.Sqrt(1 / float64(n))
		}
		for t := range n {
			c.t[j*n+t] = norm * cosines[(2*t+1)*j%(4*n)]
		}
	})
	copy(c.u, c.t)
	dense.Transpose(c.u, n)
	return c
}

// transform replaces the symmetric m by B m Bᵀ: Uᵀ is to the basis, and U back.
func (c *cosine) transform(m, b []float64) {
	half := c.scratch.take()
	defer c.scratch.giveBack(half)
	dense.MulTo(half, b, m, c.n)
	dense.MulSymTo(m, b, half, c.n)
}

// diagonal returns u_jᵀ m u_j for every cosine, m symmetric.
func (c *cosine) diagonal(m []float64) []float64 {
	half := c.scratch.take()
	defer c.scratch.giveBack(half)
	dense.MulTo(half, c.t, m, c.n)
	return lists.Make(c.n, func(j int) float64 { return floats.Dot(half[j*c.n:(j+1)*c.n], c.t[j*c.n:(j+1)*c.n]) })
}
