package workload

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/parallel"
)

// modes are filters, x_l = θ·x_{l-1} + r_l·v, and a quadratic form of their states. With
// inner, there are two filters one after the other: y_l = inner·y_{l-1} + r_l·v, x_l = θ·x_{l-1} + y_l.
type modes struct {
	theta, input []float64
	inner        []float64  // nil: one filter
	weight       float64    // weight of the form
	metric       *mat.Dense // nil: the identity
	left         []float64  // vector of a linear form, for newMean
	mean         bool       // the first mode is θ = 1, and all else is its products with others
}

// respond turns the filters of the eigenvalues of W into the filters of the spec, which must be time-invariant.
func (m *modes) respond(s Spec) {
	l := s.lags(1)
	keep := 1 - s.WeightDecay
	if s.GradientTracking {
		m.inner = make([]float64, len(m.theta))
	}
	for j, theta := range m.theta {
		m.input[j] *= integerPower(theta, l.first)
		power := integerPower(theta, l.stride)
		m.theta[j] = keep * power
		if m.inner != nil {
			m.inner[j] = power
		}
	}
}

// rowsAtOnce is how many states are multiplied with the metric at once, and blocksAtOnce how many times that are kept
// where no derivative is asked for.
const (
	rowsAtOnce   = 256
	blocksAtOnce = 8
)

// quadratic returns Σ_l counts[l]·weight·x_lᵀMx_l, and writes its derivative to grad unless that is nil, which takes T
// states of memory, and the terms to each, unless that is nil.
func (m *modes) quadratic(grad, rs, counts, each []float64) float64 {
	steps, size := len(rs), len(m.theta)
	kept := steps
	if grad == nil {
		kept = min(steps, rowsAtOnce*blocksAtOnce)
	}
	states, state := make([]float64, kept*size), m.bank()
	energies := make([]float64, (steps+rowsAtOnce-1)/rowsAtOnce)
	for first := 0; first < steps; first += kept {
		count := min(kept, steps-first)
		for l, r := range rs[first : first+count] {
			copy(states[l*size:], state.advance(l, r))
		}
		parallel.For((count+rowsAtOnce-1)/rowsAtOnce, func(i int) {
			from := i * rowsAtOnce
			rows := min(rowsAtOnce, count-from)
			var terms []float64
			if each != nil {
				terms = each[first+from:]
			}
			energies[first/rowsAtOnce+i] = m.energy(states[from*size:(from+rows)*size], counts[first+from:], terms)
		})
	}
	if grad != nil {
		m.pull(grad, states, 2)
	}
	var total float64
	for _, e := range energies {
		total += e
	}
	return total
}

// faint is what has died down so far that its square is 0.
const faint = 1e-200

// bank is the state of the filters.
type bank struct {
	*modes
	x, y []float64
}

func (m *modes) bank() bank {
	b := bank{modes: m, x: make([]float64, len(m.theta))}
	if m.inner != nil {
		b.y = make([]float64, len(m.theta))
	}
	return b
}

// advance is step l of all filters. It returns the x, which are the bank's.
func (b bank) advance(l int, r float64) []float64 {
	b.vanish(l)
	if math.Abs(r) < faint {
		r = 0
	}
	x := b.x
	input, theta := b.input[:len(x)], b.theta[:len(x)]
	if b.inner == nil {
		for j, v := range x {
			x[j] = theta[j]*v + r*input[j]
		}
		return x
	}
	y, inner := b.y[:len(x)], b.inner[:len(x)]
	for j, v := range x {
		y[j] = inner[j]*y[j] + r*input[j]
		x[j] = theta[j]*v + y[j]
	}
	return x
}

// backpropagate is the adjoint of step l: given f_j, factor times the derivative by the x, and the derivative of later
// steps in the bank, it returns the derivative by r.
func (b bank) backpropagate(l int, f []float64, factor float64) (g float64) {
	b.vanish(l)
	if math.Abs(factor) < faint {
		factor = 0
	}
	for j, v := range f {
		b.x[j] = b.theta[j]*b.x[j] + factor*v
		if b.inner == nil {
			g += b.input[j] * b.x[j]
			continue
		}
		b.y[j] = b.inner[j]*b.y[j] + b.x[j]
		g += b.input[j] * b.y[j]
	}
	return g
}

// vanish sets to 0 what is faint, now and then: before it becomes subnormal, which is slow.
func (b bank) vanish(l int) {
	if l%rowsAtOnce != 0 {
		return
	}
	for _, state := range [][]float64{b.x, b.y} {
		for j, x := range state {
			if math.Abs(x) < faint {
				state[j] = 0
			}
		}
	}
}

// energy returns Σ_l counts[l]·weight·x_lᵀMx_l over the rows x_l, which become counts[l]·weight·Mx_l, and writes the
// terms to each, unless that is nil.
func (m *modes) energy(x, counts, each []float64) float64 {
	size := len(m.theta)
	rows := len(x) / size
	y := x
	if m.metric != nil {
		y = make([]float64, rows*size)
		dense.Mul(mat.NewDense(rows, size, y), mat.NewDense(rows, size, x), m.metric)
	}
	var total float64
	for l := range rows {
		w := counts[l] * m.weight
		var dot float64
		for j, v := range x[l*size : (l+1)*size] {
			dot += v * y[l*size+j]
			x[l*size+j] = w * y[l*size+j]
		}
		total += w * dot
		if each != nil {
			each[l] = w * dot
		}
	}
	return total
}

// pull writes factor times the derivative by r, given that by the states (T×m): the filters backwards.
func (m *modes) pull(grad, forces []float64, factor float64) {
	size := len(m.theta)
	state := m.bank()
	for l := len(grad) - 1; l >= 0; l-- {
		grad[l] = factor * state.backpropagate(l, forces[l*size:(l+1)*size], 1)
	}
}
