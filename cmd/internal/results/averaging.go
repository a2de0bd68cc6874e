package results

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"mafalda/accounting"
	"mafalda/cmd/internal/document"
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

// averageDocument returns the document of a protocol for private averaging.
func averageDocument() *document.Document {
	d := document.New("private averaging", "Nodes averaged one private value each.")
	d.Warn("simulated, not private: the noise comes from a seed")
	d.Exclude("observers that put together what they see, unless they were asked about",
		"values that are not Gaussian: leakages in nats are for Gaussian ones")
	return d
}

// PPACDocument says what PPAC leaks.
func PPACDocument(a *ppac.Averaging) *document.Document {
	r, d := &a.Result, averageDocument()
	d.Fact("graph", "%s", a.Problem.Network.Line())
	d.Fact("protocol", "ppac: fragments with noise, then consensus with %s weights", r.Gossip)
	d.Fact("values", "standard deviation %g; noise %g (seed %d)", r.ValueStd, r.NoiseStd, r.Seed)
	d.Fact("average", "%.10g; %s", r.Mean, roundsText(r.Errors))
	upTo := "for ever"
	if r.UpTo != nil {
		upTo = fmt.Sprintf("in the rounds 0 to %d", *r.UpTo)
	}
	collude := ""
	if len(a.Problem.Coalitions()[0]) > 1 {
		collude = "\nthe observers collude, which goes beyond the paper"
	}
	d.Fact("leakage", "I(all a node sees %s; the victim's value) in nats, for Gaussian values and noise\nthe average alone says %s of a "+
		"value%s", upTo, terminal.NumberUp(r.Floor), collude)
	t := worstPairs(r.Pairs, func(p ppac.PairLeakage) averaging.Nats { return p.Leakage }, func(p ppac.PairLeakage) []string {
		return []string{"observer", p.Observer, "victim", p.Victim, "leakage", nats(p.Leakage), "noise → ∞, at most", nats(p.Limit)}
	})
	d.Table(t)
	d.Fact("pairs", "%d, the %d worst above; %d infinite, the others %s on average", len(r.Pairs), len(t.Rows), r.Infinite,
		terminal.NumberUp(r.MeanLeak))
	d.Add(risks(r, a.Problem.Network.Graph)...)
	if n := len(r.Recovered); n > 0 {
		d.Warn("%d values were recovered exactly, without breaking any rule of the protocol", n)
	}
	drawLeakages(d, a.Problem.Network.Graph, r.Pairs, func(p ppac.PairLeakage) (observer, victim string, nats float64) {
		return p.Observer, p.Victim, float64(p.Leakage)
	})
	return d
}

// worstPairs has the pairs of the largest values.
func worstPairs[P any, V cmp.Ordered](pairs []P, value func(P) V, row func(P) []string) document.Table {
	worst := slices.SortedStableFunc(slices.Values(pairs), func(a, b P) int { return cmp.Compare(value(b), value(a)) })
	worst = worst[:min(shownPairs, len(worst))]
	t := document.Table{Caption: fmt.Sprintf("Who learns most: %d of %d pairs", len(worst), len(pairs)), Words: 2}
	for _, p := range worst {
		t.Row(row(p)...)
	}
	return t
}

// risks names the structures that give values away.
func risks(r *ppac.Result, g *graph.Graph) (facts []document.Fact) {
	if len(r.Leaves) == 0 {
		return []document.Fact{{Name: "structure", Value: "no generalized leaf: no single node recovers a value"}}
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
		f := document.Fact{Name: "risk", Value: fmt.Sprintf("%s: %s recovers the value of %s", kind, tail, head)}
		if v, ok := recovered[ppac.Leaf{Head: head, Tail: tail}]; ok {
			f.Secret = fmt.Sprintf(": computed %.8g, it is %.8g", v.Recovered, v.Value)
		}
		facts = append(facts, f)
	}
	return facts
}

// drawLeakages makes the map on which an observer is chosen, if there are not too many pairs.
func drawLeakages[P any](d *document.Document, g *graph.Graph, pairs []P, of func(P) (observer, victim string, nats float64)) {
	if g.Nodes() > document.MostNodes || len(pairs) > document.MostPairs || len(pairs) == 0 {
		return
	}
	m := document.NewMap("average", g.Labels())
	at := map[string]int{}
	for _, p := range pairs {
		observer, victim, nats := of(p)
		i, known := at[observer]
		if !known {
			i = len(m.Attackers)
			at[observer] = i
			a := document.Attacker{Name: observer, Self: []int{}, Nats: make([]float64, len(m.Labels))}
			if self, there := m.Index(observer); there {
				a.Self = append(a.Self, self)
			}
			m.Attackers = append(m.Attackers, a)
		}
		if of, there := m.Index(victim); there {
			m.Attackers[i].Nats[of] = document.MapNumber(&nats)
		}
	}
	if m.Join(g) == nil {
		d.Map = m
	}
}

// GossipDocument says what gossip leaks on a network.
func GossipDocument(n *graph.Network, r *gossip.Result) *document.Document {
	d := averageDocument()
	d.Fact("graph", "%s", n.Line())
	d.Fact("protocol", "gossip: Gaussian noise of standard deviation %g on every value, once; %s weights", r.NoiseStd, r.Gossip)
	d.Fact("values", "standard deviation %g (seed %d)", r.ValueStd, r.Seed)
	d.Fact("average", "%.10g; %s\nthey agree on %.10g, which is off by N(0, noise²/n), here by a standard deviation of %s", r.Mean,
		roundsText(r.Errors), r.Noisy, terminal.NumberUp(r.NoiseStd/math.Sqrt(float64(r.Nodes))))
	d.Fact("privacy", "values %g apart, against everybody who sees all messages: mu = %s, epsilon = %s for delta = %g\nagainst single nodes "+
		"(what reaches them): mu of the worst pairs", r.Difference, terminal.NumberUp(r.Mu), terminal.NumberUp(r.Epsilon), r.Delta)
	d.Table(worstPairs(r.Pairs, func(p gossip.PairExposure) float64 { return p.Mu }, func(p gossip.PairExposure) []string {
		return []string{"observer", p.Observer, "victim", p.Victim, "mu", terminal.NumberUp(p.Mu), "leakage (nats)", nats(p.Leakage)}
	}))
	d.Certify("Against everybody, with all messages, for ever: μ = %s-GDP, ε = %s for δ = %g.", terminal.NumberUp(r.Mu),
		terminal.NumberUp(r.Epsilon), r.Delta)
	drawLeakages(d, n.Graph, r.Pairs, func(p gossip.PairExposure) (observer, victim string, nats float64) {
		return p.Observer, p.Victim, float64(p.Leakage)
	})
	return d
}
