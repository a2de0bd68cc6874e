package workload

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/fault"
	"mafalda/internal/lists"
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
// Under a curvature there are modes for every direction, with 1 - λ - x in the place of ρ.
type Response struct {
	spec   Spec
	steps  int
	groups []*modes
	block  int // groups of one direction
}

// directions returns the response that respond gives for the specs of all directions.
func (o Options) directions(steps int, respond func(Spec) ([]*modes, error)) (*Response, error) {
	err := o.checkInvariant()
	all := o.Curvature
	switch {
	case err != nil:
		return nil, err
	case all == nil:
		all = Curvature{{X: 0, Weight: 1}}
	case !o.shrinks():
		return nil, fault.New("Curvature", nil,
			"of very many steps is for gradient descent where nobody misses a step: leave out [Momentum], [GradientTracking] and [MissedSteps]")
	}
	out := &Response{spec: o.Spec, steps: steps}
	for _, d := range all {
		if d.Weight == 0 {
			continue
		}
		s := o.Spec
		s.WeightDecay += d.X
		own, err := respond(s)
		if err != nil {
			return nil, err
		}
		for _, m := range own {
			m.weight *= d.Weight
		}
		out.groups, out.block = append(out.groups, own...), len(own)
	}
	return out, nil
}

// newMean returns the mode θ = 1 of a spec, whose square counts that often; with a linear form of other modes, which is in
// their left, twice its product with it, too.
func newMean(s Spec, counts float64, cross *modes) *modes {
	m := &modes{theta: []float64{1}, input: []float64{1}, weight: counts, mean: true}
	m.respond(s)
	if cross == nil {
		return m
	}
	size := 1 + len(cross.theta)
	m.theta, m.input, m.inner = append(m.theta, cross.theta...), append(m.input, cross.input...), append(m.inner, cross.inner...)
	m.weight, m.metric = 1, mat.NewDense(size, size, nil)
	m.metric.Set(0, 0, counts)
	for j, v := range cross.left {
		m.metric.Set(0, 1+j, cross.weight*v)
		m.metric.Set(1+j, 0, cross.weight*v)
	}
	return m
}

// CentralizedResponse returns the response of Spec.Centralized. It fails if the spec is not time-invariant.
func CentralizedResponse(s Spec, c Curvature, steps int) (*Response, error) {
	return Options{Spec: s.Centralized(), Curvature: c}.directions(steps, func(s Spec) ([]*modes, error) {
		return []*modes{newMean(s, 1, nil)}, nil
	})
}

// For returns the same network's response for another number of steps.
func (r *Response) For(steps int) *Response {
	other := *r
	other.steps = steps
	return &other
}

// Response returns the estimate for T = steps. Its error is a spec that is not time-invariant.
func (s *Sketch) Response(steps int) (*Response, error) { return s.response(steps, s.probes) }

// LossError estimates the relative error of a squared error, which a function computes of a Response for a number of
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
	return s.spec.directions(steps, func(spec Spec) (groups []*modes, err error) {
		var cross *modes
		if s.cross != nil {
			if cross, err = s.cross.modes(spec, s.cross.scale); err != nil {
				return nil, err
			}
		}
		groups = []*modes{newMean(spec, s.stationary, cross)}
		for _, p := range probes {
			m, err := p.modes(spec, p.scale/float64(len(probes)))
			if err != nil {
				return nil, err
			}
			groups = append(groups, m)
		}
		return groups, nil
	})
}

// Steps returns the number of steps, T.
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
	into := r.input(rs)
	room := func(wanted []float64) [][]float64 {
		return lists.Map(r.groups, func(*modes) []float64 {
			if wanted == nil {
				return nil
			}
			return make([]float64, r.steps)
		})
	}
	grads, terms, energies := room(grad), room(each), make([]float64, len(r.groups))
	parallel.For(len(energies), func(i int) { energies[i] = r.groups[i].quadratic(grads[i], into, counts, terms[i]) })
	clear(each)
	var total float64
	for i, e := range energies {
		if total += e; each != nil {
			floats.Add(each, terms[i])
		}
	}
	if grad != nil {
		r.backpropagate(grad, grads)
	}
	return total
}

// backpropagate writes the derivative by rs, given those by what goes into the modes.
func (r *Response) backpropagate(grad []float64, grads [][]float64) {
	clear(grad)
	for _, g := range grads {
		for l, v := range g {
			grad[l] += v
			if r.spec.GradientTracking && l > 0 {
				grad[l-1] -= v
			}
		}
	}
	r.spec.filter(r.steps).seriesBack(grad)
}

// input returns what goes into the modes for the coefficients rs: their updates and, with gradient tracking, how these
// change from step to step.
func (r *Response) input(rs []float64) []float64 {
	into := r.spec.filter(r.steps).series(rs)
	if r.spec.GradientTracking {
		for l := len(into) - 1; l > 0; l-- {
			into[l] -= into[l-1]
		}
	}
	return into
}
