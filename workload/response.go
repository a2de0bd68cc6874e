package workload

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/parallel"
)

// Response is what the squared error of Toeplitz strategies depends on, without anything of size T×T. With r = 1/c, the
// coefficients of C⁻¹, the noise of a step shows l steps later as F_l = Σ_{j≤l} r_j W^(l-j+e), and counts T-l times:
//
//	tr(C⁻ᵀHC⁻¹) = Σ_l (T-l) ‖F_l‖²_F.
//
// W is known by modes: numbers θ, one-dimensional filters x_l = θ·x_{l-1} + r_l·θ^e·v, of which ‖F_l‖² is a quadratic
// form. O(T·modes) a pass, besides T·m² multiplications in matrix products where the quadratic forms are not diagonal.
type Response struct {
	steps      int
	stationary float64 // of the mode θ = 1
	cross      *modes  // linear in its states, times the state of the mode θ = 1, twice
	groups     []*modes
}

// modes are filters, and a quadratic (metric) or linear (left) form of their states.
type modes struct {
	theta, input []float64
	weight       float64    // of the form
	metric       *mat.Dense // nil: the identity
	left         []float64
}

// PrefixResponse is that of centralized learning.
func PrefixResponse(steps int) *Response { return &Response{steps: steps, stationary: 1} }

// For returns the same network's response for another number of steps.
func (r *Response) For(steps int) *Response {
	other := *r
	other.steps = steps
	return &other
}

// Response returns the estimate for T = steps.
func (s *Sketch) Response(steps int) (*Response, error) { return s.response(steps, s.probes) }

// LossError estimates the relative error of the squared error that Response gives to r: the standard error of the
// mean over the probes, which Factor is to be multiplied with (0 for unit vectors), and what few Lanczos steps may
// have made of it (rough).
func (s *Sketch) LossError(ctx context.Context, steps int, r []float64) (standard, truncation float64, err error) {
	all, err := s.Response(steps)
	if err != nil {
		return 0, 0, err
	}
	whole := all.Error(nil, r)
	rough, err := s.rough().Response(steps)
	if err != nil {
		return 0, 0, err
	}
	truncation = math.Abs(rough.Error(nil, r)-whole) / whole
	for i := range s.random() {
		if ctx.Err() != nil {
			return 0, 0, context.Cause(ctx)
		}
		one, err := s.response(steps, s.probes[i:i+1])
		if err != nil {
			return 0, 0, err
		}
		d := (one.Error(nil, r) - whole) / whole
		standard += d * d
	}
	n := float64(len(s.probes))
	return math.Sqrt(standard / max(1, n*(n-1))), truncation, nil
}

func (s *Sketch) response(steps int, probes []*run) (*Response, error) {
	r := &Response{steps: steps, stationary: s.stationary}
	var err error
	if s.cross != nil {
		if r.cross, err = s.cross.modes(s.first, s.cross.scale); err != nil {
			return nil, err
		}
	}
	for _, p := range probes {
		m, err := p.modes(s.first, p.scale/float64(len(probes)))
		if err != nil {
			return nil, err
		}
		r.groups = append(r.groups, m)
	}
	return r, nil
}

// Steps returns T.
func (r *Response) Steps() int { return r.steps }

// Error returns the squared error of the Toeplitz strategy whose inverse has the coefficients rs, the first T of them,
// and writes its derivative by them to grad unless that is nil. It panics if there are not T numbers.
func (r *Response) Error(grad, rs []float64) float64 {
	if len(rs) != r.steps || grad != nil && len(grad) != r.steps {
		panic(mat.ErrShape)
	}
	sums := make([]float64, r.steps) // the state of the mode θ = 1
	var sum float64
	for l, v := range rs {
		sum += v
		sums[l] = sum
	}
	force := make([]float64, r.steps) // ½ the derivative by that state
	var total float64
	for l, v := range sums {
		w := float64(r.steps - l)
		total += w * r.stationary * v * v
		force[l] = w * r.stationary * v
	}
	grads := make([][]float64, len(r.groups)+1)
	if grad != nil {
		for i := range grads {
			grads[i] = make([]float64, r.steps)
		}
	}
	if r.cross != nil {
		total += r.cross.linear(grads[len(r.groups)], rs, sums, force)
	}
	energies := make([]float64, len(r.groups))
	parallel.For(len(r.groups), func(i int) { energies[i] = r.groups[i].quadratic(grads[i], rs) })
	for _, e := range energies {
		total += e
	}
	if grad == nil {
		return total
	}
	clear(grad)
	for _, g := range grads {
		for l, v := range g {
			grad[l] += v
		}
	}
	var later float64
	for l := r.steps - 1; l >= 0; l-- {
		later += 2 * force[l]
		grad[l] += later
	}
	return total
}

