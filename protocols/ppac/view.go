package ppac

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mafalda/internal/rounding"
	"mafalda/protocols/internal/span"
)

// Forever stands for all rounds.
const Forever = span.Forever

// View is what one node, or several that collude, learn from a run of PPAC: their own values and fragments, the
// fragments they receive, and the values v_ℓ(τ) that their neighbours send in the rounds τ = 0, …, t. It is linear in
// the sources of randomness (Equation 17); coalitions go beyond the paper, which has single nodes.
//
// Given what the coalition knows from the preparation, the covariance of the unknown entries of v(0) is positive definite, but
// for those whose neighbours are all in the coalition: so a message is new if and only if its row e_ℓᵀWᵗ, on those entries, is
// no combination of earlier ones.
type View struct {
	protocol  *Protocol
	coalition []int
	span      *span.Span
}

// View finds what the observers learn up to a round, which may be Forever. The errors are observers that do not
// exist, are named twice, or are all nodes (ErrNetwork), and the context's. Networks that take hours wrap
// ErrTooLarge: fewer rounds help. It takes O(n³) operations at most.
func (p *Protocol) View(ctx context.Context, observers []int, rounds int) (*View, error) {
	for i, v := range observers {
		if v < 0 || v >= p.Nodes() || slices.Contains(observers[:i], v) {
			return nil, fmt.Errorf("%w: observer %d does not exist or is named twice", ErrNetwork, v)
		}
	}
	if len(observers) == 0 || len(observers) >= p.Nodes() || rounds < 0 {
		return nil, fmt.Errorf("%w: %d observers of %d nodes in %d rounds", ErrNetwork, len(observers), p.Nodes(),
			rounds)
	}
	inside := func(v int) bool { return slices.Contains(observers, v) }
	o := span.Observation{Weights: p.weights, Work: p.work,
		Known: func(v int) bool {
			return inside(v) || !slices.ContainsFunc(p.neighbours[v], func(u int) bool { return !inside(u) })
		},
		Seen: func(v int) bool { return slices.ContainsFunc(p.neighbours[v], inside) },
	}
	s, err := o.Observe(ctx, rounds)
	if err != nil {
		return nil, err
	}
	return &View{p, slices.Clone(observers), s}, nil
}

// Leakage is what a coalition learns of a node's value.
type Leakage struct {
	Victim int
	Nats   float64 // I(D; u_victim), never below the truth; +Inf if and only if the value is recovered
}

// Leakages computes the mutual information between the view and the value of every node outside of the coalition, by
// node, for Gaussian values and noise (Theorem 6.6):
//
//	π = ½ log(1 + σ_j² aᵀΣ⁻¹a) = -½ log(1 - ‖P ê_j‖²)
//
// where P projects on the span of what is known, written in sources of variance one: the share of u_j that is explained
// (span.Explain).
//
// Which values are recovered (Case 2, +Inf) is decided by the graph: a value is safe for ever unless all neighbours
// of the node that are not observers have no neighbours but the node and observers (recoveredBy). Until then it
// is a matter of what has been seen. The errors are deviations that make no sense, or are too much for double
// precision, and the context's.
func (v *View) Leakages(ctx context.Context, d Deviations) ([]Leakage, error) {
	if err := d.check(v.protocol); err != nil {
		return nil, err
	}
	var victims []int
	for j := range v.protocol.Nodes() {
		if !slices.Contains(v.coalition, j) {
			victims = append(victims, j)
		}
	}
	shares, err := span.Explain(ctx, victims, func(bits uint) ([]span.Vector, int) { return v.known(d, bits) })
	if err != nil {
		return nil, fmt.Errorf("what node %s learns: %w", v.protocol.graph.Label(v.coalition[0]), err)
	}
	leaks := make([]Leakage, len(victims))
	for i, j := range victims {
		leaks[i] = Leakage{j, math.Inf(1)}
		if e := shares[i]; !v.recovers(j) {
			leaks[i].Nats = rounding.Above(math.Min(-math.Log1p(-e.Seen), -math.Log(e.Hidden)) / 2)
		}
	}
	return leaks, nil
}

// recovers decides whether the view determines u_j. If the graph allows it at all, u_j is the sum of v_s(0) over the
// neighbours s that are not observers, up to what is known beforehand: the question is whether that sum is in the
// span of what has been seen.
func (v *View) recovers(j int) bool {
	if !recoveredBy(v.protocol.neighbours, v.coalition, j) {
		return false
	}
	return v.span.Determines(v.protocol.neighbours[j])
}
