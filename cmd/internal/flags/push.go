package flags

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
	"mafalda/protocols/dpps"
)

// PushFlags are the flags of push-sum with noise: dpps.Plan, and the graphs of its rounds.
type PushFlags struct {
	plan     dpps.Plan
	sequence string
	given    func(flag string) bool
}

// Check finds, before anything is read, flags that do not go together or make no sense. Used is whether DPPS runs at
// all, and alone whether nothing else does.
func (f *PushFlags) Check(n *NetworkFlags, used, alone bool) error {
	switch {
	case f.given("push-sum") && !used:
		return errors.New("--push-sum is for --protocol dpps")
	case f.sequence != "" && !alone:
		return errors.New("--push-sum sequence: --compare runs all protocols on one graph, from --graph")
	case f.sequence != "" && n.Source != "":
		return errors.New("--graph and --push-sum sequence: only one of them")
	case f.given("push-sum c-prime") != f.given("push-sum lambda"):
		return errors.New("--push-sum: c-prime and lambda: both or none")
	}
	p := f.Plan()
	switch c := p.Constants; {
	case p.NoiseRate > 0 && !math.IsInf(p.B, 1) && math.IsInf(p.B/p.NoiseRate, 1):
		return fmt.Errorf("--push-sum: laplace-b %v and gamma-n %v: epsilon = b/gamma-n is beyond all numbers", p.B, p.NoiseRate)
	case f.given("push-sum c-prime") && !(c.C > 0 && !math.IsInf(c.C, 1) && c.Lambda > 0 && c.Lambda < 1):
		return fmt.Errorf("constants C' = %v and lambda = %v: must be positive, and lambda below 1", c.C, c.Lambda)
	}
	return p.Check()
}

// Plan returns what the flags say of the noise.
func (f *PushFlags) Plan() dpps.Plan {
	p := f.plan
	if f.given("push-sum c-prime") {
		p.Source = dpps.Given
	}
	return p
}

// Sequence returns the graphs of DPPS, what to call them, and what a user should know of them.
func (f *PushFlags) Sequence(of *NetworkFlags) (s *dpps.Sequence, name string, notes []string, err error) {
	if s, known, err := dpps.ByName(of.Source); known {
		if err == nil && (of.GossipGiven() || of.GossipFile() != "") {
			err = fmt.Errorf("%s has weights of its own: leave out --gossip", of.Source)
		}
		return s, of.Source, nil, terminal.Usage(err)
	}
	if f.sequence != "" {
		s, err := f.readSequence(of)
		return s, filepath.Base(f.sequence), nil, terminal.Usage(err)
	}
	n, err := of.LoadBy(graph.Metropolis)
	if err != nil {
		return nil, "", nil, err
	}
	s, err = dpps.Static(n.Graph.Labels(), n.Gossip)
	return s, fmt.Sprintf("%s with %s weights", n.Origin.Source, n.Origin.Gossip), n.Notes, err
}

func (f *PushFlags) readSequence(of *NetworkFlags) (*dpps.Sequence, error) {
	scheme := graph.Uniform
	switch {
	case of.GossipFile() != "":
		return nil, errors.New("--push-sum sequence and --gossip FILE: only one of them")
	case of.GossipGiven() && of.Gossip == graph.Metropolis.String():
		scheme = graph.Metropolis
	case of.GossipGiven():
		return nil, errors.New("--push-sum sequence weights messages by out-degree, or with --gossip metropolis")
	}
	return dpps.LoadSequence(f.sequence, scheme)
}
