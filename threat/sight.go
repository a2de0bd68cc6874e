package threat

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
)

// sight is what a round of gossip does to the numbers of the nodes whose messages the attacker does not know
// completely, and what it sees of them. What it knows, its own messages and those that it has seen, is left out.
type sight struct {
	h     *mat.Dense // seen×nodes; nil if nothing is seen
	after *mat.Dense // nodes×nodes: the averages
}

// sights makes the sight of every network, for nodes that stay the same: without the attackers, unless they forget
// their noise.
type sights struct {
	attacker       Attacker
	nodes, victims []int
	last           *graph.CSR
	of             sight // of last
}

func newSights(n int, a Attacker) *sights {
	s := &sights{attacker: a}
	forgets := a.SecureSummation && a.ForgetOwnNoise
	for v := range n {
		attacks := slices.Contains(a.Nodes, v)
		if !attacks {
			s.victims = append(s.victims, v)
		}
		if !attacks || forgets {
			s.nodes = append(s.nodes, v)
		}
	}
	return s
}

// at returns the sight of a round over w.
func (s *sights) at(w *graph.CSR) sight {
	if w == s.last {
		return s.of
	}
	s.last, s.of = w, sight{after: part(w, s.nodes, s.nodes)}
	switch a := s.attacker; {
	case a.SecureSummation && a.ForgetOwnNoise:
		s.of.h = picking(a.Nodes, s.nodes)
	case a.SecureSummation:
		s.of.h = independentRows(part(w, a.Nodes, s.nodes))
	default:
		seen, _ := a.view(w)
		s.of.h = picking(seen, s.nodes)
		for _, v := range seen {
			j := slices.Index(s.nodes, v)
			for i := range s.nodes {
				s.of.after.Set(i, j, 0)
			}
		}
	}
	return s.of
}
