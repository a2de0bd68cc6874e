package plan

import (
	"cmp"
	"context"
	"fmt"
	"runtime"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/internal/fault"
	"mafalda/internal/lists"
	"mafalda/optim"
	"mafalda/workload"
)

// splitMode computes strategies for single nodes or for groups of them, which start from the one that is best for all.
type splitMode struct{}

func (splitMode) takes(_ Problem, o Options) bool { return o.split() }

func (splitMode) check(p Problem, o Options) error {
	return cmp.Or(
		fault.If(o.PerNode && o.Groups > 0, "Groups", nil, "[PerNode] or [Groups], not both"),
		fault.If(p.Network != nil && o.Groups > p.nodes(), "Groups", o.Groups, "the graph has %d nodes", p.nodes()),
	)
}

func (splitMode) exactOnly() string { return "strategies of single nodes need the exact Gram matrices" }

func (splitMode) needs(j *job) Resources {
	count := float64(j.Options.Groups)
	if j.Options.PerNode {
		count = float64(j.Problem.nodes())
	}
	n := j.need(matricesOfSearch, count, denseTime(j.schema().Steps())*(1+count/2))
	if !j.hasNetwork() {
		return n
	}
	nodes, steps := float64(j.Problem.nodes()), float64(j.schema().Steps())
	single := floatBytes * steps * steps * (3*nodes + matricesOfNode*float64(runtime.GOMAXPROCS(0)) + matricesOfSearch)
	if single > n.Memory {
		n.What, n.Memory = fmt.Sprintf("strategies for %.0f nodes with T = %.0f", nodes, steps), single
	}
	return n
}

func (splitMode) solve(ctx context.Context, s *job) error {
	if err := s.search(ctx, s.optimizeNodes, s.baselines, s.judge); err != nil {
		return err
	}
	s.setQuality(s.Optimum.Quality, s.Optimum.LowerBound)
	s.Ending = endingOf(ctx, s.Optimum)
	if s.Split == nil && s.Options.Parts != nil && ctx.Err() == nil { // others compute them, and the rest is for who has them all
		return nil
	}
	if split := s.Split; split != nil {
		if s.Optimum.Status == optim.Converged {
			s.Ending.Iterations, s.Ending.Gap = split.Iterations, split.Gap
			if ctx.Err() == nil {
				s.Ending.Status = split.Status
			}
		}
		if split.LowerBound > 0 {
			s.setQuality(split.Quality, split.LowerBound)
		} else { // there was no time for them
			s.Split = nil
		}
	}
	return runSteps(ctx, s.setNoiseInTurn, s.compareOneLevel, s.comparePlain)
}

func (splitMode) describe(s *Solution, m *export.Manifest) {
	if s.Split != nil {
		m.PerNode, m.SharedLoss, m.Iterations = s.layers(), s.Optimum.Loss, s.Split.Iterations
		m.Strategy.Ratio = s.Split.Loss / s.Optimum.Loss
	}
}

// optimizeNodes computes strategies for single nodes or groups, starting from the shared one.
func (s *job) optimizeNodes(ctx context.Context) error {
	weights := s.Problem.Levels.weights()
	nodes := factorize.Nodes{Shared: s.Optimum.Strategy, Groups: s.Options.Groups, Parts: s.Options.Parts}
	err := workload.NodeGrams(ctx, s.Problem.Network.Gossip.Matrix(), s.schema().Steps(),
		s.source("").Options(s.counts("Gram matrices of the nodes")),
		func(i int, h *mat.SymDense) error {
			if weights != nil {
				h.ScaleSym(weights[i], h)
			}
			nodes.Grams = append(nodes.Grams, h)
			return nil
		})
	if isEnd(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("computing the Gram matrices of the nodes: %w", err)
	}
	split, err := nodes.Optimize(ctx, s.schema(), factorize.Options{Gap: s.Options.Tolerance,
		Progress: func(it factorize.Iteration) { s.counts("strategies")(it.Done, it.Total) }})
	if err != nil && !isEnd(err) {
		return fmt.Errorf("optimizing for single nodes: %w", err)
	}
	s.Split = split
	return nil
}

// layers returns who runs what: one layer a node, or one a group.
func (s *Solution) layers() *export.PerNode {
	split := s.Split
	p := &export.PerNode{Groups: s.Options.Groups, Distinct: len(split.Strategies), Losses: split.Losses,
		GroupBound: split.GroupBound, Layers: split.Of}
	if s.Options.PerNode {
		p.Layers = lists.UpTo(len(split.Of))
	}
	return p
}
