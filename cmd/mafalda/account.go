package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/internal/figures"
	"mafalda/internal/study"
	"mafalda/internal/version"
	"mafalda/participation"
	"mafalda/threat"
)

type accountFlags struct {
	network            networkFlags
	schema             cli.SchemaFlags
	threat             cli.ThreatFlags
	attacker, bound    string
	sigma, delta       float64
	alpha              float64
	growth             string
	out                string
	force, json, quiet bool
}

func newAccountCmd() *cobra.Command {
	var f accountFlags
	cmd := &cobra.Command{
		Use:   "account",
		Short: "Compute who learns how much of whom",
		Long: `Compute what an attacker learns of every other node: the squared sensitivity of its view, and the privacy that follows.

Sensitivities are for gradients of norm 1 and noise of standard deviation 1; --sigma is the real noise over the clip. A record
takes part in every step unless -k, -b or --schema say otherwise, as in Figure 2 of Bellet et al. Bounds: best is the smallest
proven one and never above local DP; abs, spectral and exact are single ones; lower is no bound, but what is certainly lost.

With -o the pairs are written as CSV and JSON, with a figure by distance. The folder belongs to one network, algorithm,
export and set of flags; more attackers, or numbers of steps of --growth, can be added to it, also by several processes
at once, and an interrupted command goes on where it stopped.`,
		Example: `  mafalda account --graph florentine --T 10 --attacker Medici
  mafalda account --graph ego.edges --T 380 -k 20 --attacker 1,2 --sigma 2 --delta 1e-6   # a coalition
  mafalda account --graph erdos:100,0.2 --T 10 --attacker all -o figure2
  mafalda account --graph florentine --T 40 --gossip metropolis --attacker Medici --secure-summation --forget-own-noise
  mafalda account --graph erdos:100,0.15 --gossip metropolis --attacker 0 --secure-summation --forget-own-noise --growth 10,30,100,300
  mafalda account --graph florentine --T 380 -k 20 --algorithm mf-d-sgd --strategy out --attacker Medici`,
		Args: cli.NoArgs,
		RunE: cli.UntilInterrupted(f.run),
	}
	f.network.bindGraph(cmd)
	f.network.bindGossip(cmd)
	f.schema.BindEvery(cmd)
	f.threat.Bind(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.attacker, "attacker", "",
		"`LABEL` of the attacking node, LABEL,LABEL,... of a coalition, or all: every node in turn;\nlabels with commas in quotes, as in CSV")
	fl.StringVar(&f.bound, "bound", "best", "of the sensitivity: "+strings.Join(threat.Measures(), ", "))
	fl.Float64Var(&f.sigma, "sigma", 1, "noise standard deviation over the clip")
	fl.Float64Var(&f.delta, "delta", 0, "report the epsilon of this delta, too")
	fl.Float64Var(&f.alpha, "alpha", 2, "order of the Renyi divergence to report")
	fl.StringVar(&f.growth, "growth", "", "instead of --T: compare these numbers of steps, such as 10,20,50, with the asymptote")
	fl.StringVarP(&f.out, "output", "o", "", "write pairs and figure to this `folder`")
	fl.BoolVar(&f.force, "force", false, "replace results of other inputs")
	fl.BoolVar(&f.json, "json", false, "print JSON instead of the table")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only (and the JSON, with --json)")
	cli.CompleteWith(cmd, "bound", threat.Measures())
	return cmd
}

// ledger is an account command whose flags and input have been checked.
type ledger struct {
	flags     *accountFlags
	network   *graph.Network
	schema    participation.Schema
	algorithm string
	attackers []threat.Attacker
	measure   threat.Measure
	study     *threat.Study
	progress  *cli.Progress
}

func (f *accountFlags) run(cmd *cobra.Command) error {
	var lengths []int
	var err error
	if f.growth != "" {
		if lengths, err = f.lengths(cmd); err != nil {
			return err
		}
	}
	l, err := f.prepare(cmd, lengths)
	if err != nil {
		return err
	}
	if lengths != nil {
		return l.runGrowth(cmd, lengths)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(15)) // large matrices live long: do not let as much garbage pile up beside them
	l.progress.At = "attackers"
	var cells []threat.Cell
	for _, a := range l.attackers {
		cells = append(cells, l.study.Cell(a.Nodes))
	}
	spec := l.spec()
	reports, err := cli.Study[threat.Cell, threat.Report]{Dir: f.out, Spec: spec, Cells: cells, Cell: "attacker", Do: l.assess(cmd.ErrOrStderr()),
		Files: l.files(spec), Workers: l.study.Workers(), Progress: l.progress}.Run(cmd.Context())
	if err != nil {
		return err
	}
	for i, a := range l.attackers {
		reports[i].Attacker = a.Name(l.network.Graph) // a coalition may have been named in another order
	}
	return l.print(cmd.OutOrStdout(), reports)
}

