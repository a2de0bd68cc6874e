package simulate

import (
	"context"
	"fmt"
	"math"

	"mafalda/accounting"
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

// drawn returns from how many groups the batches of a cell are drawn, with which probability, and its noise; nil for
// none. The most private of a method's strategies for that ε is the one of least error.
func (s *Study) drawn(ctx context.Context, c Cell) (participation.PoissonSampling, *Noise, error) {
	at := s.methodOf(c)
	if at < 0 {
		return participation.PoissonSampling{}, nil, s.otherStudy(c)
	}
	if c.Method == None {
		return s.poisson(1), nil, nil
	}
	s.making.Lock()
	defer s.making.Unlock()
	var best sampled
	var noise *Noise
	for _, groups := range s.groupsOf(s.methods[at]) {
		of, err := s.sampledOf(ctx, s.methods[at], groups)
		if err != nil {
			return participation.PoissonSampling{}, nil, fmt.Errorf("strategy of %s: %w", c.Method, err)
		}
		multiplier, err := s.multiplier(groups, c.Epsilon)
		if err != nil {
			return participation.PoissonSampling{}, nil, err
		}
		costs := func(m, squaredError float64) float64 { return m * m * squaredError }
		if noise == nil || costs(multiplier, of.squaredError) < costs(noise.Multiplier, best.squaredError) {
			best, noise = of, &Noise{Correlation: of.correlation, Multiplier: multiplier}
		}
	}
	return s.poisson(best.groups), noise, nil
}

// poisson draws from so many groups what the schema's batches have in expectation.
func (s *Study) poisson(groups int) participation.PoissonSampling {
	return participation.PoissonSampling{Groups: groups,
		Probability: float64(groups) / float64(s.config.Schema.Separation())}
}

// groupsOf are the numbers of groups, and of bands, that a method has a strategy for: of the optimum, unless one is
// asked for, all powers of two up to b.
func (s *Study) groupsOf(m *method) []int {
	switch {
	case m.name == baselines.DPDSGD:
		return []int{1}
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
	r, err := factorize.Banded{Bandwidth: bands}.Optimize(ctx, factorize.Mean(h), schema, factorize.Options{})
	if err != nil {
		return nil, err
	}
	return r, converged(r)
}

// multiplier returns the least noise multiplier with which the rounds of a group are (ε, δ)-private, rounded up. The error
// is a fault.Argument about Epsilons that no noise, or hardly any, meets.
func (s *Study) multiplier(groups int, epsilon float64) (float64, error) {
	at := sampledLevel{groups, epsilon}
	if m, there := s.multipliers[at]; there {
		return m, nil
	}
	m, err := calibrate(epsilon, s.options.Delta, s.poisson(groups), s.config.Schema.Steps())
	if err != nil {
		return 0, err
	}
	if s.multipliers == nil {
		s.multipliers = map[sampledLevel]float64{}
	}
	s.multipliers[at] = m
	return m, nil
}

// sampledLevel is what a noise multiplier depends on, in a study.
type sampledLevel struct {
	groups  int
	epsilon float64
}

// calibrate searches for the noise multiplier of Poisson sampling in so many steps. Less noise than the accountant can
// tell anything about is not enough.
func calibrate(epsilon, delta float64, p participation.PoissonSampling, steps int) (float64, error) {
	private := func(multiplier float64) bool {
		d, err := accounting.ComposeSampled(accounting.ZeroOut, accounting.SampledRounds{Rounds: p.Rounds(steps),
			SampledGaussian: accounting.SampledGaussian{Probability: p.Probability, NoiseMultiplier: multiplier}})
		if err != nil {
			return false
		}
		upper, _, err := d.Epsilon(delta)
		return err == nil && upper <= epsilon
	}
	high := 1.0
	for ; !private(high); high *= 2 {
		if high > accounting.MaxNoiseMultiplier {
			return 0, fault.New("Epsilons", epsilon, "no noise meets it for delta %v", delta)
		}
	}
	low := high / 2
	for ; low > accounting.MinNoiseMultiplier && private(low); low /= 2 {
		high = low
	}
	for high > low*(1+1e-7) {
		if middle := math.Sqrt(low * high); private(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high, nil
}
