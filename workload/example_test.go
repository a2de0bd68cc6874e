package workload_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/workload"
)

func ExampleGram() {
	w := graph.NewCSRFromDense(mat.NewDense(2, 2, []float64{0.75, 0.25, 0.25, 0.75}))
	h, err := workload.Gram(context.Background(), w, 3, workload.Options{Spec: workload.Spec{Kind: workload.Model}})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.4f\n", mat.Formatted(h))
	// Output:
	// ⎡3.3281  2.1562  1.0625⎤
	// ⎢2.1562  2.3125  1.1250⎥
	// ⎣1.0625  1.1250  1.2500⎦
}
