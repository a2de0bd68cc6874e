package threat

import (
	"fmt"

	"mafalda/graph"
	"mafalda/internal/fault"
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

// Nearest returns the node, not an attacker, whose messages take the fewest hops to one: the first of them, or of those
// without a path. It is false if every node attacks.
func (s Scenario) Nearest() (victim int, there bool) {
	hops, nearest := graph.Hops(s.Gossip, s.Attacker.Nodes), -1
	for v, h := range hops {
		if h == 0 {
			continue
		}
		if nearest < 0 || h > 0 && (hops[nearest] < 0 || h < hops[nearest]) {
			nearest = v
		}
	}
	return nearest, nearest >= 0
}

// check refuses attackers that do not exist, and strategies of other runs.
func (s Scenario) check() error {
	if err := s.given(); err != nil {
		return err
	}
	if err := s.Algorithm.fits(s.steps()); err != nil {
		return err
	}
	n := s.nodes()
	if err := s.Attacker.check(n); err != nil {
		return err
	}
	if s.Algorithm.training != nil {
		if err := s.checkTraining(); err != nil {
			return err
		}
	}
	if each := len(s.Algorithm.each); each > 0 && each != n {
		return fmt.Errorf("%w: %d strategies for %d nodes", ErrStrategy, each, n)
	}
	return nil
}

// checkTraining refuses trainings that are none. Networks are needed by attackers that do not see everything.
func (s Scenario) checkTraining() error {
	if s.Attacker.Trust == PNDP {
		_, err := s.course()
		return err
	}
	return s.Algorithm.training.Spec.Check(s.steps())
}

// given refuses scenarios without a gossip matrix or a schema.
func (s Scenario) given() error {
	switch {
	case s.Gossip == nil:
		return fault.New("Gossip", nil, "is needed")
	case s.Schema == nil:
		return fault.New("Schema", nil, "is needed")
	}
	return nil
}
