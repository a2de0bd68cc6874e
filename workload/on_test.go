package workload

import (
	"testing"

	"mafalda/graph"
)

// What counts, and what costs nothing.
func TestCounted(t *testing.T) {
	rates := func(r ...float64) Spec { return Spec{Optimizer: Optimizer{LearningRates: ListedRates(r)}} }
	for name, tc := range map[string]struct {
		s       Spec
		counted float64
		all     bool
		free    bool
	}{
		"plain":        {Spec{}, 4, true, false},
		"last":         {Spec{Weights: LastSteps(1)}, 1, false, true},
		"last of all":  {Spec{Weights: LastSteps(4)}, 4, false, false},
		"weights":      {Spec{Weights: ListedWeights([]float64{0.5, 1, 1, 2})}, 4.5, false, false},
		"zero rate":    {rates(1, 0, 1, 1), 4, true, true},
		"small rate":   {rates(1, 1e-9, 1, 1), 4, true, false},
		"zero, counts": {Spec{Weights: ListedWeights([]float64{0, 1, 1, 1})}, 3, false, true},
	} {
		if c, all, free := tc.s.Counted(4), tc.s.CountsAll(), tc.s.HasFreeNoise(4); c != tc.counted || all != tc.all ||
			free != tc.free {
			t.Errorf("%s: %v, %v, %v", name, c, all, free)
		}
	}
}

func TestOn(t *testing.T) {
	n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: "path:3"})
	if err != nil {
		t.Fatal(err)
	}
	s := Spec{Optimizer: Optimizer{Momentum: 0.5}}
	for _, n := range []*graph.Network{nil, n} {
		if on, err := s.On(n); err != nil || on.GraphSequence != nil || on.Momentum != 0.5 {
			t.Errorf("%+v, %v", on, err)
		}
	}
	n.Sequence = &graph.Sequence{Matrices: []*graph.CSR{n.Gossip.Matrix(), n.Gossip.Matrix()}, Source: "turns"}
	if on, err := s.On(n); err != nil || on.GraphSequence.Networks != 2 || on.GraphSequence.Source != "turns" {
		t.Errorf("%+v, %v", on, err)
	}
	n.Sequence.Matrices = nil
	if _, err := s.On(n); err == nil {
		t.Error("no network is a sequence")
	}
}

// A sketch for another workload is the one that would have been made for it.
func TestSketchUnder(t *testing.T) {
	n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: "florentine"})
	if err != nil {
		t.Fatal(err)
	}
	pi, _ := n.Gossip.Stationary()
	make := func(s Spec) *Sketch {
		k, err := NewSketch(t.Context(), n.Gossip.Matrix(), pi, Options{Spec: s, Probes: 4, LanczosSteps: 6, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	trained := Spec{Kind: Message, Optimizer: Optimizer{Momentum: 0.7, WeightDecay: 0.1, GossipRounds: 2}}
	got, want := make(Spec{}).Under(trained, nil).Kernel(9).Gram(), make(trained).Kernel(9).Gram()
	if d := maxRelativeDifference(got, want); d != 0 {
		t.Errorf("they differ by %v", d)
	}
}
