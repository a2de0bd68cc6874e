package export

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/lists"
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
		"in turn": {Participation{Schema: "cyclic", K: 3, B: 4}, nil, "into 4 batches before step 0"},
		"runs longer than k·b": {Participation{Schema: "cyclic", K: 2, B: 3}, nil, "into 6 batches before step 0, without looking at what is " +
			"in them, and keeps them: step t uses batch (t mod 3) + 3·⌊t/6⌋"},
		"every step":  {Participation{Schema: "cyclic", K: 12, B: 1}, nil, "in every step, 12 in all"},
		"single":      {Participation{Schema: "single", K: 1, B: 12}, nil, "in one step only"},
		"min-sep":     {Participation{Schema: "min-sep", K: 3, B: 4}, nil, "in at most 3 steps, any two of them at least 4 apart"},
		"patterns":    {Participation{Schema: "patterns", K: 1, B: 1, Patterns: [][]int{{0}, {1}}}, nil, "one of the 2 patterns"},
		"no privacy":  {Participation{Schema: "single", K: 1, B: 12}, nil, "No privacy was asked for"},
		"zero-out":    {Participation{Schema: "single", K: 1, B: 12}, func(m *Manifest) { m.Privacy = &Privacy{Clip: 2, Adjacency: "zero-out"} }, "norm 2. Data sets are neighbours if one record's"},
		"replace-one": {Participation{Schema: "single", K: 1, B: 12}, func(m *Manifest) { m.Privacy = &Privacy{Clip: 2, Adjacency: "replace-one"} }, "twice that"},
		"budgets of records": {Participation{Schema: "cyclic", K: 3, B: 4}, func(m *Manifest) {
			m.Privacy, m.Budgets = &Privacy{Clip: 2, Adjacency: "zero-out"}, []NodeLevel{{Node: "a"}}
		}, "The gradient of every record, which depends on no other record, is clipped to the norm that its node has"},
		"budgets of people": {Participation{Schema: "people", K: 3, B: 4, Batches: 2}, func(m *Manifest) {
			m.Privacy, m.Budgets = &Privacy{Clip: 2, Adjacency: "replace-one"}, []NodeLevel{{Node: "a"}}
		}, "What all records of a person add to a sum, in one step, depends on nobody else's and is clipped together to the norm that its node has in budgets (clip), " +
			"and its noise is of the node's level there. Data sets are neighbours if one person is replaced by another"},
		"poisson": {Participation{Schema: "cyclic", K: 3, B: 4}, func(m *Manifest) {
			m.Sampling = &Sampling{Scheme: SchemePoisson, Groups: 2, Probability: 2.0 / 3, Epsilon: &epsilon}
		}, "with probability 0.6666666666666666, "}, // not rounded up
		"no messages beside": {Participation{Schema: "single", K: 1, B: 12}, nil, "nothing else that depends on records leaves the node"},
		"empty batches":      {Participation{Schema: "single", K: 1, B: 12}, nil, "whether a step is missed depends on nothing in the data"},
		"allocation": {Participation{Schema: "cyclic", K: 3, B: 4}, func(m *Manifest) {
			m.Sampling = &Sampling{Scheme: SchemeAllocation, Groups: 2, Rounds: 3, Epsilon: &epsilon}
		}, "into 3 blocks, as even as can be"},
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

