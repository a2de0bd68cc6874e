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

func ExampleSpec() {
	w := graph.NewCSRFromDense(mat.NewDense(2, 2, []float64{0.5, 0.5, 0.5, 0.5}))
	rates, err := workload.ParseSchedule("cosine")
	if err != nil {
		panic(err)
	}
	s := workload.Spec{
		Optimizer: workload.Optimizer{LearningRates: rates, Momentum: 0.5},
		Changes:   workload.Changes{LinkFailures: 0.25}, // in expectation
	}
	h, err := workload.Gram(context.Background(), w, 3, workload.Options{Spec: s})
	if err != nil {
		panic(err)
	}
	fmt.Println(s)
	fmt.Printf("%.4f\n", mat.Formatted(h))
	// Output:
	// {"kind":"model","learning_rates":"cosine","momentum":0.5,"link_failures":0.25}
	// ⎡5.3936  2.4453  0.3730⎤
	// ⎢2.4453  1.5195  0.2383⎥
	// ⎣0.3730  0.2383  0.0781⎦
}
