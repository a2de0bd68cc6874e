package workload

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
	"mafalda/workload/randomgossip"
)

// drawSequence draws matrices that take turns.
func drawSequence(t *rapid.T, n int) *Sequence {
	var matrices []*graph.CSR
	for range rapid.IntRange(1, 4).Draw(t, "networks") {
		matrices = append(matrices, randomGossip(t, n, false))
	}
	s, err := NewSequence(matrices, "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// drawChanging is drawSpec for networks that change.
func drawChanging(t *rapid.T, steps int) Spec {
	s := drawSpec(t, steps)
	if s.GradientTracking {
		s.Momentum, s.Nesterov = 0, false
	}
	return s
}

// A sequence of networks, in both ways, is the recursion over them.
func TestSequenceIsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, steps := rapid.IntRange(1, 5).Draw(t, "n"), rapid.IntRange(1, 9).Draw(t, "T")
		s := drawChanging(t, steps)
		s.GraphSequence = drawSequence(t, n)
		w := complete(n)
		want, err := explicitGram(networksOf(t, s, w), steps, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Gram(context.Background(), w, steps, Options{Spec: s})
		if err != nil {
			t.Fatal(err)
		}
		if d := difference(s, got, want); d > 1e-11 {
			t.Fatalf("H is\n%v and not\n%v", mat.Formatted(got), mat.Formatted(want))
		}
		nodes, err := explicitGramsOfNodes(networksOf(t, s, w), steps, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = NodeGrams(context.Background(), w, steps, Options{Spec: s}, func(i int, h *mat.SymDense) error {
			if d := difference(s, h, nodes[i]); d > 1e-10 {
				return fmt.Errorf("H of node %d is\n%v and not\n%v", i, mat.Formatted(h), mat.Formatted(nodes[i]))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if s.GradientTracking {
			return
		}
		c, err := newChanging(s, w, steps)
		if err != nil {
			t.Fatal(err)
		}
		p := c.newPeriodic(c.of.(*squares))
		p.kept = rapid.IntRange(1, steps).Draw(t, "kept")
		for name, gram := range map[string]func(context.Context, func(int, int)) (*mat.SymDense, error){
			"chained": c.sumFromEveryStep, "periodic": p.gram} {
			got, err := gram(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			c.filter(steps).congruence(got)
			if d := difference(s, got, want); d > 1e-11 {
				t.Fatalf("%s: H is\n%v and not\n%v", name, mat.Formatted(got), mat.Formatted(want))
			}
		}
	})
}

// More nodes than a panel has columns.
func TestPanelsOfSequences(t *testing.T) {
	const n, steps = panelWidth + 5, 12
	var matrices []*graph.CSR
	for i := range 3 {
		g := cycle(n).ToDense()
		g.Set(i, i, g.At(i, i)/2)
		g.Set(i, (i+7)%n, g.At(i, i))
		matrices = append(matrices, graph.NewCSRFromDense(g))
	}
	q, err := NewSequence(matrices, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Spec{{}, {Kind: Message}, {Optimizer: Optimizer{GradientTracking: true}}} {
		s.GraphSequence = q
		want, err := explicitGram(networksOf(t, s, matrices[0]), steps, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := newChanging(s, matrices[0], steps)
		if err != nil {
			t.Fatal(err)
		}
		ways := []func(context.Context, func(int, int)) (*mat.SymDense, error){c.sumFromEveryStep}
		if !s.GradientTracking {
			ways = append(ways, c.newPeriodic(c.of.(*squares)).gram)
		}
		for i, gram := range ways {
			if got, err := gram(context.Background(), nil); err != nil || difference(s, got, want) > 1e-11 {
				t.Errorf("%v, way %d: %v, %g", s, i, err, difference(s, got, want))
			}
		}
	}
}

// every calls visit with all ways to draw matrices for steps and rounds, and their probabilities.
func every(outcomes []*graph.CSR, probabilities []float64, draws int, visit func(drawn []*graph.CSR, probability float64)) {
	drawn := make([]*graph.CSR, draws)
	var draw func(at int, probability float64)
	draw = func(at int, probability float64) {
		if at == draws {
			visit(drawn, probability)
			return
		}
		for i, w := range outcomes {
			drawn[at] = w
			draw(at+1, probability*probabilities[i])
		}
	}
	draw(0, 1)
}

// expectedGram is H over all ways to draw the networks, one after the other.
func expectedGram(t fataler, s Spec, steps, n int, outcomes []*graph.CSR, probabilities []float64) *mat.SymDense {
	want := mat.NewSymDense(steps, nil)
	every(outcomes, probabilities, steps*s.gossipRounds(), func(drawn []*graph.CSR, probability float64) {
		networks := &Networks{n, func(t, round int) *graph.CSR { return drawn[t*s.gossipRounds()+round] }}
		h, err := explicitGram(networks, steps, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		h.ScaleSym(probability, h)
		want.AddSym(want, h)
	})
	return want
}

// The closed forms of random networks are expectations of the recursion over everything that may be drawn.
func TestRandomNetworksAreExpectations(t *testing.T) {
	star, _, err := graph.ByName("path:3", graph.BuiltinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	gossip, err := graph.NewGossip(star, graph.Uniform)
	if err != nil {
		t.Fatal(err)
	}
	w := gossip.Matrix()
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(1, 3).Draw(t, "T")
		s := drawChanging(t, steps)
		if s.GossipRounds = rapid.IntRange(1, 2).Draw(t, "rounds"); s.GossipRounds == 2 {
			steps = min(steps, 2)
			s.Weights, s.LearningRates, s.LocalSteps = Weights{}, Schedule{}, min(s.LocalSteps, steps)
		}
		const p = 0.3
		var outcomes []*graph.CSR
		var probabilities []float64
		add := func(up func(i, j int) bool, probability float64) {
			outcomes = append(outcomes, randomgossip.Surviving(w, up))
			probabilities = append(probabilities, probability)
		}
		switch rapid.IntRange(0, 2).Draw(t, "law") {
		case 0:
			s.LinkFailures = p
			for failed := range 4 { // links 0-1 and 1-2
				add(func(i, j int) bool { return failed>>min(i, j)&1 == 0 }, chance(p, failed, 2))
			}
		case 1:
			steps = min(steps, 2)
			s.NodeFailures = p
			if s.Weights, s.LearningRates = (Weights{}), (Schedule{}); s.GossipRounds == 2 {
				s.GossipRounds = 1
			}
			s.LocalSteps = min(s.LocalSteps, steps)
			for failed := range 8 {
				add(func(i, j int) bool { return failed>>i&1 == 0 && failed>>j&1 == 0 }, chance(p, failed, 3))
			}
		case 2:
			steps = min(steps, 2)
			s.RandomNeighbours, s.GossipRounds = 1, 1
			s.Weights, s.LearningRates, s.LocalSteps = Weights{}, Schedule{}, min(s.LocalSteps, steps)
			for choice := range 8 { // which of two others every node takes
				d := mat.NewDense(3, 3, nil)
				for i := range 3 {
					d.Set(i, i, 0.5)
					d.Set(i, (i+1+choice>>i&1)%3, 0.5)
				}
				outcomes, probabilities = append(outcomes, graph.NewCSRFromDense(d)), append(probabilities, 0.125)
			}
		}
		want := expectedGram(t, s, steps, 3, outcomes, probabilities)
		got, err := Gram(context.Background(), w, steps, Options{Spec: s})
		if err != nil {
			t.Fatal(err)
		}
		if d := difference(s, got, want); d > 1e-11 {
			t.Fatalf("%v: H is\n%v and not\n%v", s, mat.Formatted(got), mat.Formatted(want))
		}
	})
}

// chance is the probability of a set of failures.
func chance(p float64, failed, of int) float64 {
	probability := 1.0
	for i := range of {
		if failed>>i&1 == 1 {
			probability *= p
		} else {
			probability *= 1 - p
		}
	}
	return probability
}

// Random failures of a sequence act on its networks in turn.
func TestFailuresOfSequences(t *testing.T) {
	var matrices, outcomes [2]*graph.CSR
	matrices[0] = complete(2)
	matrices[1] = graph.NewCSRFromDense(mat.NewDense(2, 2, []float64{1, 0, 0.5, 0.5}))
	outcomes[0] = graph.NewCSRFromDense(identity(2))
	q, err := NewSequence(matrices[:], "")
	if err != nil {
		t.Fatal(err)
	}
	s := Spec{Changes: Changes{GraphSequence: q, LinkFailures: 0.25}}
	const steps = 4
	want := mat.NewSymDense(steps, nil)
	every([]*graph.CSR{nil, outcomes[0]}, []float64{0.75, 0.25}, steps, func(drawn []*graph.CSR, probability float64) {
		h, err := explicitGram(&Networks{2, func(t, _ int) *graph.CSR {
			if drawn[t] == nil {
				return matrices[t%2]
			}
			return drawn[t]
		}}, steps, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		h.ScaleSym(probability, h)
		want.AddSym(want, h)
	})
	got, err := Gram(context.Background(), matrices[0], steps, Options{Spec: s})
	if err != nil || difference(s, got, want) > 1e-13 {
		t.Errorf("%v: H is\n%v and not\n%v", err, mat.Formatted(got), mat.Formatted(want))
	}
}

// What has no exact form says so; single steps are not known where the network changes.
func TestNotExact(t *testing.T) {
	uneven := graph.NewCSRFromDense(mat.NewDense(2, 2, []float64{0.75, 0.25, 0.25, 0.75}))
	for name, c := range map[string]Changes{
		"uneven nodes": {NodeFailures: 0.1}, "uneven links": {LinkFailures: 0.1},
		"both": {NodeFailures: 0.1, LinkFailures: 0.1},
	} {
		s := Spec{Changes: c}
		if err := s.Exact(uneven); !errors.Is(err, ErrNotExact) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Gram(context.Background(), uneven, 3, Options{Spec: s}); !errors.Is(err, ErrNotExact) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := Spec{Changes: Changes{RandomNeighbours: 3}}
	large := graph.NewCSRFromDense(mat.NewDiagDense(2, nil))
	if err := s.Exact(large); err == nil || errors.Is(err, ErrNotExact) {
		t.Errorf("three neighbours of two nodes: %v", err)
	}
	s.RandomNeighbours = 1
	seen := 0
	err := NodeGrams(context.Background(), complete(3), 3, Options{Spec: s}, func(_ int, h *mat.SymDense) error {
		seen++
		h.ScaleSym(3, h)
		all, err := Gram(context.Background(), complete(3), 3, Options{Spec: s})
		if err == nil && scaledDifference(h, all) > 1e-14 {
			err = errors.New("nodes are not alike")
		}
		return err
	})
	if err != nil || seen != 3 {
		t.Errorf("%d nodes, %v", seen, err)
	}
	k, err := NewKernel(context.Background(), uneven, 3, Options{Spec: s})
	if err != nil || k.HasSteps() || s.IsStatic() || s.Exact(uneven) != nil {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	q, _ := NewSequence([]*graph.CSR{uneven}, "")
	if _, err := Gram(ctx, uneven, 3, Options{Spec: Spec{Changes: Changes{GraphSequence: q}}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// On the complete graph everything that fails is centralized learning again, when nothing does.
func TestHardlyAnyFailure(t *testing.T) {
	for _, c := range []Changes{{NodeFailures: 1e-13}, {LinkFailures: 1e-13}, {RandomNeighbours: 3}} {
		h, err := Gram(context.Background(), complete(4), 5, Options{Spec: Spec{Changes: c}})
		if err != nil {
			t.Fatal(err)
		}
		if d := scaledDifference(h, PrefixGram(5)); math.Abs(d) > 1e-10 {
			t.Errorf("%+v: %g off", c, d)
		}
	}
}
