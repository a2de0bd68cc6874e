package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"

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

func (f *pushFlags) bind(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.sequence, "sequence", "", "dpps: read the directed graphs of the rounds from this `file`")
	fl.Float64Var(&f.b, "b", 50, "dpps: noise is Laplace of scale S/b, S the sensitivity of the round. The default leaves an average, under an\n"+
		"epsilon = b/gamma-n of a round that hides next to nothing; under --b 5 errors grow on most networks")
	fl.Float64Var(&f.gammaN, "gamma-n", 1, "dpps: the noise rate that it is multiplied by; a round has epsilon = b/gamma-n")
	f.sync = 5
	fl.Var((*cli.WholeNumber)(&f.sync), "sync", "dpps: all nodes average exactly after so many rounds, which resets the sensitivity (0: never)")
	fl.StringVar(&f.estimate, "estimate", "sound", "dpps: where S is from:\n"+
		"sound: estimates that are proved to be enough for this network\n"+
		"paper: the paper's recursion with its C' = 0.78 and lambda = 0.55, which can be too small\n"+
		"real: what nobody in the network knows")
	fl.Float64Var(&f.c, "c-prime", 0, "dpps: C' of the recursion, instead")
	fl.Float64Var(&f.lambda, "lambda", 0, "dpps: lambda of the recursion, instead")
	cli.CompleteWith(cmd, "estimate", dpps.Sources())
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
	_, err := f.plan()
	return err
}

// plan returns what the flags say of the noise.
func (f *pushFlags) plan() (p dpps.Plan, err error) {
	p = dpps.Plan{B: f.b, NoiseRate: f.gammaN, Sync: f.sync, Constants: dpps.Constants{C: f.c, Lambda: f.lambda}}
	if p.Source, err = dpps.ParseSource(f.estimate); err == nil && p.Constants != (dpps.Constants{}) {
		p.Source = dpps.Given
	}
	return p, err
}

// sequence returns the graphs of DPPS, and what to call them.
func (f *averageFlags) sequence(note func(string, ...any)) (*dpps.Sequence, string, error) {
	if s, known, err := dpps.ByName(f.network.Source); known {
		if err == nil && (f.network.GossipGiven() || f.network.GossipFile != "") {
			err = fmt.Errorf("%s has weights of its own: leave out --gossip and --gossip-matrix", f.network.Source)
		}
		return s, f.network.Source, cli.Usage(err)
	}
	if f.push.sequence != "" {
		s, err := f.readSequence()
		return s, filepath.Base(f.push.sequence), cli.Usage(err)
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

func (f *averageFlags) readSequence() (*dpps.Sequence, error) {
	weighting := dpps.OutDegree
	switch {
	case f.network.GossipFile != "":
		return nil, errors.New("--sequence and --gossip-matrix: only one of them")
	case f.network.GossipGiven() && f.network.Gossip == graph.Metropolis.String():
		weighting = dpps.MetropolisWeights
	case f.network.GossipGiven():
		return nil, errors.New("--sequence weights messages by out-degree, or with --gossip metropolis")
	}
	file, _, err := files.Open(f.push.sequence)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return dpps.ReadSequence(file, f.push.sequence, weighting)
}
