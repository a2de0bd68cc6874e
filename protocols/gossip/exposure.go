package gossip

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

// Exposure is the share of the variance of a node's noisy value that messages explain, Seen, and what is left, Hidden.
// Seen is never below the truth, Hidden never above it, and both are exact if they are 0 and 1: out of reach, or
// determined by the messages.
type Exposure = span.Exposure

// Exposures returns how much of every node's value the observers see in the rounds 0 to t, which may be Forever. Of
// observers all is seen. With noise of standard deviation σ on values that differ by D, they are in no better
// position than with μ-GDP, μ = (D/σ)√Seen; everybody who sees all messages has Seen = 1. The errors are observers
// that do not exist (ErrNetwork), networks that take hours (ErrTooLarge), and the context's.
func (p *Protocol) Exposures(ctx context.Context, observers []int, rounds int) ([]Exposure, error) {
	n := p.graph.Nodes()
	for _, v := range observers {
		if v < 0 || v >= n {
			return nil, fmt.Errorf("%w: observer %d does not exist", ErrNetwork, v)
		}
	}
	s, err := p.observation(observers).Observe(ctx, rounds)
	if err != nil {
		return nil, err
	}
	exposures := slices.Repeat([]Exposure{{Seen: 1}}, n)
	hidden, err := s.Exposures(ctx)
	for at, e := range hidden {
		exposures[s.Hidden[at]] = e
	}
	return exposures, err
}

func (p *Protocol) observation(observers []int) *span.Observation {
	return &span.Observation{Weights: p.weights, Work: p.work,
		Known: func(v int) bool { return slices.Contains(observers, v) },
		Seen: func(v int) bool {
			return slices.ContainsFunc(observers, func(a int) bool { return p.graph.Adjacency().At(a, v) != 0 })
		},
	}
}

// Leakage is the mutual information between what an observer sees and the value of a node with this exposure, if
// values are Gaussian, in nats, rounded up:
//
//	½ log(1 + Seen·σ_u²/(σ² + Hidden·σ_u²)),
//
// which is finite with any noise and infinite only without: for σ = 0 and nothing hidden.
func Leakage(e Exposure, valueStd, noiseStd float64) float64 {
	switch {
	case e.Seen == 0:
		return 0
	case valueStd <= noiseStd:
		q := valueStd / noiseStd
		x := e.Seen * q * q / (1 + e.Hidden*q*q)
		return rounding.Above(math.Max(math.Log1p(x)/2, math.SmallestNonzeroFloat64))
	}
	p := noiseStd / valueStd
	if x := e.Seen / (p*p + e.Hidden); p > 1e-100 || e.Hidden > 0 && x < math.MaxFloat64 {
		return rounding.Above(math.Log1p(x) / 2) // without p², where that is nothing, for x to be larger
	}
	value, noise := rounding.Log(valueStd), rounding.Log(noiseStd) // of numbers whose quotient, squared, is not one
	return rounding.Above(value - noise + (math.Abs(value)+math.Abs(noise))*0x1p-50)
}
