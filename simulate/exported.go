package simulate

import (
	"fmt"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/strategy"
)

// StepsError is about an export for another number of steps than the run's. It wraps participation.ErrViolated.
type StepsError struct {
	Dir        string
	Steps, Run int
}

func (e *StepsError) Error() string {
	return fmt.Sprintf("%s: %v: it is for T = %d steps, the run has %d", e.Dir, participation.ErrViolated, e.Steps, e.Run)
}

// Unwrap returns participation.ErrViolated.
func (e *StepsError) Unwrap() error { return participation.ErrViolated }

// exported makes a method of the export in a folder, for the participation that it was made for, on a network. The
// errors are those of reading and checking the export, a StepsError, participation.ErrViolated of a run that does not keep to
// the export's schema, and export.ErrOtherNetwork.
func exported(dir string, n *graph.Network, schema participation.Schema) (m method, note string, err error) {
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
	c, err := correlationOf(e, n, schema)
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

func correlationOf(e *export.Export, n *graph.Network, schema participation.Schema) (*Correlation, error) {
	of, err := e.Manifest.Participation.Of(e.Manifest.Steps)
	if err != nil {
		return nil, err
	}
	if e.Manifest.Sampled() {
		return nil, fmt.Errorf("%w, and batches are visited in turn here: %w", export.ErrSampled, participation.ErrViolated)
	}
	if err := participation.CheckCycle(of, schema.Separation()); err != nil {
		return nil, fmt.Errorf("its privacy is for %v: %w", of, err)
	}
	strategies, err := e.StrategiesOn(n)
	if err != nil {
		return nil, err
	}
	return NewCorrelation(len(strategies), func(u int) strategy.Strategy { return strategies[u] }, of)
}
