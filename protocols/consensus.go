package protocols

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mafalda/graph"
)

// ErrNetwork is wrapped by errors about a network that a protocol cannot run on: nodes without neighbours, chosen neighbours
// that are none, weights that are not doubly stochastic or do not lead to consensus.
var ErrNetwork = errors.New("no network for this protocol")

// neighbourhoods lists every node's neighbours, ascending.
func neighbourhoods(g *graph.Graph) [][]int {
	n := make([][]int, g.Nodes())
	g.Adjacency().DoNonZero(func(i, j int, _ float64) { n[i] = append(n[i], j) })
	return n
}

// checkConsensus verifies that W belongs to the graph and that its powers tend to 11ᵀ/n: W1 = Wᵀ1 = 1 and ρ(W - 11ᵀ/n) < 1,
// which for weights that are not negative means that the nodes reach each other and that 1 is the only common divisor of the
// lengths of all cycles (Perron and Frobenius). Nothing is computed in floating point but the sums.
func checkConsensus(g *graph.Graph, w *graph.Gossip) error {
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
	for i := range n {
		if g.Degree(i) == 0 {
			return fmt.Errorf("%w: node %s has no neighbour", ErrNetwork, g.Label(i))
		}
	}
	var foreign error
	w.Matrix().DoNonZero(func(i, j int, _ float64) {
		if foreign == nil && i != j && g.Adjacency().At(i, j) == 0 {
			foreign = fmt.Errorf("%w: the consensus matrix lets node %s average over %s, which is no neighbour", ErrNetwork, g.Label(i), g.Label(j))
		}
	})
	if foreign != nil {
		return foreign
	}
	if !w.DoublyStochastic() {
		return fmt.Errorf("%w: the consensus matrix is not doubly stochastic (its columns do not sum to 1), so sums are not kept", ErrNetwork)
	}
	switch period := period(w.Matrix()); {
	case period == 0:
		return fmt.Errorf("%w: not connected: no consensus", ErrNetwork)
	case period > 1:
		return fmt.Errorf("%w: the consensus matrix swaps groups of nodes for ever (period %d, ρ(W - 11ᵀ/n) = 1), as I - (D-A)/d_max does on regular bipartite graphs: no consensus",
			ErrNetwork, period)
	}
	return nil
}

// period returns the greatest common divisor of the lengths of the cycles of a matrix's graph, 0 if it is not strongly connected.
func period(w *graph.CSR) int {
	level, reached := levels(w)
	_, back := levels(w.Transpose())
	n, _ := w.Dims()
	if reached < n || back < n {
		return 0
	}
	divisor := 0
	w.DoNonZero(func(i, j int, v float64) {
		if v != 0 {
			divisor = gcd(divisor, abs(level[i]+1-level[j]))
		}
	})
	return divisor
}

// levels returns the distances from node 0, -1 for what it does not reach.
func levels(w *graph.CSR) (level []int, reached int) {
	n, _ := w.Dims()
	level = slices.Repeat([]int{-1}, n)
	level[0] = 0
	queue := []int{0}
	for i := 0; i < len(queue); i++ {
		w.DoRowNonZero(queue[i], func(u, v int, x float64) {
			if x != 0 && level[v] < 0 {
				level[v] = level[u] + 1
				queue = append(queue, v)
			}
		})
	}
	return level, len(queue)
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func abs(a int) int { return max(a, -a) }

// ChooseNeighbours draws the neighbour m_i of every node uniformly. Nodes without neighbours get -1.
func ChooseNeighbours(g *graph.Graph, r *rand.Rand) []int {
	chosen := make([]int, g.Nodes())
	for i, n := range neighbourhoods(g) {
		chosen[i] = -1
		if len(n) > 0 {
			chosen[i] = n[r.IntN(len(n))]
		}
	}
	return chosen
}

// Mean returns Σu/n.
func Mean(u []float64) float64 {
	var sum float64
	for _, x := range u {
		sum += x
	}
	return sum / float64(len(u))
}

// Distance returns ‖v - m·1‖₂.
func Distance(v []float64, m float64) float64 {
	var norm float64
	for _, x := range v {
		norm = math.Hypot(norm, x-m)
	}
	return norm
}

// average appends W·v to v(0) until all nodes are within tolerance of their mean, or as near as numbers of this size
// come; or for so many rounds. With a tolerance of 0 it runs them all.
func average(ctx context.Context, w *graph.CSR, values [][]float64, rounds int, tolerance float64) ([][]float64, error) {
	mean := Mean(values[0])
	near := math.Max(tolerance, 8*unit*math.Sqrt(float64(len(values[0])))*floats.Norm(values[0], math.Inf(1)))
	for t := 0; t < rounds && !(tolerance > 0 && Distance(values[t], mean) <= near); t++ {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		next := make([]float64, len(values[t]))
		w.MulVecTo(next, false, values[t])
		values = append(values, next)
	}
	return values, nil
}
