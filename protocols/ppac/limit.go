package ppac

import (
	"math"
	"slices"

	"mafalda/internal/rounding"
)

// Limits returns what a coalition is left with however much noise there is, for every node, in nats (NaN for the
// coalition itself), if it sees all of v(0); an upper bound of it if it sees less.
//
// The unseen fragments of a node j go to its neighbours outside of the coalition. Join these neighbours, for every j:
// within a component of what is joined, noise cancels in Σ v_k(0) alone, which is the sum of the values of the c
// nodes whose fragments are in it, but for known fragments. A value is one of c, and leaks ½ log(1 + σ_j²/Σ σ²) over
// the other c-1: ½ log(1 + 1/(c-1)) if all have the same variance, and everything for c = 1 (Recoverable). The
// average alone says as much with c = n.
func (p *Protocol) Limits(coalition []int, value func(i int) float64) []float64 {
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
	var largest float64
	for j, k := range receiver {
		if k >= 0 {
			largest = math.Max(largest, value(j))
		}
	}
	variance := func(j int) float64 { x := value(j) / largest; return x * x }
	parts := make(map[int][]int) // nodes whose fragments are in a component
	for j, k := range receiver {
		if k >= 0 {
			parts[joined.find(k)] = append(parts[joined.find(k)], j)
		}
	}
	limits := slices.Repeat([]float64{math.Inf(1)}, p.Nodes())
	for j := range inside {
		if inside[j] {
			limits[j] = math.NaN()
		}
	}
	for _, part := range parts {
		addLimits(limits, part, variance)
	}
	return limits
}

// addLimits fills in the limits of the nodes of a component, rounded up.
func addLimits(limits []float64, part []int, variance func(j int) float64) {
	var total float64
	for _, j := range part {
		total += variance(j)
	}
	for _, j := range part {
		own := variance(j)
		others := total - own
		if own > total/2 { // there is only one of these: subtraction would cancel
			others = 0
			for _, i := range part {
				if i != j {
					others += variance(i)
				}
			}
		}
		if others > 0 {
			sums := 1 + 4*float64(len(part))*unit
			limits[j] = rounding.Above(math.Log1p(own/others*sums) / 2)
		}
	}
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
