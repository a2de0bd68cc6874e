package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/internal/files"
	"mafalda/protocols/dpps"
)

// pushFlags are those of push-sum with noise.
type pushFlags struct {
	sequence  string
	b, gammaN float64
	sync      int
	estimate  string
	c, lambda float64
}

var estimates = []string{"sound", "paper", "real"}

func (f *pushFlags) bind(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.sequence, "sequence", "", "dpps: read the directed graphs of the rounds from this `file`")
	fl.Float64Var(&f.b, "b", 50, "dpps: noise is Laplace of scale S/b, S the sensitivity of the round. The default leaves an average, under an\n"+
		"epsilon = b/gamma-n of a round that hides next to nothing; under --b 5 errors grow on most networks")
	fl.Float64Var(&f.gammaN, "gamma-n", 1, "dpps: the noise rate that it is multiplied by; a round has epsilon = b/gamma-n")
	f.sync = 5
	fl.Var((*cli.WholeNumber)(&f.sync), "sync", "dpps: all nodes average exactly after so many rounds, which resets the sensitivity (0: never)")
	fl.StringVar(&f.estimate, "estimate", "sound", "dpps: where S is from:\nsound: estimates that are proved to be enough for this network\npaper: the paper's recursion with its C' = 0.78 and lambda = 0.55, which can be too small\nreal: what nobody in the network knows")
	fl.Float64Var(&f.c, "c-prime", 0, "dpps: C' of the recursion, instead")
	fl.Float64Var(&f.lambda, "lambda", 0, "dpps: lambda of the recursion, instead")
	cli.CompleteWith(cmd, "estimate", estimates)
}

func (f *pushFlags) check(a *averageFlags) error {
	used := a.compare || a.protocol == "dpps"
	for _, name := range []string{"sequence", "b", "gamma-n", "sync", "estimate", "c-prime", "lambda"} {
		if a.given(name) && !used {
			return fmt.Errorf("--%s is for --protocol dpps", name)
		}
	}
	switch {
	case f.sequence != "" && a.compare:
		return errors.New("--sequence: --compare runs all protocols on one graph, from --graph")
	case f.sequence != "" && a.network.Source != "":
		return errors.New("--graph and --sequence: only one of them")
	case a.given("c-prime") != a.given("lambda"):
		return errors.New("--c-prime and --lambda: both or none")
	case a.given("c-prime") && a.given("estimate"):
		return errors.New("--c-prime and --lambda are constants of their own: leave out --estimate")
	case !(f.b > 0) || math.IsInf(f.b, 1):
		return fmt.Errorf("--b %v: must be positive and finite", f.b)
	case !(f.gammaN > 0) || math.IsInf(f.gammaN, 1):
		return fmt.Errorf("--gamma-n %v: must be positive and finite", f.gammaN)
	case math.IsInf(f.b/f.gammaN, 1):
		return fmt.Errorf("--b %v and --gamma-n %v: epsilon = b/gamma-n is beyond all numbers", f.b, f.gammaN)
	case f.sync < 0:
		return fmt.Errorf("--sync %d: must not be negative", f.sync)
	case a.given("c-prime") && (!(f.c > 0) || math.IsInf(f.c, 1) || !(f.lambda > 0 && f.lambda < 1)):
		return fmt.Errorf("constants C' = %v and lambda = %v: must be positive, and lambda below 1", f.c, f.lambda)
	}
	return checkEstimate(f.estimate)
}

func checkEstimate(name string) error {
	for _, e := range estimates {
		if e == name {
			return nil
		}
	}
	return fmt.Errorf("unknown estimate %q: choose %s", name, strings.Join(estimates, ", "))
}

