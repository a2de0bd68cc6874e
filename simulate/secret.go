package simulate

import (
	"context"
	"fmt"

	"mafalda/accounting/sampling"
	"mafalda/export"
	"mafalda/factorize/baselines"
	"mafalda/internal/fault"
	"mafalda/internal/rounding"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/strategy"
)

// drawn returns how the batches of a cell are drawn, nil for batches in turn, and its noise, nil for none. The strategy
// of a method is made when it is needed first.
func (s *Study) drawn(ctx context.Context, c Cell) (drawn participation.Sampling, n *Noise, err error) {
	at := s.methodOf(c)
	if at < 0 {
		return nil, nil, fmt.Errorf("no method of this study is %q with the digest %q", c.Method, c.Export)
	}
	m, inTurn := s.methods[at], s.options.Sampling == participation.InTurn
	s.making.Lock()
	defer s.making.Unlock()
	switch {
	case c.Method == None && inTurn:
		return s.config.Sampling, nil, nil
	case c.Method == None:
		return s.fromGroups(1).Sampling(), nil, nil
	case !inTurn:
		of, err := s.inSecret(ctx, m, c.Epsilon)
		if err != nil {
			return nil, nil, fmt.Errorf("noise of %s: %w", c.Method, err)
		}
		return of.sampling, &of.Noise, nil
	}
	if m.correlation == nil {
		if m.correlation, err = s.correlation(ctx, m.name); err != nil {
			return nil, nil, fmt.Errorf("strategy of %s: %w", c.Method, err)
		}
	}
	return s.config.Sampling, &Noise{Correlation: m.correlation, Adjacency: s.options.Adjacency, Mu: c.Mu}, nil
}

// secretNoise is noise at an ε, and how the batches are drawn that it is for.
type secretNoise struct {
	sampling participation.Sampling
	Noise
}

// inSecret returns the noise of a method at an ε, with its sampling.
func (s *Study) inSecret(ctx context.Context, m *method, epsilon float64) (*secretNoise, error) {
	if made := m.drawn[epsilon]; made != nil {
		return made, nil
	}
	c, groups, multiplier, err := s.strategyAt(ctx, m, epsilon)
	if err != nil {
		return nil, err
	}
	numbers := s.fromGroups(groups)
	if m.holds(epsilon) {
		said := m.said.Sampling.Batches()
		if numbers.Batches.Records > said.Records {
			return nil, fmt.Errorf("%w: a node has %d records, more than the %d that the privacy of %s is for",
				participation.ErrViolated, numbers.Batches.Records, said.Records, m.name)
		}
		numbers.Batches = said
	}
	made := &secretNoise{numbers.Sampling(), Noise{Correlation: m.correlation, Multiplier: multiplier}}
	if m.correlation == nil {
		if made.Correlation, err = NewCorrelation(s.network.Graph.Nodes(), Shared(c), s.schemaInSecret()); err != nil {
			return nil, err
		}
	}
	if s.inBins() { // the multiplier is for the strategy as it is, those of Noise for one of sensitivity one
		made.Multiplier = rounding.DivUp(multiplier, made.Correlation.Sensitivity(0))
	}
	m.drawn[epsilon] = made
	return made, nil
}

// strategyAt returns the strategy of a method at an ε, unless it is an export's of several, from how many groups its
// batches are drawn, and its noise multiplier.
func (s *Study) strategyAt(ctx context.Context, m *method, epsilon float64) (c strategy.Strategy, groups int, multiplier float64, err error) {
	c = m.strategy
	switch {
	case m.name == Mafalda:
		of, err := s.solve(ctx, m.name, epsilon)
		if err != nil {
			return nil, 0, 0, err
		}
		return of.Strategy(), of.Sampling.Groups, of.Sampling.NoiseMultiplier, nil
	case m.holds(epsilon):
		if s.inBins() {
			err = m.said.ConfirmBins(ctx, strategy.LowerOf(c))
		}
		return c, m.said.Sampling.Groups, m.said.Sampling.NoiseMultiplier, err
	case m.name == baselines.DPDSGD:
		c, groups = strategy.Identity(s.config.Schema.Steps()), 1
	case m.said != nil:
		groups = m.said.Sampling.Groups
	default:
		groups = m.correlation.Bands()
	}
	delta := s.options.Delta
	if s.inBins() {
		p, err := plan.CalibrateBins(ctx, c, s.config.Schema.Separation(), epsilon, delta, s.options.MonteCarlo)
		return c, groups, p.NoiseMultiplier, err
	}
	if multiplier, err = s.multipliers.MultiplierUnder(s.scheme(), s.config.Schema, groups, epsilon, delta); err != nil {
		err = fault.New("Epsilons", epsilon, "no noise meets it for delta %v: %v", delta, err)
	}
	return c, groups, multiplier, err
}

// inBins reports whether every record has a secret batch of its own.
func (s *Study) inBins() bool { return s.options.Sampling == participation.Bins }

// schemaInSecret returns the participation that sensitivities are for: that of a bin, or a single one, as the columns of a
// group have disjoint supports.
func (s *Study) schemaInSecret() participation.Schema {
	if s.inBins() {
		return s.config.Schema
	}
	return participation.Single(s.config.Schema)
}

// fromGroups returns the numbers to draw with from this number of groups what the schema's batches have in expectation.
func (s *Study) fromGroups(groups int) sampling.Numbers {
	return s.scheme().For(s.config.Schema, groups)
}

// scheme returns how batches are drawn, for the accountant: of a largest size, with those of the largest node whose
// truncation costs nearly nothing of δ.
func (s *Study) scheme() sampling.Scheme {
	by := sampling.Scheme{Of: s.options.Sampling}
	if sampling.Of(by.Of).Traits().Largest {
		if nodes := s.network.Graph.Nodes(); s.records == 0 {
			train, _ := s.config.Task.Split(0)
			s.records = (train.Len() + nodes - 1) / nodes
		}
		schema := s.config.Schema
		by.Batches = sampling.EnoughForBands(s.records, schema.Steps(), schema.Separation(), s.options.Delta)
	}
	return by
}

// saidBy returns the manifest of an export whose batches are drawn as in the study, for its δ; nil for others, whose noise is
// calibrated anew. The errors are those of Manifest.CheckPrivacy.
func (s *Study) saidBy(m *export.Manifest) (*export.Manifest, error) {
	of := m.Sampling
	if !m.Sampled() || of.Scheme != s.options.Sampling.String() || of.Delta != s.options.Delta ||
		m.Privacy != nil && m.Privacy.Adjacency != s.options.Adjacency.String() {
		return nil, nil
	}
	if is := s.fromGroups(of.Groups); of.Groups != is.Groups || of.Probability != is.Probability {
		return nil, nil
	}
	return m, m.CheckPrivacy()
}

// holds reports whether the noise multiplier that an export says is for this ε.
func (m *method) holds(epsilon float64) bool {
	return m.said != nil && *m.said.Privacy.Epsilon == epsilon
}
