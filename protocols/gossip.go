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

// Exposures returns how much of every node's value the observers see: e_jᵀPe_j, where P projects on the span of the messages of the
// rounds 0 to t, which may be Forever, less the observers' own. With noise of standard deviation σ on values that differ by D, the
// observers are in no better position than with μ-GDP, μ = (D/σ)√exposure; everybody who sees all messages has exposure 1. Observers
// have 1, too.
func (g *Gossip) Exposures(ctx context.Context, observers []int, rounds int) ([]float64, error) {
	n := g.graph.Nodes()
	for _, v := range observers {
		if v < 0 || v >= n {
			return nil, fmt.Errorf("%w: observer %d does not exist", ErrNetwork, v)
		}
	}
	inside := func(v int) bool { return slices.Contains(observers, v) }
	s, err := (&observation{weights: g.weights, residues: g.residues, known: inside,
		seen: func(v int) bool {
			return slices.ContainsFunc(observers, func(a int) bool { return g.graph.Adjacency().At(a, v) != 0 })
		},
	}).observe(ctx, rounds)
	if err != nil {
		return nil, err
	}
	exposures := slices.Repeat([]float64{1}, n)
	for at, v := range s.hidden {
		var sum float64
		for r := range s.rank() {
			x := s.basis[r*len(s.hidden)+at]
			sum += x * x
		}
		exposures[v] = math.Min(sum, 1)
	}
	return exposures, nil
}

// GossipLeakage is the mutual information between what an observer sees and the value of a node with this exposure, if values are
// Gaussian, in nats: -½ log(1 - exposure·σ_u²/(σ_u² + σ²)).
func GossipLeakage(exposure, valueStd, noiseStd float64) float64 {
	share := valueStd / math.Hypot(valueStd, noiseStd)
	return -math.Log1p(-exposure*share*share) / 2
}
