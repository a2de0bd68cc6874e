package commands

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
	"mafalda/internal/limits"
	"mafalda/participation"
	"mafalda/threat"
)

type accountFlags struct {
	runner *grids.Runner
	attackable
	reaction        flags.ReactionFlags
	attacker, bound string
	sigma, delta    float64
	growth          string
	style           figures.Style
	terminal.Output
	shard grids.ShardFlags

	*results.Accounts // once flags and input have been checked
	progress          *terminal.Progress
}

// NewAccount returns mafalda account, run for a runner.
func NewAccount(runner *grids.Runner) *cobra.Command {
	f := accountFlags{runner: runner}
	cmd := &cobra.Command{
		Use:   "account",
		Short: "Compute who learns how much of whom",
		Long: `Compute what an attacker learns of every other node: the squared sensitivity of its view, and the privacy that follows.

Sensitivities are for gradients of norm 1 and noise of standard deviation 1; mu and epsilon are for the real noise: that of
--sigma, over what a record can move a sum of gradients by (the clip, or twice the clip where records are replaced), or else
what the export of --export was calibrated with. A record takes part in every step unless -k, -b or --schema say otherwise, as
in Figure 2 of Bellet et al. Bounds: best is the smallest proven one and never above local DP; abs, spectral and exact are
single ones; lower is no bound, but what is certainly lost, and no mu follows from it.

What a node learns (--trust pndp, with secure-summation or without) depends on how gradients of other nodes react to models
that the attacker does not see. Without a flag about that the guarantee is local DP. With a class of --reaction it is a bound for every training of that class (x = ηβ is the learning rate, of which
--learning-rates are multiples, times a Lipschitz constant of the sum of clipped gradients; docs/network-privacy.md has a table).
With --reaction fixed it is for
` + threat.Condition + `;
that number is shown beside others as "if gradients do not react", and is no guarantee for a training.
What everybody learns (ldp, secldp) holds however nodes react.

Bounds of a class are of all victims at once. Where it takes seconds, or with refine, the pairs that lose most at each distance
get their best bound, which is several times smaller where a record takes part more than once.

With an optimizer, or networks that change, the attacker sees other messages; local DP stays. Where networks or missed steps are
drawn, what is reported holds whatever is drawn: local DP, less what can never arrive. Columns "as drawn" are for exactly those
of --seed, and no others.

With -o the pairs are written as CSV and JSON, with a figure by distance. The folder belongs to one network, algorithm,
export and set of flags; more attackers, or numbers of steps of --growth, can be added to it, also by several processes
at once, and an interrupted command goes on where it stopped.`,
		Example: `  mafalda account --graph florentine --T 10 --attacker Medici                               # any training
  mafalda account --graph florentine --T 10 --attacker Medici --reaction convex:0.1                  # convex losses, small steps
  mafalda account --graph florentine --T 10 --attacker Medici --reaction fixed                # averaging
  mafalda account --graph ego.edges --T 380 -k 20 --attacker 1,2 --sigma 2 --delta 1e-6   # a coalition
  mafalda account --graph erdos:100,0.2 --T 10 --attacker all --reaction fixed -o figure2
  mafalda account --graph florentine --T 40 --gossip metropolis --attacker Medici --trust pndp:secure-summation --reaction smooth:0.05,worst-answer
  mafalda account --graph erdos:100,0.15 --gossip metropolis --attacker 0 --trust pndp:secure-summation,forget-own-noise \
    --reaction fixed --growth 10,30,100,300
  mafalda account --graph florentine --T 100 --attacker Medici --optimizer momentum:0.9,local:4 --learning-rates cosine
  mafalda account --graph florentine --T 380 -k 20 --algorithm mf-d-sgd --export out --attacker Medici`,
		Args: terminal.NoArgs,
		RunE: terminal.UntilInterrupted(f.run),
	}
	f.attackable.bind(cmd)
	f.reaction.Bind(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.attacker, "attacker", "",
		"`LABEL` of the attacking node, LABEL,LABEL,... of a coalition, or all: every node in turn;\n"+
			"labels with commas in quotes, as in CSV")
	flags.CompleteGraphLabels(cmd, "attacker", f.network.Load)
	terminal.ChoiceVar(cmd, &f.bound, "bound", "best", threat.Measures(),
		"of the sensitivity: "+strings.Join(threat.Measures(), ", "))
	fl.Float64Var(&f.sigma, "sigma", 0, "noise standard deviation over what a record can move a sum by: the clip, or 2·clip (default: that of --export, or 1)")
	fl.Float64Var(&f.delta, "delta", 0, "report the epsilon of this delta, too")
	fl.StringVar(&f.growth, "growth", "",
		"instead of --T: compare these numbers of steps, such as 10,20,50, with the asymptote")
	flags.BindFigure(cmd, &f.style)
	f.Output.Bind(cmd, "write pairs and figure to this `folder`", "replace results of other inputs",
		"print JSON instead of the table")
	f.shard.Bind(cmd)
	return cmd
}

