package ppac

import (
	"math"
	"slices"

	"mafalda/internal/lists"
	"mafalda/internal/rounding"
)

// Limits returns what a coalition is left with however much noise there is, for every node, in nats (NaN for the
// coalition itself), if it sees all of v(0); an upper bound of it if it sees less.
//
// The unseen fragments of a node j go to its neighbours outside of the coalition. Join these neighbours, for every j:
// within a component of what is joined, noise cancels in Σ v_k(0) alone, which is the sum of the values of the c
// nodes whose fragments are in it, but for known fragments. A value is one of c of the same variance, and leaks
// ½ log(1 + 1/(c-1)), and everything for c = 1 (Recoverable). The average alone says as much with c = n.
func (p *Protocol) Limits(coalition []int) []float64 {
	inside := make([]bool, p.Nodes())
	for _, a := range coalition {
		inside[a] = true
	}
	joined := union(lists.UpTo(p.Nodes()))
	receiver := slices.Repeat([]int{-1}, p.Nodes()) // of an unseen fragment
	for j, around := range p.neighbours {
		for _, k := range around {
			if inside[j] || inside[k] {
				continue
			}
			if receiver[j] >= 0 {
				joined.join(receiver[j], k)
			}
			receiver[j] = k
		}
	}
	count := map[int]int{} // of nodes whose fragments are in a component
	for _, k := range receiver {
		if k >= 0 {
			count[joined.find(k)]++
		}
	}
	return lists.Make(p.Nodes(), func(j int) float64 {
		if inside[j] {
			return math.NaN()
		}
		if k := receiver[j]; k >= 0 && count[joined.find(k)] > 1 {
			c := float64(count[joined.find(k)])
			return rounding.Above(math.Log1p(1/(c-1)*(1+4*c*0x1p-53)) / 2)
		}
		return math.Inf(1)
	})
}

// union is a partition whose parts can be joined: an element of every part stands for itself, others for one beside them.
type union []int

func (u union) find(i int) int {
	for u[i] != i {
		u[i] = u[u[i]]
		i = u[i]
	}
	return i
}

func (u union) join(a, b int) { u[u.find(a)] = u.find(b) }
