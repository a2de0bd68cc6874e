package workload

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
)

// The nodes' kernels, from their Gram matrices, add up to the network's, and KernelOf undoes Gram.
func TestKernelOfNodes(t *testing.T) {
	g, _, err := graph.ByName("florentine", graph.BuiltinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := graph.NewGossip(g, graph.Uniform)
	if err != nil {
		t.Fatal(err)
	}
	const steps = 9
	want, err := NewKernel(context.Background(), w.Matrix(), steps, Options{Spec: Spec{Kind: Message}})
	if err != nil {
		t.Fatal(err)
	}
	y := mat.NewSymDense(steps, nil)
	for s := range steps {
		for r := s; r < steps; r++ {
			y.SetSym(s, r, 1/float64(1+r+s))
		}
	}
	sum := make([]float64, steps)
	err = NodeGrams(context.Background(), w.Matrix(), steps, Options{Spec: Spec{Kind: Message}},
		func(_ int, h *mat.SymDense) error {
			for t, e := range KernelOf(h).StepErrors(y) {
				sum[t] += e
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	for s, e := range want.StepErrors(y) {
		if again := KernelOf(want.Gram()).StepErrors(y)[s]; math.Abs(sum[s]-e) > 1e-12*e ||
			math.Abs(again-e) > 1e-12*e {
			t.Errorf("step %d: %v, nodes together %v, from the Gram matrix %v", s, e, sum[s], again)
		}
	}
}
