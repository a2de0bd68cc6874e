package factorize

// metric approximates the inverse Hessian of the objective. The Hessian takes a direction V to the projection of
//
//	Λ V X⁻¹ + X⁻¹ V Λ.
//
// Optimal noise is nearly stationary in time, so cosines (the columns u_i of U, DCT-II) nearly diagonalize Λ and X⁻¹: with
// the Rayleigh quotients λ_i = u_iᵀΛu_i and ξ_i = u_iᵀX⁻¹u_i, dividing by λ_i ξ_j + ξ_i λ_j in the cosine basis nearly
// inverts the Hessian, and the projection on the mask comes last. The metric is symmetric and positive definite on the
// mask's space.
type metric struct {
	mask     mask
	cosine   *cosine
	quotient []float64 // T×T: 1/(λ_i ξ_j + ξ_i λ_j)
	gain     float64
	work     []float64
}

func newMetric(k mask) *metric {
	steps := k.schema.Steps()
	return &metric{mask: k, cosine: newCosine(steps), gain: 1,
		quotient: make([]float64, steps*steps), work: make([]float64, steps*steps)}
}

// refresh adapts the metric to the current X⁻¹ and Λ.
func (m *metric) refresh(inverse, lambda []float64) {
	x, l := m.rayleigh(inverse), m.rayleigh(lambda)
	n := len(l)
	for i := range n {
		for j := range n {
			m.quotient[i*n+j] = 1 / (l[i]*x[j] + x[i]*l[j])
		}
	}
}

// rayleigh returns u_jᵀ a u_j for every cosine.
func (m *metric) rayleigh(a []float64) []float64 {
	copy(m.work, a)
	m.cosine.forward(m.work)
	q := make([]float64, m.cosine.n)
	for j := range q {
		q[j] = m.work[j*len(q)+j] / m.cosine.normSquared(j)
	}
	return q
}

// fit sets the gain so that the metric M maps the change of gradient y, in the mask's space, to a step as long as the step
// s that caused it: sᵀy = yᵀMy.
func (m *metric) fit(s, y []float64) {
	copy(m.work, y)
	m.cosine.forward(m.work)
	n := m.cosine.n
	var sy, yMy float64
	for i := range n {
		for j := range n {
			at := i*n + j
			sy += s[at] * y[at]
			yMy += m.work[at] * m.work[at] * m.quotient[at] / (m.cosine.normSquared(i) * m.cosine.normSquared(j))
		}
	}
	if gain := sy / yMy; gain > 1e-3 && gain < 1e3 {
		m.gain = gain
	}
}

// solveTo writes the metric applied to the projected gradient g to dst.
func (m *metric) solveTo(dst, g []float64) {
	copy(dst, g)
	m.cosine.forward(dst)
	for i, q := range m.quotient {
		dst[i] *= q * m.gain
	}
	m.cosine.backward(dst)
	m.mask.project(dst)
}
