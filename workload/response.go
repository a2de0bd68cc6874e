package workload

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/fault"
	"mafalda/internal/parallel"
)

// Response is what the squared error of Toeplitz strategies depends on, without anything of size T×T. With r = 1/c, the
// coefficients of C⁻¹, the noise of a step shows l steps later as F_l = Σ_{j≤l} r_j W^(l-j+e), and counts T-l times:
//
//	tr(C⁻ᵀHC⁻¹) = Σ_l (T-l) ‖F_l‖²_F.
//
// W is known by modes: numbers θ, one-dimensional filters x_l = θ·x_{l-1} + r_l·θ^e·v, of which ‖F_l‖² is a quadratic
// form. O(T·modes) a pass, besides T·m² multiplications in matrix products where the quadratic forms are not diagonal.
//
// Other workloads than the plain one need to be time-invariant. Momentum is a filter of r before all modes, decay makes
// ρθ of θ, ρ = 1 - λ, several rounds of gossip its power; gradient tracking takes the differences of r through two such
// filters, one after the other. With weights, what counts T-l times counts as much as the steps from l on.
//
// Under a curvature it is the weighted sum of the responses along its directions, with 1 - λ - x in the place of ρ.
type Response struct {
	along      []along // directions of a curvature; nil: gradients do not react, and what follows counts
	spec       Spec
	steps      int
	stationary float64 // of the mode θ = 1
	cross      *modes  // linear in its states, times the state of the mode θ = 1, twice
	groups     []*modes
}

// along is a direction's part of a Response.
type along struct {
	weight float64
	*Response
}

// directions returns the response that respond gives for the spec of every direction.
func (r reacting) directions(steps int, respond func(Spec) (*Response, error)) (*Response, error) {
	err := r.checkInvariant()
	switch {
	case err != nil:
		return nil, err
	case r.curvature == nil:
		return respond(r.Spec)
	case !r.shrinks():
		return nil, fault.New("Curvature", nil,
			"of very many steps is for gradient descent where nobody misses a step: leave out [Momentum], [GradientTracking] and [MissedSteps]")
	}
	out := &Response{spec: r.Spec, steps: steps}
	for _, d := range r.curvature {
		s := r.Spec
		s.WeightDecay += d.X
		one, err := respond(s)
		if err != nil {
			return nil, err
		}
		out.along = append(out.along, along{d.Weight, one})
	}
	return out, nil
}

// mapped returns the response whose parts are those that f returns.
func (r *Response) mapped(f func(*Response) (*Response, error)) (*Response, error) {
	out := &Response{spec: r.spec, steps: r.steps}
	for _, d := range r.along {
		one, err := f(d.Response)
		if err != nil {
			return nil, err
		}
		out.steps = one.steps
		out.along = append(out.along, along{d.weight, one})
	}
	return out, nil
}

// CentralizedResponse returns the response of Spec.Centralized. It fails if the spec is not time-invariant.
func CentralizedResponse(s Spec, c Curvature, steps int) (*Response, error) {
	return reacting{s.Centralized(), c}.directions(steps, func(s Spec) (*Response, error) {
		return &Response{spec: s, steps: steps, stationary: 1}, nil
	})
}

// For returns the same network's response for another number of steps.
func (r *Response) For(steps int) *Response {
	if r.along != nil {
		other, _ := r.mapped(func(one *Response) (*Response, error) { return one.For(steps), nil })
		return other
	}
	other := *r
	other.steps = steps
	return &other
}

// Response returns the estimate for T = steps. Its error is a spec that is not time-invariant.
func (s *Sketch) Response(steps int) (*Response, error) { return s.response(steps, s.probes) }

// LossError estimates the relative error of a squared error, which a function computes of a Response for so many
// steps: the standard error of the mean over the probes, which Factor is to be multiplied with (0 for unit vectors),
// and what few Lanczos steps may have made of it (rough).
func (s *Sketch) LossError(
	ctx context.Context, steps int, of func(*Response) (float64, error),
) (standard, truncation float64, err error) {
	by := func(s *Sketch, probes []*run) (float64, error) {
		r, err := s.response(steps, probes)
		if err != nil {
			return 0, err
		}
		return of(r)
	}
	whole, err := by(s, s.probes)
	if err != nil {
		return 0, 0, err
	}
	rough := s.rough()
	coarse, err := by(rough, rough.probes)
	if err != nil {
		return 0, 0, err
	}
	truncation = math.Abs(coarse-whole) / whole
	for i := range s.random() {
		if ctx.Err() != nil {
			return 0, 0, context.Cause(ctx)
		}
		single, err := by(s, s.probes[i:i+1])
		if err != nil {
			return 0, 0, err
		}
		d := (single - whole) / whole
		standard += d * d
	}
	n := float64(len(s.probes))
	return math.Sqrt(standard / max(1, n*(n-1))), truncation, nil
}

