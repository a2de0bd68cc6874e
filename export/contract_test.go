package export

import (
	"strings"
	"testing"

	"mafalda/graph"
	"mafalda/workload"
)

// The contract says what a node must do under every schema, sampler, adjacency and network.
func TestDescribeContract(t *testing.T) {
	epsilon := 1.0
	for name, tc := range map[string]struct {
		of   Participation
		set  func(m *Manifest)
		want string
	}{
		"in turn":     {Participation{Schema: "cyclic", K: 3, B: 4}, nil, "into 4 batches before step 0"},
		"every step":  {Participation{Schema: "cyclic", K: 12, B: 1}, nil, "in every step, 12 in all"},
		"single":      {Participation{Schema: "single", K: 1, B: 12}, nil, "in one step only"},
		"min-sep":     {Participation{Schema: "min-sep", K: 3, B: 4}, nil, "in at most 3 steps, any two of them at least 4 apart"},
		"patterns":    {Participation{Schema: "patterns", K: 1, B: 1, Patterns: [][]int{{0}, {1}}}, nil, "one of the 2 patterns"},
		"no privacy":  {Participation{Schema: "single", K: 1, B: 12}, nil, "No privacy was asked for"},
		"zero-out":    {Participation{Schema: "single", K: 1, B: 12}, func(m *Manifest) { m.Privacy = &Privacy{Clip: 2, Adjacency: "zero-out"} }, "norm 2. Data sets are neighbours if one record's"},
		"replace-one": {Participation{Schema: "single", K: 1, B: 12}, func(m *Manifest) { m.Privacy = &Privacy{Clip: 2, Adjacency: "replace-one"} }, "twice that"},
		"budgets of records": {Participation{Schema: "cyclic", K: 3, B: 4}, func(m *Manifest) {
			m.Privacy, m.Budgets = &Privacy{Clip: 2, Adjacency: "zero-out"}, []NodeLevel{{Node: "a"}}
		}, "The gradient of every record is clipped to the norm that its node has"},
		"budgets of people": {Participation{Schema: "people", K: 3, B: 4, Batches: 2}, func(m *Manifest) {
			m.Privacy, m.Budgets = &Privacy{Clip: 2, Adjacency: "replace-one"}, []NodeLevel{{Node: "a"}}
		}, "What all records of a person add to a sum, in one step, is clipped together to the norm that its node has in budgets (clip), " +
			"and its noise is of the node's level there. Data sets are neighbours if one person is replaced by another"},
		"poisson": {Participation{Schema: "cyclic", K: 3, B: 4}, func(m *Manifest) {
			m.Sampling = &Sampling{Scheme: SchemePoisson, Groups: 2, Probability: 0.5, Epsilon: &epsilon}
		}, "with probability 0.5"},
		"a network":    {Participation{Schema: "single", K: 1, B: 12}, nil, "Σ W[u,v] times that of v. W is in W.npy or W.mtx"},
		"local steps":  {Participation{Schema: "single", K: 1, B: 12}, optimizer(workload.Optimizer{LocalSteps: 3, GossipRounds: 2}), "After steps 2, 5, … (every 3), 2 times,"},
		"tracking":     {Participation{Schema: "single", K: 1, B: 12}, optimizer(workload.Optimizer{GradientTracking: true}), "model and tracker"},
		"failures":     {Participation{Schema: "single", K: 1, B: 12}, changes(workload.Changes{NodeFailures: 0.25, LinkFailures: 0.5}), "fails with probability 0.25"},
		"random":       {Participation{Schema: "single", K: 1, B: 12}, changes(workload.Changes{RandomNeighbours: 3}), "draws 3 of the others"},
		"in turns":     {Participation{Schema: "single", K: 1, B: 12}, changes(workload.Changes{GraphSequence: sequence(t)}), "network t mod 2"},
		"shared":       {Participation{Schema: "single", K: 1, B: 12}, func(m *Manifest) { m.Space = &Space{} }, "Nodes share noise in pairs"},
		"the same one": {Participation{Schema: "single", K: 1, B: 12}, nil, "compares the SHA-256 of manifest.json"},
	} {
		m := manifest(12)
		m.Participation = tc.of
		if tc.set != nil {
			tc.set(m)
		}
		if text := strings.Join(m.DescribeContract(), "\n"); !strings.Contains(text, tc.want) || strings.Contains(text, "%!") {
			t.Errorf("%s: there is no %q in\n%s", name, tc.want, text)
		}
	}
}

func optimizer(o workload.Optimizer) func(*Manifest) {
	return func(m *Manifest) { m.WorkloadSpec = &workload.Spec{Optimizer: o} }
}

func changes(c workload.Changes) func(*Manifest) {
	return func(m *Manifest) { m.WorkloadSpec = &workload.Spec{Changes: c} }
}

func sequence(t *testing.T) *workload.Sequence {
	s, err := workload.NewSequence([]*graph.CSR{ring(5, 0.5), ring(5, 0.25)}, "turns")
	if err != nil {
		t.Fatal(err)
	}
	return s
}