// prepare checks flags and input. With lengths, of --growth, they say how many steps there are.
func (f *accountFlags) prepare(cmd *cobra.Command, lengths []int) (*ledger, error) {
	l := &ledger{flags: f, progress: cli.NewProgress(cmd.ErrOrStderr(), f.quiet || f.json)}
	var err error
	if lengths == nil {
		l.schema, err = f.schema.ChooseEvery(cmd)
	} else if l.schema, err = participation.NewCyclic(slices.Max(lengths), slices.Max(lengths), 1); err != nil {
		err = cli.Usage(err)
	}
	if err != nil {
		return nil, err
	}
	if l.measure, err = threat.ParseMeasure(f.bound); err != nil {
		return nil, cli.Usage(err)
	}
	if cmd.Flags().Changed("delta") && f.delta == 0 {
		return nil, cli.Usagef("--delta 0: must be between 0 and 1")
	}
	algorithm, err := f.threat.Algorithm(cmd, l.schema.Steps())
	if err != nil {
		return nil, err
	}
	l.algorithm = algorithm.Name()
	if l.network, err = f.network.load(); err != nil {
		return nil, err
	}
	if !f.quiet {
		for _, n := range l.network.Notes {
			fmt.Fprintln(cmd.ErrOrStderr(), n)
		}
	}
	if l.attackers, err = f.threat.Attackers(f.attacker, l.network.Graph); err != nil {
		return nil, err
	}
	s := threat.Scenario{Gossip: l.network.Gossip.Matrix(), Algorithm: algorithm, Attacker: l.attackers[0], Schema: l.schema}
	s.Attacker.Nodes = nil
	l.study, err = threat.NewStudy(cmd.Context(), s,
		threat.AssessOptions{Graph: l.network.Graph, Measure: l.measure, Sigma: f.sigma, Alpha: f.alpha, Delta: f.delta})
	return l, err
}

// assess computes a cell, and says on w where local DP is reported instead.
func (l *ledger) assess(w io.Writer) func(context.Context, threat.Cell) (threat.Report, error) {
	return func(ctx context.Context, c threat.Cell) (threat.Report, error) {
		r, err := l.study.Assess(ctx, c)
		if r.Unclear {
			fmt.Fprintf(w, "%s: what is seen without noise cannot be told from rounding; local DP is reported\n", r.Attacker)
		}
		return r, err
	}
}

// spec says whose the folder of an account is.
func (l *ledger) spec() study.Spec {
	s := cli.StudyOf("account")
	l.network.AddTo(&s.Inputs)
	l.study.AddTo(&s.Inputs)
	addSchema(&s.Inputs, &l.flags.schema, l.schema)
	l.study.AddPrivacyTo(&s.Inputs)
	s.Summaries = cli.WithFigures([]string{"account.json", "pairs.csv"}, "exposure")
	s.Former = cli.Formerly("account.json", []string{"version", "settings", "attackers"}, func(name string) bool {
		return slices.Contains(cli.WithFigures(slices.Clone(s.Summaries), "growth"), name)
	})
	s.Replace = l.flags.force
	return s
}

// storedAccounts is the content of account.json.
type storedAccounts struct {
	Version   string          `json:"version"`
	Settings  study.Inputs    `json:"settings"` // all that values depend on
	Attackers []threat.Report `json:"attackers"`
}

