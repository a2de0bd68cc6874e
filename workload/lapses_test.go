package workload

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
)

// drawLapses draws how nodes that react train and miss steps.
func drawLapses(t *rapid.T, steps int) Spec {
	s := drawSpec(t, steps)
	s.Momentum, s.Nesterov, s.GradientTracking = 0, false, false
	s.Absence = Absence{MissedSteps: rapid.Float64Range(0.01, 0.95).Draw(t, "p"), Carry: rapid.Bool().Draw(t, "carry")}
	return s
}

// Feedback that is missed with the steps, by the average over all draws: lost and carried rows, of all nodes and of each,
// on a network that stays and on some that take turns.
func TestLapsesAreDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, steps := rapid.IntRange(1, 3).Draw(t, "n"), rapid.IntRange(1, 3).Draw(t, "T")
		if n == 1 {
			steps = rapid.IntRange(1, 8).Draw(t, "more steps")
		}
		s := drawLapses(t, steps)
		w := randomGossip(t, n, rapid.Bool().Draw(t, "symmetric"))
		if s.Kind != Prefix && rapid.Bool().Draw(t, "take turns") {
			s.GraphSequence = drawSequence(t, n)
		}
		c := Curvature{{rapid.Float64Range(0, 2).Draw(t, "x"), rapid.Float64Range(0.1, 3).Draw(t, "weight")}, {0.3, 0.5}}
		for c.Check(s, w, steps) != nil {
			c[0].X /= 2
		}
		want, err := explicitGramsOfNodes(networksOf(t, s, w), steps, s, c)
		if err != nil {
			t.Fatal(err)
		}
		sum := mat.NewSymDense(steps, nil)
		for _, h := range want {
			sum.AddSym(sum, h)
		}
		got, err := Gram(t.Context(), w, steps, Options{Spec: s, Curvature: c})
		if err != nil {
			t.Fatal(err)
		}
		if d := difference(s, got, sum); d > 1e-12 {
			t.Fatalf("H differs by %g", d)
		}
		if s.Kind == Prefix {
			return
		}
		err = NodeGrams(t.Context(), w, steps, Options{Spec: s, Curvature: c}, func(i int, h *mat.SymDense) error {
			if d := difference(s, h, want[i]); d > 1e-12 {
				t.Fatalf("node %d differs by %g", i, d)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// Steps that are missed on networks that are drawn, too: nodes that fail, and random neighbours.
func TestLapsesOfRandomNetworks(t *testing.T) {
	fails := graph.NewCSRFromDense(identity(2))
	swaps := graph.NewCSRFromDense(mat.NewDense(2, 2, []float64{0.5, 0.5, 0.5, 0.5}))
	var thirds []*graph.CSR // which of two others every node takes
	for choice := range 8 {
		d := mat.NewDense(3, 3, nil)
		for i := range 3 {
			d.Set(i, i, 0.5)
			d.Set(i, (i+1+choice>>i&1)%3, 0.5)
		}
		thirds = append(thirds, graph.NewCSRFromDense(d))
	}
	rapid.Check(t, func(t *rapid.T) {
		n, steps := 2, rapid.IntRange(1, 3).Draw(t, "T")
		outcomes, probabilities := []*graph.CSR{swaps, fails}, []float64{0.49, 0.51}
		neighbours := rapid.Bool().Draw(t, "neighbours")
		if neighbours {
			n, steps, outcomes = 3, min(steps, 2), thirds
			probabilities = []float64{.125, .125, .125, .125, .125, .125, .125, .125}
		}
		s := drawLapses(t, steps)
		if s.GossipRounds = 1; s.Kind == Prefix {
			s.Kind = Model
		}
		c := Curvature{{0.7, 1.5}}
		want := mat.NewSymDense(steps, nil)
		every(outcomes, probabilities, steps, func(drawn []*graph.CSR, probability float64) {
			h, err := explicitGram(&Networks{n, func(t, _ int) *graph.CSR { return drawn[t] }}, steps, s, c)
			if err != nil {
				t.Fatal(err)
			}
			h.ScaleSym(probability, h)
			want.AddSym(want, h)
		})
		if s.RandomNeighbours = 1; !neighbours {
			s.RandomNeighbours, s.NodeFailures = 0, 0.3
		}
		o := Options{Spec: s, Curvature: c}
		got, err := Gram(t.Context(), complete(n), steps, o)
		if err != nil || difference(s, got, want) > 1e-12 {
			t.Fatalf("%v: H is\n%v and not\n%v", err, mat.Formatted(got), mat.Formatted(want))
		}
		err = NodeGrams(t.Context(), complete(n), steps, o, func(_ int, h *mat.SymDense) error {
			h.ScaleSym(-float64(n), h)
			h.AddSym(h, want)
			if mat.Norm(h, 2) > 1e-12*mat.Norm(want, 2) {
				t.Fatalf("nodes that are alike differ by\n%v", mat.Formatted(h))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// On florentine with T = 6, x = 0.9 and p = 0.3 the squared error of independent noise is 22.3, where E[MᵀHM] of the H
// without missed steps has 19.9. Drawn runs agree, with rows that are lost and with rows that are carried.
func TestLapsesOfFlorentine(t *testing.T) {
	n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: "florentine"})
	if err != nil {
		t.Fatal(err)
	}
	const steps = 6
	w, c := n.Gossip.Matrix(), Curvature{{0.9, 1}}
	after, err := Gram(t.Context(), w, steps, Options{Curvature: c})
	if err != nil {
		t.Fatal(err)
	}
	for carry, want := range map[bool]float64{false: 22.322, true: 29.551} { // 3,000 runs: 22.36 and 29.63, each ± 0.06
		s := Spec{Absence: Absence{MissedSteps: 0.3, Carry: carry}}
		h, err := Gram(t.Context(), w, steps, Options{Spec: s, Curvature: c})
		if err != nil || math.Abs(h.Trace()-want) > 0.001 {
			t.Fatalf("%v: squared error %v, not %v", err, h.Trace(), want)
		}
		runs, err := NewSampled(t.Context(), w, steps, Options{Spec: s, Curvature: c, Probes: 1000, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		var squares float64
		err = runs.Deviations(steps, func(e *mat.SymDense, _ bool) error {
			squares += e.Trace() * e.Trace() / (1000 * 999)
			return nil
		})
		mean := runs.Kernel(steps).Gram().Trace()
		if z := (mean - h.Trace()) / math.Sqrt(squares); err != nil || !(math.Abs(z) < 4) {
			t.Errorf("carry %v: %v by runs, %g standard errors off, %v", carry, mean, z, err)
		}
	}
	if (Absence{MissedSteps: 0.3}).gram(after); math.Abs(after.Trace()-19.88) > 0.01 {
		t.Errorf("E[MᵀHM] has %v", after.Trace())
	}
}