func (f *accountFlags) run(cmd *cobra.Command) error {
	if err := f.shard.Parse(cmd, f.runner, f.Dir, f.Force); err != nil {
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
	all := grids.Study[threat.Cell, threat.Report]{Dir: f.Dir, Force: f.Force, Spec: f.Spec(), Cells: f.Cells(), Cell: "attacker",
		Do: assess, Files: f.Files, Workers: f.Study.Workers(), Shard: &f.shard,
		Cost: f.Study.Seconds, Memory: f.Study.Memory, Command: cmd}
	reports, whole, err := all.Run(cmd.Context(), f.runner, f.progress)
	if err != nil || !whole {
		return err
	}
	for i, a := range f.Attackers {
		reports[i].Attacker = a.Name(f.Network.Graph) // a coalition may have been named in another order
	}
	return f.Show(cmd, f.data(reports), func(w io.Writer) error {
		if err := f.Document(reports).Text(w); err != nil || f.Dir == "" {
			return err
		}
		return results.Written(w, f.Dir, "account.json", "pairs.csv", "exposure.png", "exposure.svg", "exposure.pdf")
	})
}

// prepare checks flags and input. With lengths, of --growth, they say how many steps there are.
func (f *accountFlags) prepare(cmd *cobra.Command, lengths []int) error {
	a := &results.Accounts{Options: threat.AssessOptions{Alpha: 2, Delta: f.delta}, Style: f.style}
	s, o := &a.Scenario, &a.Options
	var schema participation.Schema
	err := allOf(
		func() (err error) {
			if lengths == nil {
				schema, err = f.schema.ChooseEvery(cmd)
				return err
			}
			longest := slices.Max(lengths)
			schema, err = participation.NewCyclic(longest, longest, 1)
			return terminal.Usage(err)
		},
		func() (err error) { o.Measure, err = threat.ParseMeasure(f.bound); return terminal.Usage(err) },
		func() error {
			if cmd.Flags().Changed("delta") && f.delta == 0 {
				return terminal.Usagef("--delta 0: must be between 0 and 1")
			}
			return nil
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

func (f *attackable) bind(cmd *cobra.Command) {
	f.network.BindGraph(cmd)
	f.network.BindGossip(cmd)
	f.schema.Bind(cmd)
	k := cmd.Flags().Lookup("participations")
	k.Usage = "how often a record takes part (default: in every step; with -b, 20 if that fits)"
	f.threat.Bind(cmd, &f.network)
}

// scenario returns what runs on which network, without an attacker, and with which noise: sigma, if a flag of this name
// is given.
func (f *attackable) scenario(cmd *cobra.Command, schema participation.Schema, sigma float64) (s threat.Scenario,
	n *graph.Network, level flags.Level, err error) {
	s.Schema = schema
	err = allOf(
		func() (err error) { s.Algorithm, err = f.threat.Algorithm(cmd, schema.Steps()); return err },
		func() error { return f.schema.CheckUnit(cmd, f.threat.Exported, f.threat.Manifest) },
		func() (err error) { level, err = f.threat.Level(sigma, cmd.Flags().Changed("sigma")); return err },
		func() (err error) { n, err = f.network.Load(); return err },
		func() error { return s.Algorithm.CheckNodes(n.Graph) },
		func() (err error) { s.Algorithm, err = f.threat.On(s.Algorithm, n, f.network.Seed); return err },
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
