package workload

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
)

func florentine(t *testing.T) *graph.CSR {
	t.Helper()
	g, _, err := graph.ByName("florentine", graph.BuiltinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := graph.NewGossip(g, graph.Uniform)
	if err != nil {
		t.Fatal(err)
	}
	return w.Matrix()
}

// Half the rate is a quarter of the squared error, with twice the decay: what is done for rates that change does over
// many steps what is done for those that do not.
func TestHalfTheRate(t *testing.T) {
	const steps = 200
	w := florentine(t)
	half := make([]float64, steps)
	for i := range half {
		half[i] = 0.5
	}
	for name, s := range map[string]Spec{
		"decay":               {Optimizer: Optimizer{WeightDecay: 0.1}},
		"strong decay":        {Optimizer: Optimizer{WeightDecay: 0.49}},
		"tracking":            {Optimizer: Optimizer{GradientTracking: true}},
		"tracking with decay": {Optimizer: Optimizer{GradientTracking: true, WeightDecay: 0.05}},
		"momentum, nesterov":  {Kind: Message, Optimizer: Optimizer{Momentum: 0.9, Nesterov: true, WeightDecay: 0.01}},
	} {
		want, err := Gram(context.Background(), w, steps, Options{Spec: s})
		if err != nil {
			t.Fatal(err)
		}
		s.LearningRates, s.WeightDecay = ListedRates(half), 2*s.WeightDecay
		got, err := Gram(context.Background(), w, steps, Options{Spec: s})
		if err != nil {
			t.Fatal(err)
		}
		got.ScaleSym(4, got)
		if d := largestDifference(got, want); d > 1e-11 {
			t.Errorf("%s: %g off", name, d)
		}
	}
}

// P_t, the product of what decay leaves, is 1e-800 after 400 steps, and 0 in float64: ratios are what counts.
func TestVanishingDecay(t *testing.T) {
	const steps = 400
	w := complete(2)
	rates := make([]float64, steps)
	for i := range rates {
		rates[i] = 0.99
		if i%50 == 17 {
			rates[i] = 0 // nothing decays, and nothing is learned
		}
	}
	for _, s := range []Spec{
		{Optimizer: Optimizer{LearningRates: ListedRates(rates), WeightDecay: 0.999}},
		{Optimizer: Optimizer{WeightDecay: 0.99}},
		{Optimizer: Optimizer{LearningRates: ListedRates(rates), WeightDecay: 0.999, LocalSteps: 7}},
		{Optimizer: Optimizer{WeightDecay: 0.99, Momentum: 0.9}},
		{Optimizer: Optimizer{LearningRates: ListedRates(rates), WeightDecay: 0.999, GradientTracking: true}},
	} {
		want, err := explicitGram(networksOf(t, s, w), steps, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		q, err := NewSequence([]*graph.CSR{w}, "")
		if err != nil {
			t.Fatal(err)
		}
		changing := s
		changing.GraphSequence = q
		for _, s := range []Spec{s, changing} {
			got, err := Gram(context.Background(), w, steps, Options{Spec: s})
			if err != nil {
				t.Fatal(err)
			}
			if d := largestDifference(got, want); !(d < 1e-11) || !(mat.Trace(got) > 0) {
				t.Errorf("%v: %g off", s, d)
			}
		}
	}
}
