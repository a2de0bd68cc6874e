package threat

import (
	"fmt"

	"mafalda/graph"
	"mafalda/participation"
)

// Scenario is a run, and who attacks it.
type Scenario struct {
	Gossip    *graph.CSR // W, n×n
	Algorithm Algorithm
	Attacker  Attacker
	Schema    participation.Schema // of T steps; what an attacker sees depends on nothing of it but T
}

// nodes returns n.
func (s Scenario) nodes() int {
	n, _ := s.Gossip.Dims()
	return n
}

// steps returns T.
func (s Scenario) steps() int { return s.Schema.Steps() }

// check refuses attackers that do not exist, and strategies of other runs.
func (s Scenario) check() error {
	if err := s.Algorithm.fits(s.steps()); err != nil {
		return err
	}
	n := s.nodes()
	if err := s.Attacker.check(n); err != nil {
		return err
	}
	if each := len(s.Algorithm.each); each > 0 && each != n {
		return fmt.Errorf("%w: %d strategies for %d nodes", ErrStrategy, each, n)
	}
	return nil
}
