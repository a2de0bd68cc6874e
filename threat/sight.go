package threat

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/lists"
)

// sight is what an attacker sees of a round of gossip, of the nodes whose messages it does not know completely: some of
// these messages, or sums.
type sight struct {
	h    *mat.Dense // seen×nodes; nil if nothing is seen
	seen []int      // nodes whose messages are seen
}

// sights makes the sight of every network, for nodes that stay the same: without the attackers, unless they forget
// their noise.
type sights struct {
	attacker       Attacker
	nodes, victims []int
	last           *graph.CSR
	cached         sight // the sight of the last network
}

func newSights(n int, a Attacker) *sights {
	attacks := func(v int) bool { return slices.Contains(a.insiders(), v) }
	s := &sights{attacker: a, victims: slices.DeleteFunc(lists.UpTo(n), attacks)}
	if s.nodes = s.victims; a.SecureSummation && a.ForgetOwnNoise {
		s.nodes = lists.UpTo(n)
	}
	return s
}

// at returns the sight of a round over w; nil: no gossip.
func (s *sights) at(w *graph.CSR) sight {
	switch w {
	case nil:
		return sight{}
	case s.last:
		return s.cached
	}
	s.last, s.cached = w, sight{}
	switch a := s.attacker; {
	case a.SecureSummation && a.ForgetOwnNoise:
		s.cached.h = picking(a.Nodes, s.nodes)
	case a.SecureSummation:
		s.cached.h = independentRows(part(w, a.Nodes, s.nodes))
	default:
		s.cached.seen = a.hears(w)
		s.cached.h = picking(s.cached.seen, s.nodes)
	}
	return s.cached
}

// independentRows returns an orthonormal basis of the rows of a, nil without any: the attacker learns the same
// from it.
func independentRows(a *mat.Dense) *mat.Dense {
	if a == nil {
		return nil
	}
	rows, cols := a.Dims()
	var basis [][]float64
	for i := range rows {
		v := slices.Clone(a.RawRowView(i))
		before := floats.Norm(v, 2)
		for range 2 { // twice is enough
			for _, u := range basis {
				floats.AddScaled(v, -floats.Dot(u, v), u)
			}
		}
		if after := floats.Norm(v, 2); after > 1e-13*before {
			floats.Scale(1/after, v)
			basis = append(basis, v)
		}
	}
	if basis == nil {
		return nil
	}
	return mat.NewDense(len(basis), cols, slices.Concat(basis...))
}
