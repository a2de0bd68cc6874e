package protocols

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"mafalda/graph"
)

// Gossip is averaging under Gaussian noise, what PPAC and DPPS are held against: every node adds noise to its value once,
// v(0) = u + N(0, σ²), and averages, v(t+1) = W v(t) (a step of Muffliato, Cyffers et al. 2022). The average is wrong by N(0, σ²/n).
type Gossip struct {
	graph    *graph.Graph
	w        *graph.CSR
	weights  *weights
	residues [][]uint64
}

// NewGossip checks that W keeps sums and reaches consensus; errors wrap ErrNetwork.
func NewGossip(g *graph.Graph, w *graph.Gossip) (*Gossip, error) {
	if err := checkConsensus(g, w); err != nil {
		return nil, err
	}
	exact := newWeights(w.Matrix())
	return &Gossip{g, w.Matrix(), exact, exact.residues()}, nil
}

// GossipOptions says how Gossip runs.
type GossipOptions struct {
	NoiseStd  float64 // σ ≥ 0
	Rounds    int     // at most
	Tolerance float64 // stop when ‖v(t) - m·1‖₂ is no more, m the mean of v(0)
}

// Run returns v(0), v(1), …, with noise from r. The errors are options that make no sense, and the context's.
func (g *Gossip) Run(ctx context.Context, u []float64, o GossipOptions, r *rand.Rand) ([][]float64, error) {
	std := o.NoiseStd
	if len(u) != g.graph.Nodes() {
		return nil, fmt.Errorf("%w: %d values for %d nodes", ErrNetwork, len(u), g.graph.Nodes())
	}
	if !(std >= 0) || math.IsInf(std, 1) {
		return nil, fmt.Errorf("noise of standard deviation %v: must be finite and not negative", std)
	}
	values := [][]float64{slices.Clone(u)}
	for i := range values[0] {
		values[0][i] += std * r.NormFloat64()
	}
	return average(ctx, g.w, values, o.Rounds, o.Tolerance)
}

// Exposures returns how much of every node's value the observers see in the rounds 0 to t, which may be Forever. Of
// observers all is seen. With noise of standard deviation σ on values that differ by D, they are in no better position
// than with μ-GDP, μ = (D/σ)√Seen; everybody who sees all messages has Seen = 1.
func (g *Gossip) Exposures(ctx context.Context, observers []int, rounds int) ([]Exposure, error) {
	n := g.graph.Nodes()
	inside := make([]bool, n)
	for _, v := range observers {
		if v < 0 || v >= n {
			return nil, fmt.Errorf("%w: observer %d does not exist", ErrNetwork, v)
		}
		inside[v] = true
	}
	s, err := (&observation{weights: g.weights, residues: g.residues, known: func(v int) bool { return inside[v] },
		seen: func(v int) bool {
			return slices.ContainsFunc(observers, func(a int) bool { return g.graph.Adjacency().At(a, v) != 0 })
		},
	}).observe(ctx, rounds)
	if err != nil {
		return nil, err
	}
	exposures := slices.Repeat([]Exposure{{1, 0}}, n)
	for at, e := range s.exposures() {
		exposures[s.hidden[at]] = e
	}
	return exposures, nil
}