// circulant returns the graphs of d-out:n,d and exp:n; known is false for other names.
func circulant(spec string) (s *dpps.Sequence, known bool, err error) {
	name, arguments, _ := strings.Cut(spec, ":")
	var p []int
	for _, field := range strings.Split(arguments, ",") {
		v, err := cli.ParseWhole(strings.TrimSpace(field))
		if err != nil {
			v = -1
		}
		p = append(p, v)
	}
	switch {
	case name == "d-out" && len(p) == 2:
		s, err = dpps.DOut(p[0], p[1])
	case name == "exp" && len(p) == 1:
		s, err = dpps.Exponential(p[0])
	case name == "d-out" || name == "exp":
		err = fmt.Errorf("graph %q: the forms are d-out:n,d and exp:n", spec)
	default:
		return nil, false, nil
	}
	return s, true, cli.Usage(err)
}

// directedGraphs returns the sequence of graphs, and what to call it.
func (f *averageFlags) directedGraphs(note func(string, ...any)) (*dpps.Sequence, string, error) {
	if s, known, err := circulant(f.network.Source); known {
		if err == nil && (f.network.GossipGiven() || f.network.GossipFile != "") {
			err = cli.Usagef("%s has weights of its own: leave out --gossip and --gossip-matrix", f.network.Source)
		}
		return s, f.network.Source, err
	}
	if f.push.sequence != "" {
		weighting := dpps.OutDegree
		switch {
		case f.network.GossipFile != "":
			return nil, "", cli.Usagef("--sequence and --gossip-matrix: only one of them")
		case f.network.GossipGiven() && f.network.Gossip == graph.Metropolis.String():
			weighting = dpps.MetropolisWeights
		case f.network.GossipGiven():
			return nil, "", cli.Usagef("--sequence weights messages by out-degree, or with --gossip metropolis")
		}
		file, _, err := files.Open(f.push.sequence)
		if err != nil {
			return nil, "", cli.Usage(err)
		}
		defer file.Close()
		s, err := dpps.ReadSequence(file, f.push.sequence, weighting)
		return s, filepath.Base(f.push.sequence), err
	}
	n, err := f.network.LoadBy(graph.Metropolis)
	if err != nil {
		return nil, "", err
	}
	for _, text := range n.Notes {
		note("%s", text)
	}
	s, err := dpps.Static(n.Graph.Labels(), n.Gossip)
	return s, fmt.Sprintf("%s with %s weights", n.Origin.Source, n.Origin.Gossip), err
}

// calibrate returns what the estimate takes, and says where it is from.
func (f *pushFlags) calibrate(ctx context.Context, s *dpps.Sequence, bar *cli.Progress) (dpps.Calibration, string, error) {
	switch {
	case f.own():
		return dpps.Calibration{Constants: dpps.Constants{C: f.c, Lambda: f.lambda}}, "given", nil
	case f.estimate == "paper":
		return dpps.Calibration{Constants: dpps.PaperConstants()}, "of the paper's experiments", nil
	case f.estimate == "real":
		return dpps.Calibration{}, "", nil
	}
	c, err := s.Calibrate(ctx, f.horizon(bar))
	return c, "enough for this network, whatever its nodes add", withoutCalibration(err)
}

// withoutCalibration adds what to do where constants cannot be found.
func withoutCalibration(err error) error {
	var size *dpps.SizeError
	switch {
	case !errors.As(err, &size):
		return err
	case size.Rounds == 0:
		return fmt.Errorf("%w: give --c-prime and --lambda, or --estimate paper or real", err)
	}
	return fmt.Errorf("%w: give --c-prime and --lambda, or synchronize", err)
}

// horizon says for what constants are wanted.
func (f *pushFlags) horizon(bar *cli.Progress) dpps.CalibrateOptions {
	return dpps.CalibrateOptions{Horizon: f.sync, Progress: func(done float64) { bar.Show(done, "calibrating") }}
}

// own reports whether the constants are the user's.
func (f *pushFlags) own() bool { return f.c != 0 || f.lambda != 0 }

// options of the protocol.
func (f *pushFlags) options(c dpps.Calibration) dpps.Options {
	o := dpps.Options{Calibration: c, B: f.b, NoiseRate: f.gammaN, Sync: f.sync}
	if f.estimate == "real" {
		o.Estimate = dpps.Real
	}
	return o
}
