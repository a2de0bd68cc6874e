package consensus

import (
	"errors"
	"fmt"
	"slices"

	"mafalda/graph"
)

// ErrNetwork is wrapped by errors about a network that a protocol cannot run on, or about what does not belong to it.
// The rooms above export it under the same name.
var ErrNetwork = errors.New("no network for this protocol")

// ErrTooLarge is wrapped by errors about networks that are too large to say what observers learn, or to calibrate
// estimates: hours of work, or more memory than there is. The rooms above export it under the same name.
var ErrTooLarge = errors.New("too large")

// Neighbourhoods lists every node's neighbours, ascending.
func Neighbourhoods(g *graph.Graph) [][]int {
	n := make([][]int, g.Nodes())
	g.Adjacency().DoNonZero(func(i, j int, _ float64) { n[i] = append(n[i], j) })
	return n
}

// Check verifies that W belongs to the graph and that its powers tend to 11ᵀ/n: W1 = Wᵀ1 = 1 and ρ(W - 11ᵀ/n) < 1,
// which for weights that are not negative means that the nodes reach each other and that 1 is the only common divisor
// of the lengths of all cycles (Perron and Frobenius). Nothing is computed in floating point but the sums.
func Check(g *graph.Graph, w *graph.Gossip) error {
	n := g.Nodes()
	rows, _ := w.Matrix().Dims()
	if g.Directed() {
		return fmt.Errorf("%w: the graph is directed, and fragments are sent both ways", ErrNetwork)
	}
	if rows != n {
		return fmt.Errorf("%w: a consensus matrix of %d rows for %d nodes", ErrNetwork, rows, n)
	}
	if n < 2 {
		return fmt.Errorf("%w: one node has nobody to average with", ErrNetwork)
	}
	var foreign error
	w.Matrix().DoNonZero(func(i, j int, _ float64) {
		if foreign == nil && i != j && g.Adjacency().At(i, j) == 0 {
			foreign = fmt.Errorf("%w: the consensus matrix lets node %s average over %s, which is no neighbour",
				ErrNetwork,
				g.Label(i), g.Label(j))
		}
	})
	if foreign != nil {
		return foreign
	}
	if !w.DoublyStochastic() {
		return fmt.Errorf("%w: the consensus matrix is not doubly stochastic (its columns do not sum to 1), "+
			"so sums are not kept", ErrNetwork)
	}
	switch period := period(w.Matrix()); {
	case period == 0:
		return fmt.Errorf("%w: not connected: no consensus", ErrNetwork)
	case period > 1:
		return fmt.Errorf("%w: the consensus matrix swaps groups of nodes for ever (period %d, ρ(W - 11ᵀ/n) = 1), "+
			"as I - (D-A)/d_max does on regular bipartite graphs: no consensus", ErrNetwork, period)
	}
	return nil
}

// period returns the greatest common divisor of the lengths of the cycles of a matrix's graph, 0 if it is not
// strongly connected.
func period(w *graph.CSR) int {
	level := graph.Hops(w, []int{0})
	if slices.Contains(level, -1) || slices.Contains(graph.Hops(w.Transpose(), []int{0}), -1) {
		return 0
	}
	divisor := 0
	w.DoNonZero(func(i, j int, v float64) {
		if v != 0 {
			away := level[i] + 1 - level[j]
			divisor = gcd(divisor, max(away, -away))
		}
	})
	return divisor
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
