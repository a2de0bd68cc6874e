package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"mafalda/export"
	"mafalda/participation"
	"mafalda/simulate"
	"mafalda/strategy"
)

// readMethod makes the correlation of an export, for the participation that it was made for.
func (s *simulation) readMethod(dir string, schema participation.Schema) (method, error) {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return method{}, fmt.Errorf("method %q is none of %s, nor a folder", dir, strings.Join(methodNames, ", "))
	}
	e, err := export.Load(dir)
	if err != nil {
		return method{}, err
	}
	if err := e.CheckHashes(); err != nil {
		return method{}, err
	}
	m := e.Manifest
	if m.Steps != schema.Steps() {
		return method{}, fmt.Errorf("%s: %w: it is for T = %d steps, the run has %d (use --T %d)", dir,
			simulate.ErrParticipation, m.Steps, schema.Steps(), m.Steps)
	}
	of, err := m.Participation.Of(m.Steps)
	if err != nil {
		return method{}, fmt.Errorf("%s: %w", dir, err)
	}
	if err := simulate.CheckCycle(of, schema.Separation()); err != nil {
		return method{}, fmt.Errorf("%s: its privacy is for %v: %w", dir, of, err)
	}
	strategies, err := e.StrategiesOn(s.network)
	if err != nil {
		return method{}, fmt.Errorf("%s: %w", dir, err)
	}
	c, err := simulate.NewCorrelation(len(strategies), func(u int) strategy.Strategy { return strategies[u] }, of)
	if err != nil {
		return method{}, fmt.Errorf("%s: %w", dir, err)
	}
	if m.PerNode == nil && m.Graph != nil && !s.network.Origin.Same(m.Graph) && !s.flags.quiet {
		fmt.Fprintf(s.notes, "%s was made for another network (%s): it is as private, but not the optimum here\n", dir,
			m.Graph.Source)
	}
	digest, err := e.Digest()
	return method{dir, digest, c}, err
}
