package simulate

import (
	"context"
	"fmt"

	"mafalda/accounting/sampling"
	"mafalda/export"
	"mafalda/participation"
)

// drawn returns how the batches of a cell are drawn, nil for batches in turn, and its noise, nil for none. The strategy
// of a method is made when it is needed first.
func (s *Study) drawn(ctx context.Context, c Cell) (drawn participation.Sampling, n *Noise, err error) {
	at := s.methodOf(c)
	if at < 0 {
		return nil, nil, fmt.Errorf("no method of this study is %q with the digest %q", c.Method, c.Export)
	}
	m, scheme := s.methods[at], s.options.Sampling
	if drawn = s.config.Sampling; c.Method == None && scheme == participation.InTurn {
		return drawn, nil, nil
	}
	s.making.Lock()
	defer s.making.Unlock()
	made := "noise"
	if scheme != participation.InTurn {
		drawn = s.fromGroups(1).Sampling()
	}
	switch {
	case c.Method == None:
	case scheme == participation.InTurn:
		made = "strategy"
		if m.correlation == nil {
			m.correlation, err = s.correlation(ctx, m.name)
		}
		n = &Noise{Correlation: m.correlation, Adjacency: s.options.Adjacency, Mu: c.Mu}
	case !sampling.Of(scheme).Traits().Banded:
		n, err = s.inBins(ctx, m, c.Epsilon)
	default:
		drawn, n, err = s.drawnFrom(ctx, m, c.Epsilon)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s of %s: %w", made, c.Method, err)
	}
	return drawn, n, nil
}

// said is what an export says of batches that are drawn as in a study, for its δ.
type said struct {
	*export.Sampling
	manifest *export.Manifest
}

// saidBy returns nil for exports for other batches, neighbours or another δ: their noise is calibrated anew. The errors are those
// of Manifest.CheckPrivacy.
func (s *Study) saidBy(m *export.Manifest) (*said, error) {
	of := m.Sampling
	if !m.Sampled() || of.Scheme != s.options.Sampling.String() || of.Delta != s.options.Delta {
		return nil, nil
	}
	if m.Privacy != nil && m.Privacy.Adjacency != s.options.Adjacency.String() {
		return nil, nil
	}
	if is := s.fromGroups(of.Groups); of.Groups != is.Groups || of.Probability != is.Probability {
		return nil, nil
	}
	return &said{of, m}, m.CheckPrivacy()
}

// holds reports whether the noise multiplier that was said is for this ε.
func (s *said) holds(epsilon float64) bool { return s != nil && *s.manifest.Privacy.Epsilon == epsilon }
