package simulate

import (
	"context"

	"mafalda/accounting/pld"
	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/strategy"
)

// sampled is a strategy with as many groups as bands, ready for batches that are drawn in secret.
type sampled struct {
	groups       int
	correlation  *Correlation
	squaredError float64 // tr(C⁻ᵀHC⁻¹) with columns of norm one at most; 0 where nothing is chosen by it
}

// single is the participation of one round: the columns of a group have disjoint supports.
func (s *Study) single() (participation.Schema, error) {
	steps := s.config.Schema.Steps()
	return participation.NewCyclic(steps, 1, steps)
}

// drawnFrom returns from how many groups the batches of a method are drawn at an ε, with which probability, and its
// noise. Of a method with several strategies it takes the one with the least squared error at the ε; costs fall with the
// number of bands, and then rise, so that the search ends behind two that are no better.
func (s *Study) drawnFrom(ctx context.Context, m *method, epsilon float64) (participation.Sampling, *Noise, error) {
	var best sampled
	var noise *Noise
	worse := 0 // candidates since the best
	costs := func(m, squaredError float64) float64 { return m * m * squaredError }
	for _, groups := range s.groupsOf(m) {
		of, err := s.sampledOf(ctx, m, groups)
		if err != nil {
			return nil, nil, err
		}
		multiplier, err := s.multiplier(groups, epsilon)
		if m.said.holds(epsilon) {
			multiplier, err = m.said.NoiseMultiplier, nil
		}
		if err != nil {
			return nil, nil, err
		}
		if noise == nil || costs(multiplier, of.squaredError) < costs(noise.Multiplier, best.squaredError) {
			best, noise, worse = of, &Noise{Correlation: of.correlation, Multiplier: multiplier}, 0
		} else if worse++; worse == 2 {
			break
		}
	}
	return s.poisson(best.groups), noise, nil
}

// poisson draws from so many groups what the schema's batches have in expectation.
func (s *Study) poisson(groups int) participation.PoissonSampling {
	return participation.PoissonSampling{Groups: groups,
		Probability: float64(groups) / float64(s.config.Schema.Separation())}
}

// groupsOf are the numbers of groups, and of bands, that a method has a strategy for: of an export that was made for
// such batches those that it says, and of the optimum, unless one is asked for, all powers of two up to b.
func (s *Study) groupsOf(m *method) []int {
	switch {
	case m.name == baselines.DPDSGD:
		return []int{1}
	case m.said != nil:
		return []int{m.said.Groups}
	case m.export != "":
		return []int{m.correlation.Bands()}
	case s.options.Bandwidth > 0:
		return []int{s.options.Bandwidth}
	}
	var all []int
	for w := 1; w <= s.config.Schema.Separation(); w *= 2 {
		all = append(all, w)
	}
	return all
}

// sampledOf returns the strategy of a method for so many groups, made when it is needed first.
func (s *Study) sampledOf(ctx context.Context, m *method, groups int) (sampled, error) {
	if m.export != "" {
		return sampled{groups: groups, correlation: m.correlation}, nil
	}
	if of, there := m.sampled[groups]; there {
		return of, nil
	}
	schema, err := s.single()
	if err != nil {
		return sampled{}, err
	}
	of := sampled{groups: groups}
	var made strategy.Strategy = strategy.Identity(schema.Steps())
	if m.name == Mafalda {
		r, err := s.banded(ctx, groups, schema)
		if err != nil {
			return sampled{}, err
		}
		made, of.squaredError = r.Strategy, r.SquaredError
	}
	if of.correlation, err = NewCorrelation(s.network.Graph.Nodes(), Shared(made), schema); err != nil {
		return sampled{}, err
	}
	if m.sampled == nil {
		m.sampled = map[int]sampled{}
	}
	m.sampled[groups] = of
	return of, nil
}

// banded returns the certified optimum of so many bands for the network, with columns of norm one.
func (s *Study) banded(ctx context.Context, bands int, schema participation.Schema) (*factorize.Result, error) {
	h, err := s.gram(ctx)
	if err != nil {
		return nil, err
	}
	r, err := factorize.Banded{Bandwidth: bands}.Optimize(ctx, factorize.Mean(h), schema,
		factorize.Options{Gap: gapFor(s.config.trained(), schema.Steps())})
	if err != nil {
		return nil, err
	}
	return r, converged(r)
}

// multiplier returns the least noise multiplier with which the rounds of a group are (ε, δ)-private, rounded up. The error
// is a fault.Argument about Epsilons that no noise meets.
func (s *Study) multiplier(groups int, epsilon float64) (float64, error) {
	at := sampledLevel{groups, epsilon}
	if m, there := s.multipliers[at]; there {
		return m, nil
	}
	p := s.poisson(groups)
	found, err := pld.Calibrate(pld.Target{Probability: p.Probability,
		Rounds: p.Rounds(s.config.Schema.Steps()), Epsilon: epsilon, Delta: s.options.Delta})
	if err != nil {
		return 0, fault.New("Epsilons", epsilon, "no noise meets it for delta %v: %v", s.options.Delta, err)
	}
	if s.multipliers == nil {
		s.multipliers = map[sampledLevel]float64{}
	}
	s.multipliers[at] = found.NoiseMultiplier
	return found.NoiseMultiplier, nil
}

// sampledLevel is what a noise multiplier depends on, in a study.
type sampledLevel struct {
	groups  int
	epsilon float64
}
