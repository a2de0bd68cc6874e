package commands

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/protocols/averaging"
)

type averageFlags struct {
	runner *grids.Runner

	network            flags.NetworkFlags
	protocol           string
	compare, papers    bool
	valueStd, noiseStd float64
	values, chosen     string
	rounds             int
	observer, victim   string
	difference, delta  float64
	push               flags.PushFlags
	style              figures.Style
	terminal.Output

	given func(string) bool
	bar   *terminal.Progress
	note  func(lines ...string)
}

var averagingProtocols = []string{"ppac", "dpps", "gossip"}

func newAverageCmd(runner *grids.Runner) *cobra.Command {
	f := averageFlags{runner: runner}
	cmd := &cobra.Command{
		Use:   "average",
		Short: "Average private values with PPAC, DPPS or gossip, and say who learns what",
		Long: `Let the nodes of a network average one private value each, and say what the others learn of it.

  ppac    fragments, then consensus: the exact average; leakage in nats for every observer and victim (Gaussian values and noise)
  dpps    push-sum with Laplace noise in every message of every round; the noise follows an estimate of the sensitivity
  gossip  Gaussian noise on every value once, then consensus: differential privacy against everybody

--compare runs all three on the same graph and values; with -o, those that are there are not run again. The promises
are different in kind: docs/protocols.md.

dpps also takes the directed graphs --graph d-out:n,d (in every round node i sends to i+1, ..., i+d-1) and exp:n (in round t to
i+2^t), and --push-sum sequence:FILE: an edge list "u v" (u sends to v) for every round, rounds separated by empty lines.

Values are drawn, or read with --values FILE (lines "label value"). The noise is that of a simulation: it protects nobody's values.`,
		Example: `  mafalda average --protocol ppac --graph florentine
  mafalda average --protocol ppac --graph cycle:20 --values std:10 --noise-std 1500 --observer 0 --victim 1
  mafalda average --protocol ppac --graph ego.edges --observer 5,17 --json     # two nodes that collude
  mafalda average --protocol dpps --graph exp:10 --push-sum laplace-b:20 --rounds 20 -o dpps
  mafalda average --protocol dpps --graph d-out:10,2 --push-sum estimate:paper          # the paper's constants: refused where they fail
  mafalda average --protocol gossip --graph florentine --noise-std 10
  mafalda average --compare --graph florentine -o compare
  mafalda average --papers -o figures`,
		Args: terminal.NoArgs,
		RunE: terminal.UntilInterrupted(f.run),
	}
	f.bind(cmd)
	return cmd
}

func (f *averageFlags) bind(cmd *cobra.Command) {
	fl := cmd.Flags()
	f.given = func(name string) bool { return terminal.Given(cmd, name) }
	terminal.ChoiceVar(cmd, &f.protocol, "protocol", "ppac", averagingProtocols,
		"protocol: "+strings.Join(averagingProtocols, ", "))
	fl.BoolVar(&f.compare, "compare", false, "all protocols side by side")
	fl.BoolVar(&f.papers, "papers", false, "draw the figures of the papers that have averaging into --output")
	f.network.BindGraph(cmd)
	f.network.BindGossip(cmd)
	fl.Lookup("gossip").DefValue = "" // depends on the protocol
	fl.Lookup("gossip").Usage = "consensus matrix: metropolis, max-degree or laplacian (default: laplacian, which is " +
		"I - (D-A)/d_max;\nmetropolis where that reaches no consensus, and for dpps)"
	fl.Lookup("seed").Usage = "seed of random graphs, values, chosen neighbours and noise"
	fl.Float64Var(&f.valueStd, "values std", 10, "standard deviation of the values")
	fl.Float64Var(&f.noiseStd, "noise-std", 0,
		"standard deviation of the noise (default: 15 times --values std for ppac, difference for gossip)")
	fl.StringVar(&f.values, "values", "", "read the values from this `file`, instead of drawing them")
	terminal.Family(cmd, "values", "")
	fl.StringVar(&f.chosen, "protocol chosen", "", "ppac: read from this `file` which neighbour completes each node's fragments "+
		"(lines \"node neighbour\"; default: random)")
	fl.VarP((*terminal.WholeNumber)(&f.rounds), "rounds", "t",
		"rounds. ppac and gossip: nodes average t times, and leakage counts the t+1 messages of the rounds 0 to t, v(t)\n"+
			"included; dpps: t rounds, with t messages (default: ppac and gossip until all are within 1e-6 of the average,\n"+
			"with leakage for ever; dpps 10)")
	fl.StringVar(&f.observer, "observer", "",
		"ppac, gossip: `LABEL` of the observer, or LABEL,LABEL,... of nodes that collude (default: every node, alone)")
	fl.StringVar(&f.victim, "victim", "", "ppac, gossip: `LABEL` of the only victim")
	flags.CompleteGraphLabels(cmd, "observer", f.network.Load)
	flags.CompleteGraphLabels(cmd, "victim", f.network.Load)
	fl.Float64Var(&f.difference, "protocol difference", 0,
		"gossip: values this far apart are to be indistinguishable (default: --values std)")
	fl.Float64Var(&f.delta, "delta", 1e-6, "of (epsilon, delta)-DP")
	terminal.Family(cmd, "protocol", "")
	f.push.Bind(cmd)
	flags.BindFigure(cmd, &f.style)
	f.Output.Bind(cmd, "write result and figures to this `folder`", "replace files that are there", "print one JSON object")
}

func (f *averageFlags) run(cmd *cobra.Command) error {
	if err := f.check(); err != nil {
		return terminal.Usage(err)
	}
	f.bar, f.note = f.Progress(cmd), f.Note(cmd)
	switch {
	case f.papers:
		return results.AveragingError(f.drawPapers(cmd))
	case f.compare:
		return results.AveragingError(f.runCompare(cmd))
	}
	return f.runOne(cmd)
}

func (f *averageFlags) check() error {
	switch {
	case !slices.Contains(averagingProtocols, f.protocol):
		return fmt.Errorf("unknown protocol %q: choose %s", f.protocol, strings.Join(averagingProtocols, ", "))
	case f.compare && f.given("protocol"):
		return errors.New("--compare runs all protocols: leave out --protocol")
	case f.papers && f.Dir == "":
		return errors.New("--papers: where to? Use -o FOLDER")
	case f.given("rounds") && f.rounds < 0:
		return fmt.Errorf("--rounds %d: must not be negative", f.rounds)
	case f.chosen != "" && f.protocol != "ppac":
		return errors.New("--protocol: chosen is of ppac")
	case !(f.delta > 0 && f.delta < 1):
		return fmt.Errorf("--delta %v: must be between 0 and 1", f.delta)
	}
	for _, c := range []struct {
		field string
		value float64
		used  bool
	}{
		{"ValueStd", f.valueStd, true}, {"NoiseStd", f.noiseStd, f.given("noise-std")},
		{"Difference", f.difference, f.given("protocol difference")},
	} {
		if c.used {
			if err := averaging.CheckDeviation(c.field, c.value); err != nil {
				return err
			}
		}
	}
	return f.push.Check(&f.network, f.compare || f.protocol == "dpps", !f.compare)
}
