package simulate

import (
	"context"

	"mafalda/factorize/baselines"
	"mafalda/internal/rounding"
	"mafalda/plan"
	"mafalda/strategy"
)

// inBins returns the noise of a method for random bins at an ε, which is made when it is needed first. The optimum is the
// strategy that is searched for this accountant at this ε, a local one.
func (s *Study) inBins(ctx context.Context, m *method, epsilon float64) (*Noise, error) {
	if made := m.binned[epsilon]; made != nil {
		return made, nil
	}
	c, multiplier, err := s.strategyForBins(ctx, m, epsilon)
	if err != nil {
		return nil, err
	}
	correlation, err := NewCorrelation(s.network.Graph.Nodes(), Shared(c), s.config.Schema)
	if err != nil {
		return nil, err
	}
	// the multiplier is for the strategy as it is; levels of Noise are for one of sensitivity one, under the participation
	// of a bin
	n := &Noise{Correlation: correlation, Multiplier: rounding.DivUp(multiplier, correlation.Sensitivity(0))}
	m.binned[epsilon] = n
	return n, nil
}

// strategyForBins returns the strategy of a method for an ε, and its noise multiplier.
func (s *Study) strategyForBins(ctx context.Context, m *method, epsilon float64) (strategy.Strategy, float64, error) {
	c := m.strategy
	switch {
	case m.name == Mafalda:
		h, err := s.curvedGram(ctx)
		if err != nil {
			return nil, 0, err
		}
		r, err := plan.OptimizeForBins(ctx, h, s.config.Schema, plan.BinsOptions{Bandwidth: s.options.Bandwidth,
			Epsilon: epsilon, Delta: s.options.Delta, MonteCarlo: s.options.MonteCarlo})
		if err != nil {
			return nil, 0, err
		}
		return r.Strategy, r.Privacy.NoiseMultiplier, nil
	case m.name == baselines.DPDSGD:
		c = strategy.Identity(s.config.Schema.Steps())
	}
	if m.said.holds(epsilon) {
		return c, m.said.NoiseMultiplier, m.said.manifest.ConfirmBins(ctx, strategy.LowerOf(c))
	}
	p, err := plan.CalibrateBins(ctx, c, s.config.Schema.Separation(), epsilon, s.options.Delta, s.options.MonteCarlo)
	return c, p.NoiseMultiplier, err
}
