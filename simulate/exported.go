package simulate

import (
	"fmt"

	"mafalda/export"
	"mafalda/participation"
	"mafalda/strategy"
)

// StepsError is about an export for another number of steps than the run's. It wraps participation.ErrViolated.
type StepsError struct {
	Dir        string
	Steps, Run int
}

func (e *StepsError) Error() string {
	return fmt.Sprintf("%s: %v: it is for T = %d steps, the run has %d", e.Dir, participation.ErrViolated, e.Steps,
		e.Run)
}

// Unwrap returns participation.ErrViolated.
func (e *StepsError) Unwrap() error { return participation.ErrViolated }

// exported makes a method of the export in a folder, for the participation that it was made for, on the network. The
// errors are those of reading and checking the export, a StepsError, participation.ErrViolated of a run that does not
// keep to the export's schema, and export.ErrOtherNetwork.
func (s *Study) exported(dir string) (m method, note string, err error) {
	n, schema := s.network, s.config.Schema
	e, err := export.Load(dir)
	if err != nil {
		return m, "", err
	}
	if err := e.CheckHashes(); err != nil {
		return m, "", err
	}
	if e.Manifest.Steps != schema.Steps() {
		return m, "", &StepsError{dir, e.Manifest.Steps, schema.Steps()}
	}
	if e.Manifest.Space != nil {
		return m, "", fmt.Errorf("%s: %w, which nodes of this method do not: %w", dir, export.ErrShared,
			participation.ErrViolated)
	}
	c, err := s.correlationOf(e)
	if err != nil {
		return m, "", fmt.Errorf("%s: %w", dir, err)
	}
	if g := e.Manifest.Graph; e.Manifest.PerNode == nil && g != nil && !n.Origin.Same(g) {
		note = fmt.Sprintf("%s was made for another network (%s): it is as private, but not the optimum here", dir,
			g.Source)
	}
	digest, err := e.Digest()
	return method{name: dir, export: digest, correlation: c}, note, err
}

// correlationOf makes the strategies of an export ready for the participation that they were made for or, where batches
// are drawn in secret, for a single one: groups are as many as there are bands.
func (s *Study) correlationOf(e *export.Export) (*Correlation, error) {
	of, err := s.participationOf(e)
	if err != nil {
		return nil, err
	}
	strategies, err := e.StrategiesOn(s.network)
	if err != nil {
		return nil, err
	}
	c, err := NewCorrelation(len(strategies), func(u int) strategy.Strategy { return strategies[u] }, of)
	if b := s.config.Schema.Separation(); err == nil && s.options.Sampling != InTurn && c.Bands() > b {
		return nil, fmt.Errorf("%w: it has %d bands, more than a node has batches (%d), so that its columns meet in every "+
			"group", participation.ErrViolated, c.Bands(), b)
	}
	return c, err
}

func (s *Study) participationOf(e *export.Export) (participation.Schema, error) {
	if s.options.Sampling != InTurn {
		return s.single()
	}
	of, err := e.Manifest.Participation.Of(e.Manifest.Steps)
	if err != nil {
		return nil, err
	}
	if e.Manifest.Sampled() {
		return nil, fmt.Errorf("%w, and batches are visited in turn here: %w", export.ErrSampled,
			participation.ErrViolated)
	}
	if err := participation.CheckCycle(of, s.config.Schema.Separation()); err != nil {
		return nil, fmt.Errorf("its privacy is for %v: %w", of, err)
	}
	return of, nil
}
