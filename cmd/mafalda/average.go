package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/internal/figures"
	"mafalda/internal/parallel"
	"mafalda/internal/simulated"
	"mafalda/protocols/ppac"
)

type averageFlags struct {
	network            cli.NetworkFlags
	protocol           string
	compare, papers    bool
	valueStd, noiseStd float64
	values, chosen     string
	rounds             int
	observer, victim   string
	difference, delta  float64
	push               pushFlags
	out                string
	force, json, quiet bool

	given func(string) bool
	fixed bool // there are so many rounds, not as many as it takes
}

// averaging is what a protocol does, ready to be shown.
type averaging interface {
	data() any                                                               // for JSON
	print(w io.Writer) error                                                 // for people
	figures(ctx context.Context, bar *cli.Progress) ([]figures.Named, error) // for -o
}

// averageRun is what all JSON of consensus starts with.
type averageRun struct {
	simulated.Mark
	Protocol string    `json:"protocol"`
	Graph    string    `json:"graph"`
	Nodes    int       `json:"nodes"`
	Edges    int       `json:"edges"`
	Gossip   string    `json:"gossip"`
	ValueStd float64   `json:"value_std"`
	NoiseStd float64   `json:"noise_std"`
	Seed     uint64    `json:"seed"`
	Mean     float64   `json:"mean"`
	Rounds   int       `json:"rounds"`
	Errors   []float64 `json:"errors"`         // ‖v(t) - mean‖₂ of every round
	UpTo     *int      `json:"leakage_rounds"` // observers see the messages of the rounds 0 to this one; null: for ever
}

// newAverageRun describes a run with these errors in its rounds.
func (f *averageFlags) newAverageRun(protocol string, n *graph.Network, noise, mean float64, errors []float64) averageRun {
	r := averageRun{Mark: simulated.Revealing(), Protocol: protocol, Graph: n.Origin.Source, Nodes: n.Graph.Nodes(),
		Edges: n.Graph.Edges(), Gossip: n.Origin.Gossip, ValueStd: f.valueStd,
		NoiseStd: noise, Seed: f.network.Seed, Mean: mean, Rounds: len(errors) - 1, Errors: errors}
	if f.fixed {
		r.UpTo = &f.rounds
	}
	return r
}

var averagingProtocols = []string{"ppac", "dpps", "gossip"}

func newAverageCmd() *cobra.Command {
	var f averageFlags
	cmd := &cobra.Command{
		Use:   "average",
		Short: "Average private values with PPAC, DPPS or gossip, and say who learns what",
		Long: `Let the nodes of a network average one private value each, and say what the others learn of it.

  ppac    fragments, then consensus: the exact average; leakage in nats for every observer and victim (Gaussian values and noise)
  dpps    push-sum with Laplace noise in every message of every round; the noise follows an estimate of the sensitivity
  gossip  Gaussian noise on every value once, then consensus: differential privacy against everybody

--compare runs all three on the same graph and values. The promises are different in kind: docs/protocols.md.

dpps also takes the directed graphs --graph d-out:n,d (in every round node i sends to i+1, ..., i+d-1) and exp:n (in round t to
i+2^t), and --sequence FILE: an edge list "u v" (u sends to v) for every round, rounds separated by empty lines.

Values are drawn, or read with --values FILE (lines "label value"). The noise is that of a simulation: it protects nobody's values.`,
		Example: `  mafalda average --protocol ppac --graph florentine
  mafalda average --protocol ppac --graph cycle:20 --value-std 10 --noise-std 1500 --observer 0 --victim 1
  mafalda average --protocol ppac --graph ego.edges --observer 5,17 --json     # two nodes that collude
  mafalda average --protocol dpps --graph exp:10 --b 20 --rounds 20 -o dpps
  mafalda average --protocol dpps --graph d-out:10,2 --estimate paper          # the paper's constants: refused where they fail
  mafalda average --protocol gossip --graph florentine --noise-std 10
  mafalda average --compare --graph florentine -o compare
  mafalda average --papers -o figures`,
		Args: cli.NoArgs,
		RunE: cli.UntilInterrupted(f.run),
	}
	fl := cmd.Flags()
	fl.StringVar(&f.protocol, "protocol", "ppac", "protocol: "+strings.Join(averagingProtocols, ", "))
	fl.BoolVar(&f.compare, "compare", false, "all protocols side by side")
	fl.BoolVar(&f.papers, "papers", false, "draw the figures of the papers that have averaging into --output")
	f.network.BindGraph(cmd)
	f.network.BindGossip(cmd)
	fl.Lookup("gossip").DefValue = "" // depends on the protocol
	fl.Lookup("gossip").Usage = "consensus matrix: metropolis, max-degree or laplacian (default: laplacian, which is I - (D-A)/d_max;\nmetropolis where that reaches no consensus, and for dpps)"
	fl.Lookup("seed").Usage = "seed of random graphs, values, chosen neighbours and noise"
	fl.Float64Var(&f.valueStd, "value-std", 10, "standard deviation of the values")
	fl.Float64Var(&f.noiseStd, "noise-std", 0, "standard deviation of the noise (default: 15 times --value-std for ppac, --difference for gossip)")
	fl.StringVar(&f.values, "values", "", "read the values from this `file`")
	fl.StringVar(&f.chosen, "chosen", "", "ppac: read from this `file` which neighbour completes each node's fragments (lines \"node neighbour\"; default: random)")
	fl.VarP((*cli.WholeNumber)(&f.rounds), "rounds", "t",
		"rounds. ppac and gossip: nodes average t times, and leakage counts the t+1 messages of the rounds 0 to t, v(t)\n"+
			"included; dpps: t rounds, with t messages (default: ppac and gossip until all are within 1e-6 of the average,\n"+
			"with leakage for ever; dpps 10)")
	fl.StringVar(&f.observer, "observer", "", "ppac, gossip: `LABEL` of the observer, or LABEL,LABEL,... of nodes that collude (default: every node, alone)")
	fl.StringVar(&f.victim, "victim", "", "ppac, gossip: `LABEL` of the only victim")
	fl.Float64Var(&f.difference, "difference", 0, "gossip: values this far apart are to be indistinguishable (default: --value-std)")
	fl.Float64Var(&f.delta, "delta", 1e-6, "of (epsilon, delta)-DP")
	f.push.bind(cmd)
	fl.StringVarP(&f.out, "output", "o", "", "write result and figures to this `folder`")
	fl.BoolVar(&f.force, "force", false, "replace files that are there")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only (and the JSON, with --json)")
	cli.CompleteWith(cmd, "protocol", averagingProtocols)
	return cmd
}

