package participation_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mafalda/participation"
)

// Independent noise (X = I) under min-sep costs the number of participations.
func ExampleNewMinSep() {
	s, err := participation.NewMinSep(10, 3, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	identity := mat.NewSymDense(10, nil)
	for t := range 10 {
		identity.SetSym(t, t, 1)
	}
	sens, err := s.Sensitivity(identity)
	fmt.Printf("%v\nsens² %.6f (%s), %v\n", s, sens.Squared, sens.Kind(), err)
	// Output:
	// min-sep: a record takes part at most k = 3 times, at least b = 4 steps apart
	// sens² 3.000000 (exact), <nil>
}

// Three unit columns at 120 degrees: the sum of magnitudes is 6, but no contributions of norm one reach more than 4.5.
func ExampleVectorSensitivity() {
	x := mat.NewSymDense(3, []float64{1, -0.5, -0.5, -0.5, 1, -0.5, -0.5, -0.5, 1})
	sum, err := participation.SumBound(x, [][]int{{0, 1, 2}})
	if err != nil {
		fmt.Println(err)
		return
	}
	exact, err := participation.VectorSensitivity(x, [][]int{{0, 1, 2}}, participation.VectorOptions{})
	fmt.Printf("%.3f %.3f %v\n", sum.Squared, exact.Squared, err)
	// Output: 6.000 4.500 <nil>
}

func ExampleComplete() {
	s, err := participation.Complete(380, 0, 0)
	fmt.Println(s, err)
	_, err = participation.Complete(30, 0, 0)
	fmt.Println(err)
	// Output:
	// cyclic: a record takes part at most k = 20 times, every b = 19 steps <nil>
	// participation does not fit: T = 30 is not a multiple of 20, so say how often a record takes part: k may be 1, 2, 3, 5, 6, 10, 15 or 30, or any with b
}

func ExampleSumBound() {
	x := mat.NewSymDense(2, []float64{2, 1, 0, 1}) // CᵀC of the prefix-sum strategy C = [1 0; 1 1]
	s, err := participation.NewCyclic(2, 2, 1)     // both of two steps
	if err != nil {
		panic(err)
	}
	sens, err := participation.SumBound(x, s.Patterns())
	fmt.Println(sens.Squared, sens.Kind(), err)
	// Output: 5 exact <nil>
}