func (s *Sketch) response(steps int, probes []*run) (*Response, error) {
	return s.spec.directions(steps, func(spec Spec) (r *Response, err error) {
		r = &Response{spec: spec, steps: steps, stationary: s.stationary}
		if s.cross != nil {
			if r.cross, err = s.cross.modes(spec, s.cross.scale); err != nil {
				return nil, err
			}
		}
		for _, p := range probes {
			m, err := p.modes(spec, p.scale/float64(len(probes)))
			if err != nil {
				return nil, err
			}
			r.groups = append(r.groups, m)
		}
		return r, nil
	})
}

// Steps returns T.
func (r *Response) Steps() int { return r.steps }

// Error returns the squared error of the Toeplitz strategy whose inverse has the coefficients rs, the first T of them,
// and writes its derivative by them to grad unless that is nil. It panics if there are not T numbers.
func (r *Response) Error(grad, rs []float64) float64 {
	if len(rs) != r.steps || grad != nil && len(grad) != r.steps {
		panic(mat.ErrShape)
	}
	return r.error(grad, rs, r.spec.Weights.counts(r.steps), nil)
}

// error is Error where ‖F_l‖² counts that often. It writes the terms of the sum to each, unless that is nil.
func (r *Response) error(grad, rs, counts, each []float64) float64 {
	if r.along != nil {
		return r.errorAlong(grad, rs, counts, each)
	}
	x := r.spec.filter(r.steps).series(rs)
	keep := 1 - r.spec.WeightDecay
	sums := make([]float64, r.steps) // the state of the mode θ = 1
	var sum float64
	for l, v := range x {
		sum = keep*sum + v
		sums[l] = sum
	}
	force := make([]float64, r.steps) // ½ the derivative by that state
	var total float64
	for l, v := range sums {
		total += counts[l] * r.stationary * v * v
		if each != nil {
			each[l] = counts[l] * r.stationary * v * v
		}
		force[l] = counts[l] * r.stationary * v
	}
	into := x
	if r.spec.GradientTracking {
		into = differences(x)
	}
	grads := make([][]float64, len(r.groups)+1)
	if grad != nil {
		for i := range grads {
			grads[i] = make([]float64, r.steps)
		}
	}
	energies, terms := make([]float64, len(r.groups)+1), make([][]float64, len(r.groups)+1)
	parallel.For(len(energies), func(i int) {
		if each != nil {
			terms[i] = make([]float64, r.steps)
		}
		switch {
		case i < len(r.groups):
			energies[i] = r.groups[i].quadratic(grads[i], into, counts, terms[i])
		case r.cross != nil:
			energies[i] = r.cross.linear(grads[i], into, counts, sums, force, terms[i])
		}
	})
	for i, e := range energies {
		if total += e; each != nil {
			floats.Add(each, terms[i])
		}
	}
	if grad != nil {
		r.backpropagate(grad, grads, force)
	}
	return total
}

// errorAlong is error, summed over the directions.
func (r *Response) errorAlong(grad, rs, counts, each []float64) float64 {
	own := func(sum []float64) []float64 {
		if sum == nil {
			return nil
		}
		clear(sum)
		return make([]float64, len(sum))
	}
	part, terms := own(grad), own(each)
	var total float64
	for _, d := range r.along {
		total += d.weight * d.error(part, rs, counts, terms)
		if grad != nil {
			floats.AddScaled(grad, d.weight, part)
		}
		if each != nil {
			floats.AddScaled(each, d.weight, terms)
		}
	}
	return total
}

// backpropagate writes the derivative by rs, given those by what goes into the modes and, halved, by the sums.
func (r *Response) backpropagate(grad []float64, grads [][]float64, force []float64) {
	clear(grad)
	for _, g := range grads {
		for l, v := range g {
			grad[l] += v
			if r.spec.GradientTracking && l > 0 {
				grad[l-1] -= v
			}
		}
	}
	keep := 1 - r.spec.WeightDecay
	var later float64
	for l := r.steps - 1; l >= 0; l-- {
		later = keep*later + 2*force[l]
		grad[l] += later
	}
	r.spec.filter(r.steps).seriesBack(grad)
}

// differences returns x_l - x_(l-1), x_(-1) = 0.
func differences(x []float64) []float64 {
	d := make([]float64, len(x))
	var before float64
	for l, v := range x {
		d[l] = v - before
		before = v
	}
	return d
}
