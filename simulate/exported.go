package simulate

import (
	"fmt"

	"mafalda/accounting/bins"
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

// exported makes a method of the export in a folder, for the participation that it was made for, on the network, and
// notes what a user should know. The errors are a StepsError, a TrainingError, participation.ErrViolated of a run that
// does not keep to the export's schema, and export.ErrOtherNetwork.
func (s *Study) exported(dir string, e *export.Export) (m method, err error) {
	n, schema := s.network, s.config.Schema
	if e.Manifest.Steps != schema.Steps() {
		return m, &StepsError{dir, e.Manifest.Steps, schema.Steps()}
	}
	note, err := s.checkTraining(dir, e.Manifest)
	if err != nil {
		return m, err
	}
	if m.said, err = s.saidBy(e.Manifest); err == nil {
		m.correlation, err = s.correlationOf(e)
	}
	if err == nil && s.inBins() {
		m.strategy, err = e.SharedStrategy()
	}
	if err != nil {
		return m, fmt.Errorf("%s: %w", dir, err)
	}
	if g := e.Manifest.Graph; e.Manifest.PerNode == nil && g != nil && !n.Origin.Same(g) && note == "" {
		note = fmt.Sprintf("%s was made for another network (%s): it is as private, but not the optimum here", dir,
			g.Source)
	}
	if note != "" {
		s.notes = append(s.notes, note)
	}
	if e.Shared != nil {
		m.against = coalitionWords(e.Manifest.Space.Coalitions)
	}
	m.name = dir
	m.export, err = e.Digest()
	return m, err
}

// correlationOf makes the strategies of an export ready for the participation that they were made for or, where batches are
// drawn in secret, for that of a bin or a single one: groups are as many as there are bands, or as the export says.
func (s *Study) correlationOf(e *export.Export) (*Correlation, error) {
	if m := e.Manifest; s.inBins() && (m.PerNode != nil || e.Shared != nil || m.Budgets != nil) {
		return nil, fmt.Errorf("%w: bins are accounted for one strategy and one level for all nodes, which share no noise",
			participation.ErrViolated)
	}
	of, err := s.participationOf(e)
	if err != nil {
		return nil, err
	}
	strategies, err := e.StrategiesOn(s.network)
	if err != nil {
		return nil, err
	}
	c, err := NewCorrelation(len(strategies), func(u int) strategy.Strategy { return strategies[u] }, of)
	if err == nil && e.Shared != nil {
		c, err = s.sharedBy(e, c)
	}
	if err == nil {
		c, err = s.leveled(e, c)
	}
	if err != nil {
		return nil, err
	}
	switch b := s.config.Schema.Separation(); {
	case s.inBins():
		_, err = bins.New(strategy.LowerOf(strategies[0]), b)
	case s.options.Sampling != participation.InTurn && c.Bands() > b:
		err = fmt.Errorf("%w: it has %d bands, more than a node has batches (%d), so that its columns meet in every group",
			participation.ErrViolated, c.Bands(), b)
	}
	return c, err
}

func (s *Study) participationOf(e *export.Export) (participation.Schema, error) {
	if s.options.Sampling != participation.InTurn {
		return s.schemaInSecret(), nil
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
