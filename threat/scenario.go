package threat

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/participation"
)

// Scenario is a run, and who attacks it.
type Scenario struct {
	Gossip    *graph.CSR // W, n×n
	Algorithm Algorithm
	Attacker  Attacker
	Schema    participation.Schema // who takes part in which of T steps; what an attacker sees depends on T alone
}

// nodes returns n.
func (s Scenario) nodes() int {
	n, _ := s.Gossip.Dims()
	return n
}

// steps returns T.
func (s Scenario) steps() int { return s.Schema.Steps() }

// hops returns how many exchanges messages of every node take to an attacker at least, -1 if they never reach one: over
// all networks that take turns, and whatever is drawn.
func (s Scenario) hops() []int {
	w, t := s.Gossip, s.Algorithm.Training()
	switch q := t.Spec.GraphSequence; {
	case t.Spec.RandomNeighbours > 0:
		all := make([]int, s.nodes())
		for v := range all {
			if !slices.Contains(s.Attacker.Nodes, v) {
				all[v] = 1
			}
		}
		return all
	case q != nil && q.Attached():
		sum := mat.NewDense(s.nodes(), s.nodes(), nil)
		for i := range q.Networks {
			q.At(i).DoNonZero(func(u, v int, weight float64) { sum.Set(u, v, sum.At(u, v)+weight) })
		}
		w = graph.NewCSRFromDense(sum)
	}
	return graph.Hops(w, s.Attacker.Nodes)
}

// arriving returns in how many steps, from the first on, a message of every node can still reach an attacker in time, over
// all networks that may be drawn: these have the links of the ones that they are drawn from, and nodes that keep their own.
func (s Scenario) arriving() ([]int, error) {
	t := s.Algorithm.Training()
	t.Spec.NodeFailures, t.Spec.LinkFailures = 0, 0
	s.Algorithm.training = &t
	c, err := s.course()
	if err != nil {
		return nil, err
	}
	steps := make([]int, s.nodes())
	for _, a := range s.Attacker.Nodes {
		steps[a] = s.steps()
	}
	for step := s.steps(); step > 0; step-- {
		for _, w := range slices.Backward(c.exchanges(step - 1)) {
			before := slices.Clone(steps)
			hears := func(u, v int, weight float64) {
				if before[u] > 0 && weight != 0 {
					steps[v] = max(steps[v], step)
				}
			}
			if t.Spec.RandomNeighbours == 0 {
				w.DoNonZero(hears)
				continue
			}
			for _, a := range s.Attacker.Nodes { // anybody may hear anybody
				for v := range steps {
					hears(a, v, 1)
				}
			}
		}
	}
	return steps, nil
}

// Nearest returns the node, not an attacker, whose messages take the fewest hops to one: the first of them, or of those
// without a path. It is false if every node attacks.
func (s Scenario) Nearest() (victim int, there bool) { return s.nearest(1) }

// NearestHidden returns the nearest node whose messages take two hops or more to an attacker, so that others' reactions
// pass them on; else the Nearest.
func (s Scenario) NearestHidden() (victim int, there bool) {
	if victim, there = s.nearest(2); there && s.hops()[victim] > 0 {
		return victim, there
	}
	return s.Nearest()
}

// nearest returns the nearest node that is at least this many hops away, or one without a path.
func (s Scenario) nearest(least int) (victim int, there bool) {
	hops, nearest := s.hops(), -1
	for v, h := range hops {
		if h >= 0 && h < least {
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
	return fault.First(s.given, s.checkStrategies, func() error { return s.Attacker.check(s.nodes()) }, s.checkShared,
		s.checkTraining, s.checkLevels)
}

// errorIf returns an error that wraps another one where something is refused, and nil otherwise.
func errorIf(refused bool, err error, format string, args ...any) error {
	if !refused {
		return nil
	}
	return fmt.Errorf("%w: %s", err, fmt.Sprintf(format, args...))
}

// checkStrategies refuses strategies of other nodes, or of another number of steps.
func (s Scenario) checkStrategies() error {
	each := len(s.Algorithm.dense)
	return cmp.Or(errorIf(each > 1 && each != s.nodes(), ErrStrategy, "%d strategies for %d nodes", each, s.nodes()),
		s.Algorithm.fits(s.steps()))
}

// checkTraining refuses a training of another run.
func (s Scenario) checkTraining() error {
	if s.Algorithm.training == nil {
		return nil
	}
	err := s.Algorithm.training.Spec.Check(s.steps())
	if err == nil && !s.Attacker.Trust.Public() { // who does not see everything needs networks
		_, err = s.course()
	}
	return err
}

// given refuses scenarios without a gossip matrix or a schema.
func (s Scenario) given() error {
	return cmp.Or(fault.If(s.Gossip == nil, "Gossip", nil, "is needed"), fault.If(s.Schema == nil, "Schema", nil, "is needed"))
}
