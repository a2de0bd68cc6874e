package plan

import (
	"context"
	"fmt"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/participation"
)

// SamplingCurves are errors at privacies (ε, δ), as Solution.ErrorAtPrivacy, under zero-out adjacency.
type SamplingCurves struct {
	Epsilons []float64
	Delta    float64
	Cyclic   []float64   // of the dense optimum for batches in turn, at every ε
	Bands    []BandCurve // with Poisson sampling
}

// BandCurve is the error of the best strategy of so many bands, at every ε.
type BandCurve struct {
	Bandwidth int
	Errors    []float64
}

// SamplingCurve computes the error at several ε for 1, 2, 4, … and b bands with Poisson sampling, and that for
// batches in turn. Strategies do not depend on ε, noise multipliers do. The errors are those of Problem.Check with
// Options.Sampling Poisson, of Epsilons if there are none, and those of the accountant.
func SamplingCurve(ctx context.Context, p Problem, epsilons []float64, delta float64) (*SamplingCurves, error) {
	if len(epsilons) == 0 {
		return nil, fault.New("Epsilons", nil, "there are none")
	}
	o := Options{Sampling: participation.Poisson,
		Privacy: &Privacy{Target: accounting.Target{Epsilon: epsilons[0], Delta: delta}}}
	if err := p.Check(o); err != nil {
		return nil, err
	}
	o = o.filled(p)
	g, err := p.method(o)
	if err != nil {
		return nil, err
	}
	s := &solver{Solution: &Solution{Problem: p, Options: o, Gram: *g}}
	if err := s.measures(ctx); err != nil {
		return nil, err
	}
	all := &SamplingCurves{Epsilons: epsilons, Delta: delta}
	if s.Cyclic, err = s.dense(ctx, p.Schema, factorize.Options{Gap: o.Tolerance}); err != nil {
		return nil, err
	}
	for _, epsilon := range epsilons {
		e, err := cyclicError(s.Cyclic, &Privacy{Target: accounting.Target{Epsilon: epsilon, Delta: delta}})
		if err != nil {
			return nil, err
		}
		all.Cyclic = append(all.Cyclic, e)
	}
	for _, w := range someBands(p.Schema.Separation()) {
		c, err := s.bandCurve(ctx, w, all)
		if err != nil {
			return nil, fmt.Errorf("%d bands: %w", w, err)
		}
		all.Bands = append(all.Bands, c)
	}
	return all, ctx.Err()
}

// someBands are the powers of two below b, and b.
func someBands(b int) []int {
	var all []int
	for w := 1; w < b; w *= 2 {
		all = append(all, w)
	}
	return append(all, b)
}

func (s *solver) bandCurve(ctx context.Context, bands int, all *SamplingCurves) (BandCurve, error) {
	steps := s.schema().Steps()
	single, err := participation.NewCyclic(steps, 1, steps)
	if err != nil {
		return BandCurve{}, err
	}
	r, err := factorize.Banded{Bandwidth: bands}.Optimize(ctx, s.objective(), single,
		factorize.Options{Gap: s.Options.Tolerance})
	if err != nil {
		return BandCurve{}, err
	}
	c := BandCurve{Bandwidth: bands}
	for _, epsilon := range all.Epsilons {
		multiplier, err := noiseFor(poissonRounds(s.schema(), bands), epsilon, all.Delta)
		if err != nil {
			return BandCurve{}, err
		}
		c.Errors = append(c.Errors, errorAtPrivacy(multiplier, 1, r.SquaredError))
	}
	return c, ctx.Err()
}

// ProblemOf returns the problem that an export was made for, on its network (see NetworkOf); nil for the prefix
// workload.
func ProblemOf(e *export.Export, n *graph.Network) (Problem, error) {
	m := e.Manifest
	spec, err := m.Spec()
	if err == nil {
		spec, err = attached(spec, n)
	}
	if err != nil {
		return Problem{}, err
	}
	p := Problem{Network: n, Workload: spec, SchemaFile: m.Participation.Source}
	if p.Schema, err = m.Participation.Of(m.Steps); err != nil {
		return Problem{}, err
	}
	if p.Objective, err = objectiveOf(m); err != nil {
		return Problem{}, err
	}
	if g := m.Gram; g != nil && n != nil {
		p.Gram = Gram{Probes: g.Probes, LanczosSteps: g.LanczosSteps, Seed: g.Seed}
		if p.Gram.Method, err = ParseGramMethod(g.Method); err != nil {
			return Problem{}, err
		}
	}
	return p, nil
}
