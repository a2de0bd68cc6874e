package ppac

import (
	"slices"

	"mafalda/graph"
	"mafalda/protocols/internal/consensus"
)

// Pair is a node whose value is at stake, the head, and a node that learns it, the tail.
type Pair struct{ Head, Tail int }

// GeneralizedLeaves lists the generalized leaves of a graph (Fereydounian et al., Definition 6.7) by head, then tail:
// all neighbours of the head but the tail have two neighbours, the head and the tail. The tail recovers the value of
// the head from the messages of round 0. It takes time linear in the number of edges.
func GeneralizedLeaves(g *graph.Graph) []Pair { return scanPairs(g, false) }

// Recoverable lists the pairs in which the tail alone recovers the value of the head, if W has a positive weight on
// every edge of the connected graph: all neighbours of the head but the tail have no neighbour besides the two. These
// are the generalized leaves, and the neighbours of leaves: on the path a-b-c, node c recovers the value of b,
// although (b, c) is no generalized leaf (recoveredBy). Linear in edges and result.
func Recoverable(g *graph.Graph) []Pair { return scanPairs(g, true) }

// scanPairs finds the pairs in which each neighbour of the head but the tail has degree two and the tail as its other
// neighbour, or, with leaves, degree one.
func scanPairs(g *graph.Graph, leaves bool) (pairs []Pair) {
	around := consensus.Neighbourhoods(g)
	matters := func(s int) bool { return !leaves || len(around[s]) > 1 }
	for head, near := range around {
		at := slices.IndexFunc(near, matters)
		if at < 0 {
			for _, tail := range near {
				pairs = append(pairs, Pair{head, tail})
			}
			continue
		}
		tails := near[at : at+1] // or the other neighbour of that one
		if first := around[near[at]]; len(first) == 2 {
			tails = slices.Sorted(slices.Values([]int{near[at], first[0] + first[1] - head}))
		}
		for _, tail := range tails {
			if !slices.ContainsFunc(near, func(s int) bool {
				return s != tail && matters(s) && (len(around[s]) != 2 || !slices.Contains(around[s], tail))
			}) {
				pairs = append(pairs, Pair{head, tail})
			}
		}
	}
	return pairs
}

// recoveredBy reports whether a coalition A recovers the value of a node j outside of it, if W has a positive weight on every
// edge of the connected graph: if and only if all neighbours of j outside of A have no neighbours but j and members of A.
//
// Only if: let s ∉ A be a neighbour of j and b ∉ A ∪ {j} one of s. Add c to u_j and Γ_js, and take c from u_b and Γ_bs. All
// fragments that A sends or receives, and v(0), are as before: A sees the same, and u_j is another.
//
// If: A knows Γ_ja for its members a, and needs F = Σ v_s(0) over the other neighbours s, since v_s(0) = Γ_js + Σ_a Γ_as.
// Those next to A send v_s(0) to it. The others are leaves at j; then A hears v_j(t) of all rounds, from j or through an s
// that is next to A. Rows and columns of W sum to 1, so that w_sj = w_js = 1 - w_ss for a leaf, and A can compute
// Σ (1 - w_ss) w_ssᵗ v_s(0) over the leaves for all t from v_j(t+1). Grouped by w_ss, that is a Vandermonde system for the sums
// of the groups.
func recoveredBy(around [][]int, coalition []int, head int) bool {
	for _, s := range around[head] {
		if slices.Contains(coalition, s) {
			continue
		}
		for _, b := range around[s] {
			if b != head && !slices.Contains(coalition, b) {
				return false
			}
		}
	}
	return true
}
