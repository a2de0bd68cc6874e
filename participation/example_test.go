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
