package ppac

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"mafalda/graph"
	"mafalda/protocols/internal/consensus"
	"mafalda/protocols/internal/span"
)

// ErrNetwork is wrapped by errors about a network that the protocol cannot run on: nodes without neighbours, chosen
// neighbours that are none, weights that are not doubly stochastic or do not lead to consensus. It is the same in all
// rooms of protocols.
var ErrNetwork = consensus.ErrNetwork

// ErrTooLarge is wrapped by errors about networks that are too large to say what observers learn. It is the same in
// all rooms of protocols.
var ErrTooLarge = consensus.ErrTooLarge

// Protocol is provably private averaging consensus (Fereydounian et al., Algorithm 1) on a graph: every node splits
// its value into a fragment Γ_ij for each neighbour j, all of them noise but the one for m_i, which completes the
// sum; nodes start from the sums of the fragments they received, and average with W.
type Protocol struct {
	graph      *graph.Graph
	neighbours [][]int
	chosen     []int              // m_i
	weights    *consensus.Weights // W
	source     [][]int            // number of the noise Γ_ij, j = neighbours[i][at], behind the n values; -1 for m_i
	sources    int                // 2·edges
	work       span.Work          // limit of the work that views take
}

// New checks the network. chosen[i] is m_i. The errors wrap ErrNetwork: a directed graph, nodes without neighbours,
// an m_i that is no neighbour, a W that belongs to another graph, does not keep sums, or never reaches consensus.
func New(g *graph.Graph, w *graph.Gossip, chosen []int) (*Protocol, error) {
	if err := consensus.Check(g, w); err != nil {
		return nil, err
	}
	if len(chosen) != g.Nodes() {
		return nil, fmt.Errorf("%w: %d chosen neighbours for %d nodes", ErrNetwork, len(chosen), g.Nodes())
	}
	p := &Protocol{graph: g, neighbours: consensus.Neighbourhoods(g), chosen: slices.Clone(chosen),
		weights: consensus.NewWeights(w.Matrix()), sources: g.Nodes()}
	for i, around := range p.neighbours {
		if !slices.Contains(around, chosen[i]) {
			name := fmt.Sprint(chosen[i])
			if chosen[i] >= 0 && chosen[i] < g.Nodes() {
				name = g.Label(chosen[i])
			}
			return nil, fmt.Errorf("%w: node %s chooses %s, which is not its neighbour", ErrNetwork, g.Label(i), name)
		}
		numbers := make([]int, len(around))
		for at, j := range around {
			numbers[at] = -1
			if j != chosen[i] {
				numbers[at] = p.sources
				p.sources++
			}
		}
		p.source = append(p.source, numbers)
	}
	return p, nil
}

// Nodes returns the number of nodes, n.
func (p *Protocol) Nodes() int { return len(p.neighbours) }

// Chosen returns m_i.
func (p *Protocol) Chosen(i int) int { return p.chosen[i] }

// ChooseNeighbours draws the neighbour m_i of every node uniformly. Nodes without neighbours get -1.
func ChooseNeighbours(g *graph.Graph, r *rand.Rand) []int {
	chosen := make([]int, g.Nodes())
	for i, n := range consensus.Neighbourhoods(g) {
		chosen[i] = -1
		if len(n) > 0 {
			chosen[i] = n[r.IntN(len(n))]
		}
	}
	return chosen
}
