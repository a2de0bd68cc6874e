package grids

import (
	"context"
	"fmt"
	"io"
	"math"

	"mafalda/cmd/internal/terminal"
	"mafalda/factorize"
	"mafalda/plan"
	"mafalda/study"
)

// ExportName is the folder of the export that merge makes inside the shards' folder.
const ExportName = "export"

// Layers are the strategies of nodes or groups as a grid. Those of nodes are independent of each other. Those of groups
// are found in rounds, each of which needs the one before: a shard computes its part of a round, and then what others
// have not yet.
type Layers struct {
	Runner   *Runner
	Dir      string // folder of the grid
	Shard    *ShardFlags
	Problem  plan.Problem // problem with its network
	Options  plan.Options
	Progress *terminal.Progress

	shared string // SHA-256 of the strategy that all searches begin with
}

// Solve finds strategies as plan.Options.Parts has it. Where other shards have yet to compute their parts, it has no results.
func (l *Layers) Solve(ctx context.Context, parts []factorize.Part,
	compute func(context.Context, factorize.Part) (factorize.Found, error)) ([]factorize.Found, error) {
	if l.shared == "" {
		l.shared = parts[0].Start
	}
	steps := float64(l.Problem.Schema.Steps())
	all := Study[factorize.Part, factorize.Found]{Dir: l.Dir, Spec: l.spec(), Cells: parts, Do: compute, Cell: "strategy",
		Files:  func([]study.Entry[factorize.Part, factorize.Found]) ([]study.File, error) { return nil, nil },
		Cost:   func(factorize.Part) float64 { return 2e-8 * math.Pow(steps, 3) },
		Memory: func(int) float64 { return l.Problem.Needs(l.Options).Memory }}
	if !l.Shard.IsPart() {
		found, _, err := all.Run(ctx, l.Runner, l.Progress)
		return found, err
	}
	mine, shard := all, *l.Shard
	mine.Shard = &shard
	if l.Options.Groups > 0 {
		shard.says = io.Discard // it is one of several rounds
	}
	if _, _, err := mine.Run(ctx, l.Runner, l.Progress); err != nil {
		return nil, err
	}
	p := l.Runner.Plan
	switch {
	case l.Options.Groups == 0: // the parts of the others are merge's
		return nil, nil
	case p != nil && p.Left() > 0:
		p.Open = true
		return nil, nil
	}
	found, _, err := all.Run(ctx, l.Runner, l.Progress)
	return found, err
}

// spec says whose the folder is. Searches start from the shared strategy, which every shard finds by itself: machines
// that round differently do not mix.
func (l *Layers) spec() study.Spec {
	s := study.Of("optimize")
	s.Inputs.Add("problem", l.Problem.Key())
	s.Inputs.Add("tolerance", l.Options.Tolerance)
	s.Inputs.Add("groups", l.Options.Groups)
	s.Inputs.Add("shared strategy", l.shared)
	return s
}

// Done says that the grid of a shard is complete, after all rounds.
func (l *Layers) Done() {
	fmt.Fprintf(l.Shard.says, "shard %v of the grid: all there; when the others have ended: mafalda merge %s\n", l.Shard.shard,
		terminal.Shown(l.Dir))
}
