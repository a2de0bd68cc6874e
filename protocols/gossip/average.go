package gossip

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"mafalda/accounting"
	"mafalda/internal/fault"
	"mafalda/internal/rounding"
	"mafalda/protocols/averaging"
	"mafalda/protocols/internal/inputs"
)

// Result says what a run of gossip leaks, as plain data.
type Result struct {
	averaging.Run
	Difference float64        `json:"difference"`
	Noisy      float64        `json:"noisy_mean"` // what the nodes agree on
	Mu         float64        `json:"mu"`         // μ against everybody who sees all messages
	Epsilon    float64        `json:"epsilon"`
	Delta      float64        `json:"delta"`
	WorstMu    float64        `json:"worst_pair_mu"`
	Pairs      []PairExposure `json:"pairs"`
}

// PairExposure is what an observer learns of a victim.
type PairExposure struct {
	Observer string         `json:"observer"` // label of the observer; of colluding ones all labels, separated by commas
	Victim   string         `json:"victim"`
	Mu       float64        `json:"mu"`
	Leakage  averaging.Nats `json:"leakage"`
}

// AverageOptions says how gossip averages.
type AverageOptions struct {
	NoiseStd   float64                // 0 means Difference
	Difference float64                // D: values this far apart are to be indistinguishable; 0 means the ValueStd
	Delta      float64                // δ for which ε is computed
	Progress   func(fraction float64) // hears how far the leakage is, if not nil
}

// fill puts defaults in, and refuses what makes no sense.
func (o *AverageOptions) fill(p *averaging.Problem) error {
	if o.Difference == 0 {
		o.Difference = p.ValueStd
	}
	if o.NoiseStd == 0 {
		o.NoiseStd = o.Difference
	}
	err := cmp.Or(averaging.CheckDeviation("NoiseStd", o.NoiseStd),
		averaging.CheckDeviation("Difference", o.Difference))
	if err != nil {
		return err
	}
	if math.IsInf(o.Difference/o.NoiseStd, 1) {
		return fault.New("NoiseStd", fmt.Sprintf("%g for values %g apart", o.NoiseStd, o.Difference),
			"mu is beyond all numbers")
	}
	return nil
}

// Average solves a problem with gossip under Gaussian noise, and says what everybody and every coalition of observers
// learns. It fails as averaging.Problem.Check, New and Protocol.Exposures do, for options out of range
// (*fault.Argument; accounting.Epsilon), and when the context ends.
func Average(ctx context.Context, p averaging.Problem, o AverageOptions) (*Result, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if err := o.fill(&p); err != nil {
		return nil, err
	}
	r := &Result{Run: p.Head("gossip", o.NoiseStd), Difference: o.Difference, Delta: o.Delta, Pairs: []PairExposure{}}
	var err error
	if r.Mu, err = accounting.MuFromNoise(o.NoiseStd, 1, o.Difference); err != nil {
		return nil, err
	}
	if r.Epsilon, err = accounting.Epsilon(r.Mu, o.Delta); err != nil {
		return nil, err
	}
	g, run, err := start(ctx, p, o.NoiseStd)
	if err != nil {
		return nil, err
	}
	r.Ran(run)
	r.Noisy = run.Noisy()
	return r, r.observe(ctx, g, p, o)
}

// observe fills in what the observers learn.
func (r *Result) observe(ctx context.Context, g *Protocol, p averaging.Problem, o AverageOptions) error {
	coalitions := p.Coalitions()
	for i, coalition := range coalitions {
		exposures, err := g.Exposures(ctx, coalition, p.UpTo())
		if err != nil {
			return err
		}
		observer := p.Label(coalition)
		for v, exposure := range exposures {
			if slices.Contains(coalition, v) || !p.Asked(v) {
				continue
			}
			seen := min(r.Mu, rounding.MulUp(r.Mu, rounding.SqrtUp(exposure.Seen)))
			r.WorstMu = max(r.WorstMu, seen)
			r.Pairs = append(r.Pairs, PairExposure{observer, p.Network.Graph.Label(v), seen,
				averaging.Nats(Leakage(exposure, p.ValueStd, o.NoiseStd))})
		}
		if o.Progress != nil {
			o.Progress(float64(i+1) / float64(len(coalitions)))
		}
	}
	return nil
}

// Plain runs consensus on the values themselves, without noise: the mean, and the errors of a problem's rounds.
func Plain(ctx context.Context, p averaging.Problem) (*Run, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	_, run, err := start(ctx, p, 0)
	return run, err
}

// start makes the protocol of a problem that was checked, and runs it.
func start(ctx context.Context, p averaging.Problem, noiseStd float64) (*Protocol, *Run, error) {
	g, err := New(p.Network.Graph, p.Network.Gossip)
	if err != nil {
		return nil, nil, err
	}
	rounds, tolerance := p.Limit()
	run, err := g.Run(ctx, p.Values, Options{noiseStd, rounds, tolerance}, inputs.Noise.Random(p.Seed))
	return g, run, err
}
