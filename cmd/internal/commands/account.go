package commands

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/internal/limits"
	"mafalda/participation"
	"mafalda/threat"
)

type accountFlags struct {
	attackable
	reaction     flags.ReactionFlags
	attacker     string
	bound        threat.Measure
	sigma, delta float64
	growth       string
	gridFlags

	*results.Accounts // once flags and input have been checked
	progress          *terminal.Progress
}

// NewAccount returns mafalda account, run for a runner.
func NewAccount(runner *grids.Runner) *cobra.Command {
	return newPatientCommand("account", &accountFlags{gridFlags: gridFlags{outcomeFlags: outcomeFlags{runner: runner}}})
}

func (f *accountFlags) run(cmd *cobra.Command) error {
	if err := f.shard.Parse(cmd, f.runner, f.Dir); err != nil {
		return err
	}
	lengths, err := f.lengths(cmd)
	if err != nil {
		return err
	}
	if err := f.prepare(cmd, lengths); err != nil {
		return err
	}
	if lengths != nil {
		return f.runGrowth(cmd, lengths)
	}
	defer limits.Collect(15)() // large matrices live long, and much garbage beside them
	f.progress.At = "attackers"
	assess := func(ctx context.Context, c threat.Cell) (threat.Report, error) {
		r, err := f.Study.Assess(ctx, c)
		if r.Unclear {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: what is seen without noise cannot be told from rounding; local DP is reported\n",
				r.Attacker)
		}
		return r, err
	}
	reports, whole, err := runGrid(&f.gridFlags, cmd, grids.Study[threat.Cell, threat.Report]{Spec: f.Spec(), Cells: f.Cells(),
		Cell: "attacker", Do: assess, Files: f.Files, Workers: f.Study.Workers(), Cost: f.Study.Seconds, Memory: f.Study.Memory},
		f.progress)
	if err != nil || !whole {
		return err
	}
	for i, a := range f.Attackers {
		reports[i].Attacker = a.Name(f.Network.Graph) // a coalition may have been named in another order
	}
	return f.show(cmd, f.data(reports), f.Document(reports))
}

// prepare checks flags and input. With lengths, of --growth, they say how many steps there are.
func (f *accountFlags) prepare(cmd *cobra.Command, lengths []int) error {
	a := &results.Accounts{Options: threat.AssessOptions{Alpha: 2, Delta: f.delta, Measure: f.bound}, Style: f.style}
	s, o := &a.Scenario, &a.Options
	var schema participation.Schema
	err := fault.First(
		func() (err error) {
			if lengths == nil {
				schema, err = f.schema.ChooseEvery(cmd)
				return err
			}
			longest := slices.Max(lengths)
			schema, err = participation.NewCyclic(longest, longest, 1)
			return terminal.Usage(err)
		},
		func() (err error) { *s, a.Network, a.Level, err = f.scenario(cmd, schema, f.sigma); return err },
		func() error {
			f.Note(cmd)(a.Network.Notes...)
			return f.reaction.CheckTrust(cmd, &f.threat, f.attacker)
		},
		func() (err error) {
			a.Attackers, err = f.threat.Attackers(f.attacker, s.Algorithm, a.Network.Graph)
			return err
		},
		func() error { s.Attacker = a.Attackers[0]; return f.reaction.Choose(cmd, *s, o) })
	if err != nil {
		return err
	}
	s.Attacker.Nodes, o.Graph, o.Sigma = nil, a.Network.Graph, a.Level.Sigma
	f.progress = f.Progress(cmd)
	if len(a.Attackers) == 1 && lengths == nil {
		o.Progress = f.progress.ShowAs("victims")
	}
	a.Exported = f.threat.Exported
	a.Holds, a.Drawn = o.HoldsFor(s.Algorithm, a.Attackers[0].Trust)
	a.Study, err = threat.NewStudy(cmd.Context(), *s, *o)
	f.Accounts = a
	return err
}

// attackable are flags about an algorithm on a network, and what its attackers see.
type attackable struct {
	network flags.NetworkFlags
	schema  flags.SchemaFlags
	threat  flags.ThreatFlags
}

// scenario returns what runs on which network, without an attacker, and with which noise: sigma, if a flag of this name
// is given.
func (f *attackable) scenario(cmd *cobra.Command, schema participation.Schema, sigma float64) (s threat.Scenario,
	n *graph.Network, level flags.Level, err error) {
	s.Schema = schema
	err = fault.First(
		func() (err error) { s.Algorithm, err = f.threat.Algorithm(cmd, schema.Steps()); return err },
		func() error { return f.schema.CheckUnit(cmd, f.threat.Exported, f.threat.Manifest) },
		func() error { return f.schema.CheckLocalSteps(s.Algorithm.Training().Spec.LocalSteps) },
		func() (err error) {
			level, err = f.threat.Level(sigma, cmd.Flags().Changed("sigma"))
			level.Unit = f.schema.Unit()
			return err
		},
		func() (err error) { n, err = f.network.Load(); return err },
		func() error { return s.Algorithm.CheckNodes(n.Graph) },
		func() (err error) {
			s.Algorithm, err = f.threat.WithNetworks(s.Algorithm, n, f.network.Seed)
			return err
		},
		func() error { s.Gossip = n.Gossip.Matrix(); return nil })
	return s, n, level, err
}

// data is the report of the one attacker, or the reports of all, with the noise level.
func (f *accountFlags) data(reports []threat.Report) any {
	if len(reports) == 1 {
		return struct {
			threat.Report
			flags.Level
		}{reports[0], f.Level}
	}
	return struct {
		Attackers []threat.Report `json:"attackers"`
		flags.Level
	}{reports, f.Level}
}
