package protocols

import (
	"math"
	"slices"
)

// Limits returns what a coalition is left with however much noise there is, for every node, in nats (NaN for the coalition itself), if
// it sees all of v(0); an upper bound of it if it sees less.
//
// The unseen fragments of a node j go to its neighbours outside of the coalition. Join these neighbours, for every j: within a component
// of what is joined, noise cancels in Σ v_k(0) alone, which is the sum of the values of the c nodes whose fragments are in it, but for
// known fragments. A value is one of c, and leaks ½ log(1 + σ_j²/Σ σ²) over the other c-1: ½ log(1 + 1/(c-1)) if all have the same
// variance, and everything for c = 1 (Recoverable). The average alone says as much with c = n.
func (p *PPAC) Limits(coalition []int, value func(i int) float64) []float64 {
	inside := make([]bool, p.Nodes())
	for _, a := range coalition {
		inside[a] = true
	}
	joined := newUnion(p.Nodes())
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
	total := make([]float64, p.Nodes()) // variances, by component
	for j, k := range receiver {
		if k >= 0 {
			total[joined.find(k)] += value(j) * value(j)
		}
	}
	limits := make([]float64, p.Nodes())
	for j, k := range receiver {
		own := value(j) * value(j)
		switch {
		case inside[j]:
			limits[j] = math.NaN()
		case k < 0 || total[joined.find(k)] <= own:
			limits[j] = math.Inf(1)
		default:
			limits[j] = math.Log1p(own/(total[joined.find(k)]-own)) / 2
		}
	}
	return limits
}

// union is a partition whose parts can be joined.
type union []int

func newUnion(n int) union {
	u := make(union, n)
	for i := range u {
		u[i] = i
	}
	return u
}

func (u union) find(i int) int {
	for u[i] != i {
		u[i] = u[u[i]]
		i = u[i]
	}
	return i
}

func (u union) join(a, b int) { u[u.find(a)] = u.find(b) }
