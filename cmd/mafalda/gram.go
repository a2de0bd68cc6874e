package main

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/plan"
	"mafalda/workload"
)

// gramFlags say how the Gram matrix is computed.
type gramFlags struct {
	method               string
	probes, lanczosSteps int
}

var gramMethods = []string{"auto", "exact", "lanczos"}

func (f *gramFlags) bind(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.method, "gram", "auto", "Gram matrix: exact, lanczos (estimated from random vectors, with an error bound), or\nauto: exact unless that takes minutes")
	fl.Var((*cli.WholeNumber)(&f.probes), "probes", "random vectors of --gram lanczos, at least 4 (default 800,000 divided by the nodes,\n"+
		"a multiple of 4 from 4 to 100); all unit vectors, without chance, for as many nodes or for\n128 and fewer")
	f.lanczosSteps = 40
	fl.Var((*cli.WholeNumber)(&f.lanczosSteps), "lanczos-steps", "products with the gossip matrix for each of them")
	cli.CompleteWith(cmd, "gram", gramMethods)
}

const (
	exactOperations = 5e10   // beyond which auto does not take the exact way: about a minute
	probedNodes     = 800000 // probes times nodes, about, by default
	mostProbes      = 100    // by default
	fewNodes        = 128    // that have all their unit vectors for probes
)

// choose returns the method for a network; exactOnly says why an estimate would not do, if it would not.
func (f *gramFlags) choose(cmd *cobra.Command, n *graph.Network, steps int, seed uint64, exactOnly string, long bool) (*export.Gram, error) {
	given := cmd.Flags().Changed
	switch f.method {
	case "auto", "exact", "lanczos":
	default:
		return nil, cli.Usagef("--gram %q: must be exact, lanczos or auto", f.method)
	}
	if f.method != "lanczos" && (given("probes") || given("lanczos-steps")) && f.method == "exact" {
		return nil, cli.Usagef("--probes and --lanczos-steps are for --gram lanczos")
	}
	exact := &export.Gram{Method: "exact"}
	if n == nil {
		if f.method == "lanczos" {
			return nil, cli.Usagef("the prefix workload has no network to estimate: leave out --gram lanczos")
		}
		return exact, nil
	}
	cost := plan.ExactCost
	if long {
		cost = plan.ExactResponseCost
	}
	_, reversible := n.Gossip.Stationary()
	switch impossible := long && math.IsInf(cost(n.Gossip, steps), 1); {
	case impossible && !reversible:
		return nil, cli.Usagef("more than %d steps: only gossip matrices in detailed balance, such as those of undirected graphs",
			factorize.LongSteps)
	case impossible && f.method == "exact":
		return nil, cli.Usagef("more than %d steps: --gram exact is for at most %d nodes: use --gram lanczos",
			factorize.LongSteps, workload.MaxSpectralNodes)
	}
	if f.method == "exact" || f.method == "auto" && (exactOnly != "" || cost(n.Gossip, steps) <= exactOperations) {
		return exact, nil
	}
	if exactOnly != "" {
		return nil, cli.Usagef("--gram lanczos: %s", exactOnly)
	}
	switch {
	case given("probes") && f.probes < workload.LeastProbes:
		return nil, cli.Usagef("--probes %d: at least %d random vectors are needed", f.probes, workload.LeastProbes)
	case f.lanczosSteps < 2:
		return nil, cli.Usagef("--lanczos-steps %d: at least 2 are needed", f.lanczosSteps)
	}
	if f.probes > export.MaxProbes || f.lanczosSteps > export.MaxLanczosSteps {
		return nil, cli.Usagef("--probes %d and --lanczos-steps %d: at most %d and %d are made", f.probes, f.lanczosSteps,
			export.MaxProbes, export.MaxLanczosSteps)
	}
	if !reversible {
		if f.method == "auto" {
			return exact, nil
		}
		return nil, cli.Usagef("--gram lanczos: %v: use --gram exact", workload.ErrReversible)
	}
	f.fill(n.Graph.Nodes())
	return &export.Gram{Method: "lanczos", Probes: f.probes, LanczosSteps: f.lanczosSteps, Seed: seed,
		Confidence: confidence(f.probes, n)}, nil
}

// fill fills in the number of probes for so many nodes.
func (f *gramFlags) fill(nodes int) {
	if f.probes == 0 {
		const least = workload.LeastProbes
		f.probes = min(max(probedNodes/nodes/least*least, least), mostProbes)
	}
	if nodes <= max(f.probes, fewNodes) {
		f.probes = nodes
	}
}

// confidence returns that of the errors of an estimate from so many probes.
func confidence(probes int, n *graph.Network) float64 {
	if probes == n.Graph.Nodes() {
		return 1
	}
	return workload.Confidence
}

// gramText says in a line what is known of the Gram matrix.
func gramText(g *export.Gram) string {
	if g.Method == "exact" {
		return "exact"
	}
	vectors, sure := "random", fmt.Sprintf("with a probability of %g %%", 100*g.Confidence)
	if g.Confidence == 1 {
		vectors, sure = "unit", "nothing is left to chance,"
	}
	text := fmt.Sprintf("estimated from %d %s vectors, %d steps each: %s the loss is known within %s", g.Probes, vectors,
		g.LanczosSteps, sure, cli.DecimalUp(*g.LossError, 2))
	if g.ExcessBound != nil {
		text += fmt.Sprintf(", and C at most %s above the true optimum", cli.DecimalUp(*g.ExcessBound, 2))
	}
	return text
}
