package workload

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
)

func TestExplicitWorkload(t *testing.T) {
	w := graph.NewCSRFromDense(mat.NewDense(2, 2, []float64{0.5, 0.5, 0, 1})) // W² = [.25 .75; 0 1]
	message, err := paperWorkload(w, 3, Message)
	if err != nil {
		t.Fatal(err)
	}
	want := mat.NewDense(6, 6, []float64{
		1, 0, 0, 0, 0, 0,
		0, 1, 0, 0, 0, 0,
		0.5, 0.5, 1, 0, 0, 0,
		0, 1, 0, 1, 0, 0,
		0.25, 0.75, 0.5, 0.5, 1, 0,
		0, 1, 0, 1, 0, 1,
	})
	if !mat.Equal(message, want) {
		t.Errorf("W_T =\n%v", mat.Formatted(message))
	}
	model, err := paperWorkload(w, 2, Model)
	if err != nil {
		t.Fatal(err)
	}
	want = mat.NewDense(4, 4, []float64{
		0.5, 0.5, 0, 0,
		0, 1, 0, 0,
		0.25, 0.75, 0.5, 0.5,
		0, 1, 0, 1,
	})
	if !mat.Equal(model, want) {
		t.Errorf("(I⊗W)W_T =\n%v", mat.Formatted(model))
	}
}

func TestExplicitRefusesLargeSizes(t *testing.T) {
	if _, err := ExplicitGram(networksOf(t, Spec{}, complete(5)), 1000, Spec{}, nil); !errors.Is(err, ErrTooLarge) {
		t.Errorf("n·T = 5000: error %v, want ErrTooLarge", err)
	}
	if _, err := paperWorkload(complete(2), 2, Prefix); err == nil {
		t.Error("the prefix workload was built from a network")
	}
}
