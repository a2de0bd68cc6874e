package gossip

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/protocols/averaging"
	"mafalda/protocols/internal/consensus"
	"mafalda/protocols/internal/span"
)

// ErrNetwork is wrapped by errors about a network that cannot average, or about what does not belong to it. It is the
// same in all rooms of protocols.
var ErrNetwork = consensus.ErrNetwork

// ErrTooLarge is wrapped by errors about networks that are too large to say what observers learn. It is the same in
// all rooms of protocols.
var ErrTooLarge = consensus.ErrTooLarge

// Protocol is averaging under Gaussian noise: every node adds noise to its value once, v(0) = u + N(0, σ²), and
// averages, v(t+1) = W v(t) (a step of Muffliato, Cyffers et al. 2022). The average is wrong by N(0, σ²/n).
type Protocol struct {
	graph   *graph.Graph
	weights *consensus.Weights
	work    span.Work // limit of the work that exposures take
}

// New checks that W keeps sums and reaches consensus; errors wrap ErrNetwork.
func New(g *graph.Graph, w *graph.Gossip) (*Protocol, error) {
	if err := consensus.Check(g, w); err != nil {
		return nil, err
	}
	return &Protocol{graph: g, weights: consensus.NewWeights(w.Matrix())}, nil
}

// Options says how a protocol runs.
type Options struct {
	NoiseStd  float64 // σ ≥ 0
	Rounds    int     // largest number of rounds
	Tolerance float64 // stop when ‖v(t) - m·1‖₂ is no more, m the mean of v(0); 0: run all rounds
}

// Run is a run of the protocol.
type Run = averaging.Trace

// Run averages the values u, with noise from r. The errors are a wrong number of values (ErrNetwork), noise that
// makes no sense (*fault.Argument), and the context's.
func (p *Protocol) Run(ctx context.Context, u []float64, o Options, r *rand.Rand) (*Run, error) {
	std := o.NoiseStd
	if len(u) != p.graph.Nodes() {
		return nil, fmt.Errorf("%w: %d values for %d nodes", ErrNetwork, len(u), p.graph.Nodes())
	}
	if !(std >= 0) || math.IsInf(std, 1) {
		return nil, fault.New("NoiseStd", std, "must be finite and not negative")
	}
	start := slices.Clone(u)
	for i := range start {
		start[i] += std * r.NormFloat64()
	}
	run := averaging.NewTrace(u, start)
	return &run, run.Average(ctx, p.weights.Matrix, o.Rounds, o.Tolerance)
}
