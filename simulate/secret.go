package simulate

import (
	"context"
	"fmt"

	"mafalda/export"
	"mafalda/participation"
)

// drawn returns how the batches of a cell are drawn, in secret, and its noise; nil for none.
func (s *Study) drawn(ctx context.Context, c Cell) (participation.Sampling, *Noise, error) {
	at := s.methodOf(c)
	if at < 0 {
		return nil, nil, s.otherStudy(c)
	}
	bins := participation.BinsSampling{Bins: s.config.Schema.Separation()}
	isBins := s.options.Sampling == participation.Bins
	switch {
	case c.Method == None && isBins:
		return bins, nil, nil
	case c.Method == None:
		return s.fromGroups(1), nil, nil
	}
	s.making.Lock()
	defer s.making.Unlock()
	var sampling participation.Sampling = bins
	var noise *Noise
	var err error
	if isBins {
		noise, err = s.inBins(ctx, s.methods[at], c.Epsilon)
	} else {
		sampling, noise, err = s.drawnFrom(ctx, s.methods[at], c.Epsilon)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("noise of %s: %w", c.Method, err)
	}
	return sampling, noise, nil
}

// said is what an export says of batches that are drawn as in a study, for its δ.
type said struct {
	*export.Sampling
	manifest *export.Manifest
}

// saidBy returns nil for exports for other batches, neighbours or another δ: their noise is calibrated anew. The errors are those
// of Manifest.CheckPrivacy.
func (s *Study) saidBy(m *export.Manifest) (*said, error) {
	of, b := m.Sampling, float64(s.config.Schema.Separation())
	if !m.Sampled() || of.Scheme != s.options.Sampling.String() || of.Delta != s.options.Delta {
		return nil, nil
	}
	if m.Privacy != nil && m.Privacy.Adjacency != s.options.Adjacency.String() {
		return nil, nil
	}
	if !m.Binned() && of.Probability != float64(of.Groups)/b || m.Binned() && float64(of.Groups) != b {
		return nil, nil
	}
	return &said{of, m}, m.CheckPrivacy()
}

// holds reports whether the noise multiplier that was said is for this ε.
func (s *said) holds(epsilon float64) bool { return s != nil && *s.manifest.Privacy.Epsilon == epsilon }