// rowsAtOnce is how many states are multiplied with the metric at once, and blocksAtOnce how many times that are kept
// where no derivative is asked for.
const (
	rowsAtOnce   = 256
	blocksAtOnce = 8
)

// quadratic returns Σ_l (T-l) weight·x_lᵀMx_l, and writes its derivative to grad unless that is nil, which takes T
// states of memory.
func (m *modes) quadratic(grad, rs []float64) float64 {
	steps, size := len(rs), len(m.theta)
	kept := steps
	if grad == nil {
		kept = min(steps, rowsAtOnce*blocksAtOnce)
	}
	states := make([]float64, kept*size)
	state := make([]float64, size)
	energies := make([]float64, (steps+rowsAtOnce-1)/rowsAtOnce)
	for first := 0; first < steps; first += kept {
		count := min(kept, steps-first)
		for l, r := range rs[first : first+count] {
			if l%rowsAtOnce == 0 {
				vanish(state)
			}
			if math.Abs(r) < faint {
				r = 0
			}
			m.advance(state, r)
			copy(states[l*size:], state)
		}
		parallel.For((count+rowsAtOnce-1)/rowsAtOnce, func(i int) {
			from := i * rowsAtOnce
			rows := min(rowsAtOnce, count-from)
			energies[first/rowsAtOnce+i] = m.energy(states[from*size:(from+rows)*size], steps-first-from)
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

// vanish sets to 0 what is faint: before it becomes subnormal, which is slow.
func vanish(state []float64) {
	for j, x := range state {
		if math.Abs(x) < faint {
			state[j] = 0
		}
	}
}

// energy returns Σ_l (left-l) weight·x_lᵀMx_l over the rows x_l, which become (left-l)·weight·Mx_l.
func (m *modes) energy(x []float64, left int) float64 {
	size := len(m.theta)
	rows := len(x) / size
	y := x
	if m.metric != nil {
		y = make([]float64, rows*size)
		dense.Mul(mat.NewDense(rows, size, y), mat.NewDense(rows, size, x), m.metric)
	}
	var total float64
	for l := range rows {
		w := float64(left-l) * m.weight
		var dot float64
		for j, v := range x[l*size : (l+1)*size] {
			dot += v * y[l*size+j]
			x[l*size+j] = w * y[l*size+j]
		}
		total += w * dot
	}
	return total
}

// linear returns 2Σ_l (T-l) sums_l·weight·left·x_l, adds half its derivative by sums to force, and writes that by the
// other way of rs to grad unless it is nil.
func (m *modes) linear(grad, rs, sums, force []float64) float64 {
	steps, size := len(rs), len(m.theta)
	state := make([]float64, size)
	var total float64
	for l, v := range rs {
		m.advance(state, v)
		var y float64
		for j, x := range state {
			y += m.left[j] * x
		}
		w := float64(steps-l) * m.weight
		total += 2 * w * y * sums[l]
		force[l] += w * y
	}
	if grad == nil {
		return total
	}
	clear(state)
	for l := steps - 1; l >= 0; l-- {
		w := 2 * float64(steps-l) * m.weight * sums[l]
		var g float64
		for j, theta := range m.theta {
			state[j] = theta*state[j] + w*m.left[j]
			g += m.input[j] * state[j]
		}
		grad[l] = g
	}
	return total
}

// advance is one step of all filters.
func (m *modes) advance(state []float64, r float64) {
	input, theta := m.input[:len(state)], m.theta[:len(state)]
	for j, x := range state {
		state[j] = theta[j]*x + r*input[j]
	}
}

// pull writes factor times the derivative by r, given that by the states (T×m): the filters backwards.
func (m *modes) pull(grad, forces []float64, factor float64) {
	size := len(m.theta)
	state := make([]float64, size)
	for l := len(grad) - 1; l >= 0; l-- {
		var g float64
		for j, f := range forces[l*size : (l+1)*size] {
			state[j] = m.theta[j]*state[j] + f
			g += m.input[j] * state[j]
		}
		grad[l] = factor * g
	}
}
