package results

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"mafalda/accounting"
	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
	"mafalda/protocols/averaging"
	"mafalda/protocols/gossip"
	"mafalda/protocols/ppac"
)

// shownPairs is how many pairs, and rounds, are printed.
const shownPairs = 10

// AveragingError marks errors of averaging that are about the input. The protocols share their kinds.
func AveragingError(err error) error {
	if errors.Is(err, ppac.ErrNetwork) || errors.Is(err, ppac.ErrTooLarge) || errors.Is(err, accounting.ErrParameter) {
		return terminal.Usage(err)
	}
	return err
}

// nats prints mutual information.
func nats(v averaging.Nats) string {
	if math.IsInf(float64(v), 1) {
		return "inf"
	}
	return terminal.NumberUp(float64(v))
}

// roundsText says how far rounds have come.
func roundsText(errors []float64) string {
	return fmt.Sprintf("after %s the nodes are %s from it (‖·‖₂), %s at the start", terminal.Count(len(errors)-1, "round"),
		terminal.Number(errors[len(errors)-1]), terminal.Number(errors[0]))
}

// WritePPAC prints what PPAC leaks.
func WritePPAC(w io.Writer, a *ppac.Averaging) error {
	r := &a.Result
	fmt.Fprintf(w, "graph          %s\n", a.Problem.Network.Line())
	fmt.Fprintf(w, "protocol       ppac: fragments with noise, then consensus with %s weights\n", r.Gossip)
	fmt.Fprintf(w, "values         standard deviation %g; noise %g (seed %d)\n", r.ValueStd, r.NoiseStd, r.Seed)
	fmt.Fprintf(w, "average        %.10g; %s\n", r.Mean, roundsText(r.Errors))
	upTo := "for ever"
	if r.UpTo != nil {
		upTo = fmt.Sprintf("in the rounds 0 to %d", *r.UpTo)
	}
	fmt.Fprintf(w, "leakage        I(all a node sees %s; the victim's value) in nats, for Gaussian values and noise\n", upTo)
	fmt.Fprintf(w, "               the average alone says %s of a value\n", terminal.NumberUp(r.Floor))
	if len(a.Problem.Coalitions()[0]) > 1 {
		fmt.Fprintf(w, "               the observers collude, which goes beyond the paper\n")
	}
	fmt.Fprintln(w)
	pairs := slices.Clone(r.Pairs)
	slices.SortStableFunc(pairs, func(a, b ppac.PairLeakage) int { return cmp.Compare(b.Leakage, a.Leakage) })
	var rows [][]string
	for _, p := range pairs[:min(shownPairs, len(pairs))] {
		rows = append(rows, []string{p.Observer, p.Victim, nats(p.Leakage), nats(p.Limit)})
	}
	if err := terminal.Table(w, []string{"observer", "victim", "leakage", "noise → ∞, at most"}, rows); err != nil {
		return err
	}
	fmt.Fprintf(w, "\npairs          %d, the %d worst above; %d infinite, the others %s on average\n", len(pairs),
		len(rows), r.Infinite, terminal.NumberUp(r.MeanLeak))
	if r.Ceilings > 0 {
		fmt.Fprintf(w, "               upper bounds for %d observers: following what they learn would take too much "+
			"precision\n", r.Ceilings)
	}
	writeRisks(w, r, a.Problem.Network.Graph)
	return nil
}

// writeRisks names the structures that give values away.
func writeRisks(w io.Writer, r *ppac.Result, g *graph.Graph) {
	if len(r.Leaves) == 0 {
		fmt.Fprintln(w, "structure      no generalized leaf: no single node recovers a value")
		return
	}
	inLeaf := map[ppac.Pair]bool{}
	for _, l := range ppac.GeneralizedLeaves(g) {
		inLeaf[l] = true
	}
	recovered := map[ppac.Leaf]ppac.Recovered{}
	for _, v := range r.Recovered {
		recovered[ppac.Leaf{Head: v.Victim, Tail: v.Observer}] = v
	}
	for _, p := range ppac.Recoverable(g) {
		head, tail := g.Label(p.Head), g.Label(p.Tail)
		kind := "next to a leaf"
		if inLeaf[p] {
			kind = "generalized leaf"
		}
		line := fmt.Sprintf("%s: %s recovers the value of %s", kind, tail, head)
		if v, ok := recovered[ppac.Leaf{Head: head, Tail: tail}]; ok {
			line += fmt.Sprintf(": computed %.8g, it is %.8g", v.Recovered, v.Value)
		}
		fmt.Fprintf(w, "risk           %s\n", line)
	}
}

// WriteGossip prints what gossip leaks on a network.
func WriteGossip(w io.Writer, n *graph.Network, r *gossip.Result) error {
	fmt.Fprintf(w, "graph          %s\n", n.Line())
	fmt.Fprintf(w, "protocol       gossip: Gaussian noise of standard deviation %g on every value, once; %s weights\n",
		r.NoiseStd, r.Gossip)
	fmt.Fprintf(w, "values         standard deviation %g (seed %d)\n", r.ValueStd, r.Seed)
	fmt.Fprintf(w, "average        %.10g; %s\n", r.Mean, roundsText(r.Errors))
	fmt.Fprintf(w, "               they agree on %.10g, which is off by N(0, noise²/n), here by a standard deviation of %s\n",
		r.Noisy, terminal.NumberUp(r.NoiseStd/math.Sqrt(float64(r.Nodes))))
	fmt.Fprintf(w, "privacy        values %g apart, against everybody who sees all messages: mu = %s, epsilon = %s "+
		"for delta = %g\n", r.Difference, terminal.NumberUp(r.Mu), terminal.NumberUp(r.Epsilon), r.Delta)
	fmt.Fprintf(w, "               against single nodes (what reaches them): mu of the worst pairs\n\n")
	pairs := slices.Clone(r.Pairs)
	slices.SortStableFunc(pairs, func(a, b gossip.PairExposure) int { return cmp.Compare(b.Mu, a.Mu) })
	var rows [][]string
	for _, p := range pairs[:min(shownPairs, len(pairs))] {
		rows = append(rows, []string{p.Observer, p.Victim, terminal.NumberUp(p.Mu), nats(p.Leakage)})
	}
	return terminal.Table(w, []string{"observer", "victim", "mu", "leakage (nats)"}, rows)
}
