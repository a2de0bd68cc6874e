package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/threat"
)

// threatFlags say which algorithm runs, and who attacks it.
type threatFlags struct {
	algorithm, strategy, trust string
	rounds                     int
	own, shared                float64
	secure, forget             bool

	nodes  []byte // nodes.csv of an export whose nodes have their own strategies
	export string // digest of the export; empty without one
}

var algorithmNames = []string{"dp-d-sgd", "antipgd", "muffliato", "decor", "zip-dl", "mf-d-sgd"}

func (f *threatFlags) bind(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.algorithm, "algorithm", "dp-d-sgd", "algorithm: "+strings.Join(algorithmNames, ", "))
	fl.StringVar(&f.strategy, "strategy", "", "the export `folder` whose strategy mf-d-sgd runs")
	fl.StringVar(&f.trust, "trust", "pndp", "what the attacker sees:\nldp: all messages\npndp: what reaches it\nsecldp: all messages and the attacker's own secrets")
	f.rounds = 1
	fl.Var((*cli.WholeNumber)(&f.rounds), "rounds", "gossip rounds a step of muffliato")
	fl.Float64Var(&f.own, "own-noise", 1, "standard deviation of a node's own noise in decor")
	fl.Float64Var(&f.shared, "shared-noise", 1, "standard deviation of the noise that neighbours share in decor")
	fl.BoolVar(&f.secure, "secure-summation", false, "nodes see only weighted sums of messages")
	fl.BoolVar(&f.forget, "forget-own-noise", false, "the attacker's own noise counts as protection")
	cli.CompleteWith(cmd, "algorithm", algorithmNames)
	cli.CompleteWith(cmd, "trust", threat.Trusts())
}

// choose returns the algorithm.
func (f *threatFlags) choose(cmd *cobra.Command, s participation.Schema) (threat.Algorithm, error) {
	given := cmd.Flags().Changed
	switch {
	case given("rounds") && f.algorithm != "muffliato":
		return threat.Algorithm{}, cli.Usagef("--rounds is for --algorithm muffliato")
	case (given("own-noise") || given("shared-noise")) && f.algorithm != "decor":
		return threat.Algorithm{}, cli.Usagef("--own-noise and --shared-noise are for --algorithm decor")
	case f.strategy != "" && f.algorithm != "mf-d-sgd":
		return threat.Algorithm{}, cli.Usagef("--strategy is for --algorithm mf-d-sgd")
	case f.strategy == "" && f.algorithm == "mf-d-sgd":
		return threat.Algorithm{}, cli.Usagef("which strategy does mf-d-sgd run? Use --strategy DIR with an export")
	}
	var a threat.Algorithm
	var err error
	switch f.algorithm {
	case "dp-d-sgd":
		a = threat.DPDSGD()
	case "antipgd":
		a = threat.AntiPGD()
	case "muffliato":
		a, err = threat.Muffliato(f.rounds)
	case "decor":
		a, err = threat.DECOR(f.own, f.shared)
	case "zip-dl":
		a = threat.ZipDL()
	case "mf-d-sgd":
		a, err = f.load(s.Steps())
	default:
		err = fmt.Errorf("unknown algorithm %q: choose %s", f.algorithm, strings.Join(algorithmNames, ", "))
	}
	return a, cli.Usage(err)
}

// load returns MF-D-SGD with the strategies of the export, and keeps the list of nodes it is for if they have their own.
func (f *threatFlags) load(steps int) (threat.Algorithm, error) {
	dir := f.strategy
	e, err := export.Load(dir)
	if err != nil {
		return threat.Algorithm{}, err
	}
	if err := e.CheckHashes(); err != nil {
		return threat.Algorithm{}, err
	}
	if f.export, err = exportDigest(e); err != nil {
		return threat.Algorithm{}, err
	}
	m := e.Manifest
	if m.Steps != steps {
		return threat.Algorithm{}, fmt.Errorf("%s is for T = %d, not %d", dir, m.Steps, steps)
	}
	if m.PerNode == nil {
		c, err := sharedStrategy(e)
		if err != nil {
			return threat.Algorithm{}, err
		}
		return threat.MFDSGD(c), nil
	}
	if f.nodes, err = e.Read("nodes.csv"); err != nil {
		return threat.Algorithm{}, err
	}
	layers := make([]strategy.Strategy, len(e.Layers))
	for i, l := range e.Layers {
		if layers[i], err = strategy.NewDense(l.C); err != nil {
			return threat.Algorithm{}, fmt.Errorf("%s: %w", dir, err)
		}
	}
	each := make([]strategy.Strategy, len(m.PerNode.Layers))
	for v, l := range m.PerNode.Layers {
		each[v] = layers[l]
	}
	return threat.MFDSGDPerNode(each), nil
}

// checkNodes refuses an export whose nodes have their own strategies, if they are not the graph's.
func (f *threatFlags) checkNodes(g *graph.Graph) error {
	var want bytes.Buffer
	if err := graph.WriteNodes(&want, g); err != nil {
		return err
	}
	if f.nodes != nil && !bytes.Equal(f.nodes, want.Bytes()) {
		return cli.Usagef("%s has strategies for the nodes of another graph", f.strategy)
	}
	return nil
}

// sharedStrategy returns the strategy of an export that all nodes share, from its parameters if it has some.
func sharedStrategy(e *export.Export) (strategy.Strategy, error) {
	m := e.Manifest
	c, err := m.Strategy.Build(m.Steps)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Dir, err)
	}
	if c == nil {
		return e.Strategy(0)
	}
	return c, nil
}

// attackers returns the attackers that --attacker names: all nodes, one after the other, or one node or coalition.
func (f *threatFlags) attackers(names string, g *graph.Graph) ([]threat.Attacker, error) {
	trust, err := threat.ParseTrust(f.trust)
	if err != nil {
		return nil, cli.Usage(err)
	}
	base := threat.Attacker{Trust: trust, SecureSummation: f.secure, ForgetOwnNoise: f.forget}
	if (f.secure || f.forget) && trust != threat.PNDP {
		return nil, cli.Usagef("--secure-summation and --forget-own-noise are for --trust pndp")
	}
	switch {
	case trust == threat.LDP && names != "":
		return nil, cli.Usagef("under --trust ldp everybody sees everything: leave out --attacker")
	case trust == threat.LDP:
		return []threat.Attacker{base}, nil
	case names == "" && trust == threat.SecLDP:
		return []threat.Attacker{base}, nil
	case names == "":
		return nil, cli.Usagef("who attacks? Use --attacker LABEL, LABEL,LABEL for a coalition, or all")
	}
	if names == "all" {
		var list []threat.Attacker
		for v := range g.Nodes() {
			a := base
			a.Nodes = []int{v}
			list = append(list, a)
		}
		return list, nil
	}
	nodes, err := cli.NodesNamed("attacker", names, g)
	base.Nodes = nodes
	return []threat.Attacker{base}, err
}