// files makes the summaries of all accounts in the folder, in the order of the graph's nodes.
func (l *ledger) files(spec study.Spec) func(entries []study.Entry[threat.Cell, threat.Report]) ([]study.File, error) {
	return func(entries []study.Entry[threat.Cell, threat.Report]) ([]study.File, error) {
		l.study.Sort(entries)
		stored := storedAccounts{Version: version.String(), Settings: spec.Inputs}
		for _, e := range entries {
			stored.Attackers = append(stored.Attackers, e.Result)
		}
		f, err := figures.Exposure(stored.Attackers, figures.ExposureOptions{Algorithm: l.algorithm, Steps: l.schema.Steps(),
			Local: l.study.Local(), Sigma: l.flags.sigma, Alpha: l.flags.alpha})
		if err != nil {
			return nil, err
		}
		pairs := func(w io.Writer) error { return threat.WritePairs(w, stored.Attackers) }
		return append(cli.FigureFiles("exposure", f), cli.JsonFile("account.json", stored), study.File{Name: "pairs.csv", Write: pairs}), nil
	}
}

// print writes the table by distance, or JSON.
func (l *ledger) print(w io.Writer, reports []threat.Report) error {
	switch {
	case l.flags.json && len(reports) == 1:
		return cli.WriteJSON(w, reports[0])
	case l.flags.json:
		return cli.WriteJSON(w, map[string]any{"attackers": reports})
	case l.flags.quiet:
		return nil
	}
	fmt.Fprintf(w, "graph          %s\n", l.network.Line())
	fmt.Fprintf(w, "gossip         %s\n", l.network.Origin.GossipLine())
	fmt.Fprintf(w, "algorithm      %s, T = %d steps\n", l.algorithm, l.schema.Steps())
	fmt.Fprintf(w, "participation  %v\n", l.schema)
	fmt.Fprintf(w, "attackers      %s\n", l.attackersLine())
	fmt.Fprintf(w, "bound          %s of sens², for gradients of norm 1 and noise of standard deviation %g\n\n", l.measure, l.flags.sigma)
	if err := l.table(w, reports); err != nil || l.flags.out == "" {
		return err
	}
	return l.written(w, "account.json", "pairs.csv", "exposure.png", "exposure.svg")
}

func (l *ledger) attackersLine() string {
	a := l.attackers[0]
	what := map[threat.Trust]string{threat.LDP: "see all messages", threat.PNDP: "see the messages they receive and send, and know their own noise",
		threat.SecLDP: "see all messages, and know their own noise"}[a.Trust]
	if a.SecureSummation {
		what = "see weighted sums of messages, and know their own noise"
		if a.ForgetOwnNoise {
			what = "see weighted sums of messages under their own noise"
		}
	}
	who := a.Name(l.network.Graph)
	if len(l.attackers) > 1 {
		who = fmt.Sprintf("each of %d nodes", len(l.attackers))
	}
	return who + ": " + what
}

func (l *ledger) table(w io.Writer, reports []threat.Report) error {
	number := func(v float64, there bool) string {
		if !there {
			return "infinite"
		}
		return cli.NumberUp(v)
	}
	header := []string{"distance", "pairs", "least", "mean", "most", "mu (most)"}
	if l.flags.delta > 0 {
		header = append(header, "epsilon (most)")
	}
	var rows [][]string
	for _, r := range threat.ByDistance(reports) {
		distance, finite := strconv.Itoa(r.Distance), r.Infinite == 0
		switch {
		case r.Distance == threat.NoPath && len(l.attackers[0].Nodes) > 0:
			distance = "no path"
		case r.Distance == threat.NoPath:
			distance = "any"
		}
		row := []string{distance, strconv.Itoa(r.Pairs), number(r.Least, r.Pairs > r.Infinite), number(r.Mean, finite), number(r.Most, finite),
			number(r.Mu, finite)}
		if l.flags.delta > 0 {
			row = append(row, number(r.Epsilon, finite))
		}
		cyffers := "-"
		if r.Cyffers != nil {
			cyffers = cli.NumberUp(*r.Cyffers)
		}
		local := l.study.Local()
		rows = append(rows, append(row, cyffers, number(local, !math.IsInf(local, 1))))
	}
	return cli.Table(w, append(header, "Cyffers et al. (mean)", "local DP"), rows)
}

// written says which files are in the folder.
func (l *ledger) written(w io.Writer, names ...string) error {
	names = slices.DeleteFunc(names, func(name string) bool {
		_, err := os.Lstat(filepath.Join(l.flags.out, name))
		return err != nil // no figure without anything to draw
	})
	_, err := fmt.Fprintf(w, "\nwritten        %s: %s\n", l.flags.out, strings.Join(names, ", "))
	return err
}
