package results

import (
	"cmp"
	"errors"
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

// averaged is what pages of averaging have in common.
type averaged struct{}

// Nats prints mutual information.
func (averaged) Nats(v averaging.Nats) string {
	if math.IsInf(float64(v), 1) {
		return "inf"
	}
	return terminal.NumberUp(float64(v))
}

type ppacAveraged struct {
	averaged
	*ppac.Averaging
	Worst []ppac.PairLeakage
	Risks []risk
}

var ppacPage = document.Page[ppacAveraged](pages, "ppac")

// PPACDocument says what PPAC leaks.
func PPACDocument(a *ppac.Averaging) *document.Document {
	r, g := &a.Result, a.Problem.Network.Graph
	worst := worstPairs(r.Pairs, func(p ppac.PairLeakage) float64 { return float64(p.Leakage) })
	d := ppacPage(ppacAveraged{Averaging: a, Worst: worst, Risks: risks(r, g)})
	drawLeakages(d, g, r.Pairs, func(p ppac.PairLeakage) (observer, victim string, nats float64) {
		return p.Observer, p.Victim, float64(p.Leakage)
	})
	return d
}

// worstPairs returns the pairs of the largest values.
func worstPairs[P any](pairs []P, value func(P) float64) []P {
	worst := slices.SortedStableFunc(slices.Values(pairs), func(a, b P) int { return cmp.Compare(value(b), value(a)) })
	return worst[:min(shownPairs, len(worst))]
}

// risk is a structure of the graph that gives a value away.
type risk struct {
	Leaf             bool // a generalized leaf; else next to a leaf
	Observer, Victim string
	Recovered        *ppac.Recovered // value that the attack has computed, if it has
}

// risks returns the structures that give values away.
func risks(r *ppac.Result, g *graph.Graph) (all []risk) {
	if len(r.Leaves) == 0 {
		return nil
	}
	leaves := ppac.GeneralizedLeaves(g)
	for _, p := range ppac.Recoverable(g) {
		of := risk{Leaf: slices.Contains(leaves, p), Observer: g.Label(p.Tail), Victim: g.Label(p.Head)}
		at := slices.IndexFunc(r.Recovered, func(v ppac.Recovered) bool { return v.Victim == of.Victim && v.Observer == of.Observer })
		if at >= 0 {
			of.Recovered = &r.Recovered[at]
		}
		all = append(all, of)
	}
	return all
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

type gossipAveraged struct {
	averaged
	*gossip.Result
	Line  string
	Worst []gossip.PairExposure
}

var gossipPage = document.Page[gossipAveraged](pages, "gossip")

// GossipDocument says what gossip leaks on a network.
func GossipDocument(n *graph.Network, r *gossip.Result) *document.Document {
	worst := worstPairs(r.Pairs, func(p gossip.PairExposure) float64 { return p.Mu })
	d := gossipPage(gossipAveraged{Result: r, Line: n.Line(), Worst: worst})
	drawLeakages(d, n.Graph, r.Pairs, func(p gossip.PairExposure) (observer, victim string, nats float64) {
		return p.Observer, p.Victim, float64(p.Leakage)
	})
	return d
}
