package threat

import (
	"mafalda/accounting"
	"mafalda/export"
	"mafalda/internal/rounding"
)

// NoiseLevel is the noise that an export was calibrated with.
type NoiseLevel struct {
	Std       float64 // standard deviation of each coordinate of Z
	Clip      float64 // the norm that gradients are clipped to
	Adjacency accounting.Adjacency
	Sigma     float64 // Std over what a record can move a sum by, rounded down: for AssessOptions and AuditOptions
}

// NoiseOf returns the noise level of an export, nil if it was not calibrated. A level that does not follow from the
// guarantee that it is stated with is refused (export.ErrPrivacy), as are batches that are drawn in secret
// (export.ErrSampled), whose noise is not for attackers who know them, and levels of single nodes (export.ErrLevels),
// which the Algorithm of MFDSGDOf has.
func NoiseOf(m *export.Manifest) (*NoiseLevel, error) {
	if m.Sampled() {
		return nil, export.ErrSampled
	}
	if m.Privacy == nil {
		return nil, nil
	}
	if err := m.CheckPrivacy(); err != nil {
		return nil, err
	}
	if m.Budgets != nil {
		return nil, export.ErrLevels
	}
	p := m.Privacy
	adjacency, err := accounting.ParseAdjacency(p.Adjacency)
	if err != nil {
		return nil, err
	}
	return &NoiseLevel{Std: p.NoiseStd, Clip: p.Clip, Adjacency: adjacency,
		Sigma: -rounding.DivUp(-p.NoiseStd, adjacency.Contribution(p.Clip))}, nil
}
