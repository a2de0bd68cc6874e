package plan

import (
	"context"
	"math"
	"slices"

	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/measure"
)

// ratioGap is how close to the least worst ratio the search for it ends.
const ratioGap = 1e-4

// unknown reports whether the problem is one of several, unknown which.
func (p Problem) unknown() bool { return len(p.Others) > 0 || p.Curvature.Unknown() }

// known returns the network that it will be; nil without a network, or if it is unknown.
func (p Problem) known() *graph.Network {
	if len(p.Others) > 0 {
		return nil
	}
	return p.Network
}

// members returns the problem on each of its networks.
func (p Problem) members() []Problem {
	return lists.Map(append([]*graph.Network{p.Network}, p.Others...), func(n *graph.Network) Problem {
		one := p
		one.Network, one.Others = n, nil
		return one
	})
}

// hedge finds the mixture of a family that is the least favourable: the strategy that is best for it has the least worst
// ratio.
func (s *job) hedge(ctx context.Context) error {
	if !s.Problem.unknown() {
		return nil
	}
	var err error
	s.family, s.reached, err = s.source("one problem after the other").Family(ctx, s.Options.Class, s.schema(), s.Options.Tolerance)
	if err != nil {
		return err
	}
	s.show("least worst ratio", 0)
	r, err := factorize.OptimizeFamily(ctx, s.Options.Class, s.family, s.schema(), factorize.Options{Gap: ratioGap})
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mixture = slices.Clone(r.Weights)
	for i, o := range s.family.Optima {
		s.mixture[i] *= slices.Max(s.family.Optima) / o
	}
	if len(s.Problem.Others) == 0 {
		spectrum := *s.Problem.Curvature
		spectrum.Directions, s.Problem.Curvature = s.mixture, &spectrum
	}
	return nil
}

// setFamily says what not knowing the problem costs.
func (s *job) setFamily(context.Context) (err error) {
	if !s.Problem.unknown() {
		return nil
	}
	best := s.best()
	s.Family, err = measure.DescribeFamily(best.Strategy, s.schema(), s.family, s.mixture, s.reached, math.Max(s.LowerBound, best.Bound()))
	if err != nil || len(s.Problem.Others) == 0 {
		return err
	}
	s.Family.Weights = s.mixture
	for _, p := range s.Problem.members() {
		s.Family.Graphs = append(s.Family.Graphs, p.Network.Origin)
	}
	return nil
}