// The batches that the sentence describes keep records within the sensitivity of the schema, whatever the strategy;
// batch t mod b does not where T > k·b.
func TestContractKeepsTheSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, tc := range []struct {
		steps int
		of    Participation
	}{
		{12, Participation{Schema: "cyclic", K: 3, B: 4}}, {11, Participation{Schema: "cyclic", K: 3, B: 4}},
		{10, Participation{Schema: "cyclic", K: 2, B: 2}}, {8, Participation{Schema: "cyclic", K: 3, B: 2}},
		{8, Participation{Schema: "cyclic", K: 3, B: 1}}, {8, Participation{Schema: "cyclic", K: 8, B: 1}},
		{9, Participation{Schema: "single", K: 1, B: 9}}, {10, Participation{Schema: "min-sep", K: 2, B: 3}},
		{9, Participation{Schema: "min-sep", K: 3, B: 4}}, {6, Participation{Schema: "patterns", K: 3, B: 1, Patterns: [][]int{{0, 1, 5}, {2, 3}, {4}}}},
		{10, Participation{Schema: "people", K: 3, B: 4, Batches: 2}}, {6, Participation{Schema: "people", K: 1, B: 6, Batches: 2}},
	} {
		schema, err := tc.of.Of(tc.steps)
		if err != nil {
			t.Fatal(err)
		}
		m := manifest(tc.steps)
		m.Participation = tc.of
		text := m.describeBatches()
		inTurn := batchesOf(tc.steps, func(step int) int { return step % tc.of.B })
		for range 20 {
			c := mat.NewDense(tc.steps, tc.steps, nil)
			c.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, c)
			x := mat.NewSymDense(tc.steps, nil)
			x.SymOuterK(1, c.T())
			sens, err := schema.Sensitivity(x)
			if err != nil {
				t.Fatal(err)
			}
			for _, steps := range obey(t, tc.of, tc.steps, text) {
				if got := lost(x, steps); got > sens.Squared*(1+1e-9) {
					t.Fatalf("T = %d, %v: a record in steps %v has sens² %v, above %v, by\n%s", tc.steps, schema, steps, got, sens.Squared, text)
				}
			}
			if tc.of.Schema != "cyclic" || tc.steps <= tc.of.K*tc.of.B {
				continue
			}
			if most := slices.MaxFunc(inTurn, func(a, b []int) int { return cmp.Compare(lost(x, a), lost(x, b)) }); lost(x, most) <= sens.Squared {
				t.Errorf("T = %d, %v: batches t mod b have sens² %v, within %v", tc.steps, schema, lost(x, most), sens.Squared)
			}
		}
	}
}

// obey returns all sets of steps that a record may be in by the sentence.
func obey(t *testing.T, p Participation, steps int, text string) (patterns [][]int) {
	const cut = `into (\d+) batches before step 0`
	number := func(expression string) []int {
		return lists.Map(regexp.MustCompile(expression).FindStringSubmatch(text)[1:], func(s string) int { n, _ := strconv.Atoi(s); return n })
	}
	says := func(expression string) bool { return regexp.MustCompile(expression).MatchString(text) }
	switch {
	case says(`\(t mod \d+\) \+`):
		n := number(`batch \(t mod (\d+)\) \+ (\d+)·⌊t/(\d+)⌋`)
		batches := batchesOf(steps, func(step int) int { return step%n[0] + n[1]*(step/n[2]) })
		if len(batches) > number(cut)[0] {
			t.Errorf("more batches than in %s", text)
		}
		return batches
	case says(`people to`), says("batch of its own"):
		batches := batchesOf(steps, func(step int) int { return step })
		if says(`mod`) {
			batches = batchesOf(steps, func(step int) int { return step % number(`t mod (\d+)`)[0] })
		}
		for _, a := range batches {
			for _, b := range batches {
				if &a[0] != &b[0] {
					patterns = append(patterns, slices.Concat(a, b)) // of at most 2 batches
				}
			}
		}
		return patterns
	case says("batch t mod"):
		return batchesOf(steps, func(step int) int { return step % number(`t mod (\d+)`)[0] })
	case says("in every step"):
		return batchesOf(steps, func(int) int { return 0 })
	case says("one step only"):
		return batchesOf(steps, func(step int) int { return step })
	case says("patterns of"):
		return p.Patterns
	}
	n := number(`at most (\d+) steps, any two of them at least (\d+) apart`)
	for set := range 1 << steps {
		var pattern []int
		apart := true
		for step := range steps {
			if set>>step&1 == 1 {
				apart = apart && (len(pattern) == 0 || step-pattern[len(pattern)-1] >= n[1])
				pattern = append(pattern, step)
			}
		}
		if apart && len(pattern) <= n[0] {
			patterns = append(patterns, pattern)
		}
	}
	return patterns
}

// batchesOf returns the steps of every batch.
func batchesOf(steps int, of func(step int) int) [][]int {
	by := map[int][]int{}
	for step := range steps {
		by[of(step)] = append(by[of(step)], step)
	}
	return slices.Collect(maps.Values(by))
}

// lost returns the squared sensitivity of a record in these steps.
func lost(x *mat.SymDense, steps []int) (sum float64) {
	for _, s := range steps {
		for _, t := range steps {
			sum += math.Abs(x.At(s, t))
		}
	}
	return sum
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
