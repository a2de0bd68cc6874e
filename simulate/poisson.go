package simulate

import (
	"context"
	"fmt"

	"mafalda/accounting/sampling"
	"mafalda/factorize"
	"mafalda/factorize/bands"
	"mafalda/factorize/baselines"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/strategy"
)

// drawnFrom returns from how many groups the batches of a method are drawn at an ε, with which probability, and its
// noise. Of a method with several strategies it takes the one with the least squared error at the ε; costs fall with the
// number of bands, and then rise, so that the search ends behind two that are no better.
func (s *Study) drawnFrom(ctx context.Context, m *method, epsilon float64) (participation.Sampling, *Noise, error) {
	made := map[int]*Noise{}
	groups, err := bands.Descend(s.groupsOf(m), 2, func(groups int) (float64, error) {
		of, squaredError, err := s.sampledOf(ctx, m, groups)
		if err != nil {
			return 0, err
		}
		if m.said.holds(epsilon) {
			made[groups] = &Noise{Correlation: of, Multiplier: m.said.NoiseMultiplier}
			return 0, nil // an export has one strategy
		}
		multiplier, err := s.multiplier(groups, epsilon)
		made[groups] = &Noise{Correlation: of, Multiplier: multiplier}
		return multiplier * multiplier * squaredError, err
	})
	if err != nil {
		return nil, nil, err
	}
	numbers := s.fromGroups(groups)
	if m.said.holds(epsilon) {
		if numbers.Batches.Records > m.said.Records {
			return nil, nil, fmt.Errorf("%w: a node has %d records, more than the %d that the privacy of %s is for",
				participation.ErrViolated, numbers.Batches.Records, m.said.Records, m.name)
		}
		numbers.Batches = m.said.Batches()
	}
	return numbers.Sampling(), made[groups], nil
}

// fromGroups returns the numbers to draw with from this number of groups what the schema's batches have in expectation.
func (s *Study) fromGroups(groups int) sampling.Numbers {
	return s.scheme().For(s.config.Schema, groups)
}

// scheme returns how batches are drawn, for the accountant.
func (s *Study) scheme() sampling.Scheme {
	by := sampling.Scheme{Of: s.options.Sampling}
	if sampling.Of(by.Of).Traits().Largest {
		by.Batches = s.largestBatches()
	}
	return by
}

// largestBatches returns the batches whose truncation costs nearly nothing of δ, of the largest node.
func (s *Study) largestBatches() sampling.Batches {
	schema, nodes := s.config.Schema, s.network.Graph.Nodes()
	if s.records == 0 {
		train, _ := s.config.Task.Split(0)
		s.records = (train.Len() + nodes - 1) / nodes
	}
	return sampling.EnoughForBands(s.records, schema.Steps(), schema.Separation(), s.options.Delta)
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
	return bands.Powers(s.config.Schema.Separation())
}

// sampledOf returns the strategy of a method for this number of groups, made when it is needed first, with tr(C⁻ᵀHC⁻¹) for columns
// of norm one; 0 where nothing is chosen by it.
func (s *Study) sampledOf(ctx context.Context, m *method, groups int) (c *Correlation, squaredError float64, err error) {
	if m.export != "" {
		return m.correlation, 0, nil
	}
	schema := participation.Single(s.config.Schema) // the columns of a group have disjoint supports
	var made strategy.Strategy = strategy.Identity(schema.Steps())
	if m.name == Mafalda {
		r, err := s.banded(ctx, groups)
		if err != nil {
			return nil, 0, err
		}
		made, squaredError = r.Strategy, r.SquaredError
	}
	if m.sampled[groups] == nil {
		m.sampled[groups], err = NewCorrelation(s.network.Graph.Nodes(), Shared(made), schema)
	}
	return m.sampled[groups], squaredError, err
}

// banded returns the certified optimum of this number of bands for the network, with columns of norm one.
func (s *Study) banded(ctx context.Context, w int) (*factorize.Result, error) {
	if s.bands == nil {
		h, err := s.curvedGram(ctx)
		if err != nil {
			return nil, err
		}
		gap := s.gapFor(Mafalda, s.config.trained())
		s.bands = bands.NewTable(factorize.Mean(h), s.config.Schema, bands.Options{Gap: gap, FromGuess: true})
	}
	r, err := s.bands.Strategy(ctx, w)
	if err != nil {
		return nil, err
	}
	return r, converged(r)
}

// multiplier returns the least noise multiplier with which the rounds of a group are (ε, δ)-private, rounded up. The error
// is a fault.Argument about Epsilons that no noise meets.
func (s *Study) multiplier(groups int, epsilon float64) (float64, error) {
	delta := s.options.Delta
	found, err := s.multipliers.MultiplierUnder(s.scheme(), s.config.Schema, groups, epsilon, delta)
	if err != nil {
		return 0, fault.New("Epsilons", epsilon, "no noise meets it for delta %v: %v", delta, err)
	}
	return found, nil
}
