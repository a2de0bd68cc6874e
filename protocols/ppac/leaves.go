package ppac

import (
	"cmp"
	"slices"

	"mafalda/graph"
	"mafalda/protocols/internal/consensus"
)

// Pair is a node whose value is at stake, the head, and a node that learns it, the tail.
type Pair struct{ Head, Tail int }

// GeneralizedLeaves lists the generalized leaves of a graph (Fereydounian et al., Definition 6.7) by head, then tail:
// all neighbours of the head but the tail have two neighbours, the head and the tail. The tail recovers the value of
// the head from the messages of round 0. It takes time linear in the number of edges, but for sorting the result.
func GeneralizedLeaves(g *graph.Graph) []Pair { return scanPairs(g, false) }

// Recoverable lists the pairs in which the tail alone recovers the value of the head, if W has a positive weight on
// every edge of the connected graph: all neighbours of the head but the tail have no neighbour besides the two. These
// are the generalized leaves, and the neighbours of leaves: on the path a-b-c, node c recovers the value of b,
// although (b, c) is no generalized leaf (recoveredBy). Linear in edges and result.
func Recoverable(g *graph.Graph) []Pair { return scanPairs(g, true) }

// scanPairs finds the pairs in which each neighbour of the head but the tail has degree two and the tail as its other
// neighbour, or, with leaves, degree one.
func scanPairs(g *graph.Graph, leaves bool) []Pair {
	around := consensus.Neighbourhoods(g)
	var pairs []Pair
	between := make([]int, g.Nodes())   // between[i]: nodes of degree two between the head and i
	adjacent := make([]bool, g.Nodes()) // to the head
	harmless := func(s int) int {       // 1 for what tells no observer anything
		if leaves && len(around[s]) == 1 {
			return 1
		}
		return 0
	}
	for head, near := range around {
		candidates, free := slices.Clone(near), 0
		for _, s := range near {
			adjacent[s] = true
			free += harmless(s)
		}
		for _, s := range near {
			if len(around[s]) == 2 {
				other := around[s][0] + around[s][1] - head
				if between[other]++; between[other] == 1 && !adjacent[other] {
					candidates = append(candidates, other)
				}
			}
		}
		for _, tail := range candidates {
			needed, covered := len(near), between[tail]+free
			if adjacent[tail] {
				needed, covered = needed-1, covered-harmless(tail)
			}
			if covered == needed {
				pairs = append(pairs, Pair{head, tail})
			}
		}
		for _, v := range candidates {
			between[v], adjacent[v] = 0, false
		}
	}
	slices.SortFunc(pairs, func(a, b Pair) int { return cmp.Or(a.Head-b.Head, a.Tail-b.Tail) })
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
