package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/internal/cli"
	"mafalda/internal/limits"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// splitFlags ask for more than one strategy.
type splitFlags struct {
	perNode bool
	groups  int
}

func (f *splitFlags) bind(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.perNode, "per-node", false, "a dense strategy for every node, exported as one n×T×T array")
	cmd.Flags().Var((*cli.WholeNumber)(&f.groups), "groups", "so many dense strategies that the nodes share, found by assigning and optimizing in turn")
}

func (f *splitFlags) wanted() bool { return f.perNode || f.groups > 0 }

// check refuses what does not go together with several strategies.
func (f *splitFlags) check(cmd *cobra.Command, j *job) error {
	switch {
	case cmd.Flags().Changed("groups") && f.groups < 1:
		return cli.Usagef("--groups %d: must be at least 1", f.groups)
	case !f.wanted():
		return nil
	case f.perNode && f.groups > 0:
		return cli.Usagef("--per-node or --groups, not both")
	case !j.isDense():
		return cli.Usagef("--per-node and --groups are for --strategy dense")
	case j.kind == workload.Prefix:
		return cli.Usagef("the prefix workload has no nodes for --per-node or --groups")
	case !participation.IsPartition(j.schema):
		return cli.Usagef("--per-node and --groups are not for %s participation, whose patterns overlap", j.schema.Name())
	case j.flags.format != "npy":
		return cli.Usagef("several strategies are one array, which --format %s cannot hold: use npy", j.flags.format)
	}
	return nil
}

// checkRoom refuses what memory or the output's disk cannot hold.
func (f *splitFlags) checkRoom(nodes, steps int, out string) error {
	if !f.wanted() {
		return nil
	}
	if f.groups > nodes {
		return cli.Usagef("--groups %d: the graph has %d nodes", f.groups, nodes)
	}
	matrix := 8 * float64(steps) * float64(steps)
	what := fmt.Sprintf("strategies for %d nodes with T = %d", nodes, steps)
	if err := cli.CheckMemory(what, matrix*(3*float64(nodes)+35*float64(runtime.GOMAXPROCS(0))+60)); err != nil {
		return err
	}
	if out == "" {
		return nil
	}
	layers := f.groups
	if f.perNode {
		layers = nodes
	}
	need := 2 * matrix * float64(layers)
	if have, known := limits.FreeBytes(filepath.Dir(filepath.Clean(out))); known && need > have {
		return cli.Usagef("C.npy and C_inv.npy of %s take %s, the disk of %s has %s", what, cli.BytesText(need), out, cli.BytesText(have))
	}
	return nil
}

// split computes the strategies, starting from the shared one.
func (j *job) split(ctx context.Context, shared strategy.Strategy) (*factorize.Split, error) {
	var grams []*mat.SymDense
	err := workload.NodeGrams(ctx, j.network.Gossip.Matrix(), j.schema.Steps(), workload.Options{Kind: j.kind, Progress: func(done, total int) {
		j.progress.Show(float64(done)/float64(total), "Gram matrices of the nodes")
	}}, func(_ int, h *mat.SymDense) error {
		grams = append(grams, h)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("computing the Gram matrices of the nodes: %w", err)
	}
	j.progress.Clear()
	nodes := factorize.Nodes{Grams: grams, Shared: shared, Groups: j.flags.split.groups}
	s, err := nodes.Optimize(ctx, j.schema, factorize.Options{Gap: j.flags.tolerance, Progress: func(it factorize.Iteration) {
		j.progress.Show(float64(it.Done)/float64(it.Total), "strategies")
	}})
	j.progress.Clear()
	if err != nil {
		return nil, fmt.Errorf("optimizing for single nodes: %w", err)
	}
	return s, nil
}

// describeSplit returns who runs what for the manifest: one layer a node, or one a group.
func (f *splitFlags) describe(s *factorize.Split) *export.PerNode {
	p := &export.PerNode{Groups: f.groups, Distinct: len(s.Strategies), Losses: s.Losses, GroupBound: s.GroupBound, Layers: s.Of}
	if f.perNode {
		p.Layers = make([]int, len(s.Of))
		for i := range p.Layers {
			p.Layers[i] = i
		}
	}
	return p
}

// files returns the arrays of all layers.
func (f *splitFlags) files(s *factorize.Split) []export.File {
	strategies := s.Strategies
	if f.perNode {
		strategies = make([]strategy.Strategy, len(s.Of))
		for i, g := range s.Of {
			strategies[i] = s.Strategies[g]
		}
	}
	steps := strategies[0].Steps()
	return []export.File{
		export.NPYStack("C.npy", len(strategies), steps, func(i int) (mat.Matrix, error) {
			var c mat.TriDense
			strategies[i].StrategyTo(&c)
			return &c, nil
		}),
		export.NPYStack("C_inv.npy", len(strategies), steps, func(i int) (mat.Matrix, error) {
			var inverse mat.TriDense
			err := strategies[i].NoisingTo(&inverse)
			return &inverse, err
		})}
}