func (f *averageFlags) run(cmd *cobra.Command) (err error) {
	f.given = cmd.Flags().Changed
	f.fixed = f.given("rounds")
	if err := f.check(); err != nil {
		return cli.Usage(err)
	}
	if f.papers {
		return f.drawPapers(cmd)
	}
	if err := cli.CheckFolder(f.out, averageName, f.force); err != nil {
		return err
	}
	defer func() { cli.RemoveIfEmpty(f.out, err) }()
	notes := cmd.ErrOrStderr()
	bar := cli.NewProgress(notes, f.quiet)
	note := func(format string, args ...any) {
		if !f.quiet {
			fmt.Fprintf(notes, format+"\n", args...)
		}
	}
	a, err := parallel.Abandonable(cmd.Context(), func(ctx context.Context) (averaging, error) {
		return f.choose(ctx, bar,
			note)
	})
	bar.Clear()
	if err != nil {
		return averageError(err)
	}
	if f.out != "" {
		err := f.write(cmd.Context(), a, bar)
		bar.Clear()
		if err != nil {
			return averageError(err)
		}
	}
	w := cmd.OutOrStdout()
	switch {
	case f.json:
		return cli.WriteJSON(w, a.data())
	case f.quiet:
		return nil
	}
	if err := a.print(w); err != nil {
		return err
	}
	if f.out != "" {
		fmt.Fprintf(w, "\nwritten        %s\n", f.out)
	}
	return nil
}

// averageError marks errors about the input.
func averageError(err error) error {
	if errors.Is(err, ppac.ErrNetwork) || errors.Is(err, ppac.ErrTooLarge) { // those of all protocols
		return cli.Usage(err)
	}
	return err
}

func (f *averageFlags) check() error {
	switch {
	case !slices.Contains(averagingProtocols, f.protocol):
		return fmt.Errorf("unknown protocol %q: choose %s", f.protocol, strings.Join(averagingProtocols, ", "))
	case f.compare && f.given("protocol"):
		return errors.New("--compare runs all protocols: leave out --protocol")
	case f.papers && f.out == "":
		return errors.New("--papers: where to? Use -o FOLDER")
	case f.given("rounds") && f.rounds < 0:
		return fmt.Errorf("--rounds %d: must not be negative", f.rounds)
	case f.chosen != "" && f.protocol != "ppac":
		return errors.New("--chosen is for --protocol ppac")
	}
	positive := map[string]*float64{"value-std": &f.valueStd}
	if f.given("noise-std") {
		positive["noise-std"] = &f.noiseStd
	}
	if f.given("difference") {
		positive["difference"] = &f.difference
	} else {
		f.difference = f.valueStd
	}
	for _, name := range []string{"value-std", "noise-std", "difference"} {
		switch v := positive[name]; {
		case v == nil:
		case !(*v > 0) || math.IsInf(*v, 1):
			return fmt.Errorf("--%s %v: must be positive and finite", name, *v)
		case *v > largestValue:
			return fmt.Errorf("--%s %v: must be at most %g", name, *v, largestValue)
		}
	}
	if !(f.delta > 0 && f.delta < 1) {
		return fmt.Errorf("--delta %v: must be between 0 and 1", f.delta)
	}
	return f.push.check(f)
}

// choose makes and runs what was asked for.
func (f *averageFlags) choose(ctx context.Context, bar *cli.Progress, note func(string, ...any)) (averaging, error) {
	switch {
	case f.compare:
		return f.runCompare(ctx, note, bar)
	case f.protocol == "dpps":
		if f.given("noise-std") {
			note("note: --noise-std does not apply to dpps: its noise follows the sensitivity and --b")
		}
		return f.runDPPS(ctx, note, bar)
	}
	n, u, err := f.start(note)
	if err != nil {
		return nil, err
	}
	if f.protocol == "gossip" {
		return f.runGossip(ctx, n, u, bar)
	}
	return f.runPPAC(ctx, n, u, bar)
}

// write draws the figures, and then writes them with the result to the folder.
func (f *averageFlags) write(ctx context.Context, a averaging, bar *cli.Progress) error {
	figures, err := parallel.Abandonable(ctx, func(ctx context.Context) ([]figures.Named, error) { return a.figures(ctx, bar) })
	if err != nil {
		return fmt.Errorf("drawing: %w", err)
	}
	return cli.WriteResult(f.out, averageName, a.data(), figures, f.force)
}
