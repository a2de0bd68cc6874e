package factorize_test

import (
	"context"
	"fmt"
	"log"

	"mafalda/factorize"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

func ExampleDense_Optimize() {
	schema, err := participation.NewCyclic(4, 2, 2)
	if err != nil {
		log.Fatal(err)
	}
	objective := factorize.Mean(workload.PrefixGram(4)) // centralized: four steps, no network
	r, err := factorize.Dense{}.Optimize(context.Background(), objective, schema, factorize.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("loss %.4f, sens² %.4f, %v\n", r.Loss, r.Sensitivity.Squared, r.Status)
	independent, err := factorize.Evaluate(strategy.Identity(4), objective, schema)
	fmt.Printf("independent noise: %.4f %v\n", independent.Loss, err)
	// Output:
	// loss 14.5948, sens² 1.0000, converged
	// independent noise: 20.0000 <nil>
}

// What every class costs more than the optimum, for what its nodes keep less.
func ExampleClass() {
	ctx := context.Background()
	schema, err := participation.NewCyclic(16, 2, 8)
	if err != nil {
		log.Fatal(err)
	}
	objective := factorize.Mean(workload.PrefixGram(16))
	optimum, err := factorize.Dense{}.Optimize(ctx, objective, schema, factorize.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, class := range []factorize.Class{
		factorize.Dense{},
		factorize.Banded{Bandwidth: 4},
		factorize.Toeplitz{}, // with its default, b coefficients
		factorize.BLT{Buffers: 2},
		factorize.BandedInverse{Bandwidth: 2},
	} {
		r, err := class.Optimize(ctx, objective, schema, factorize.Options{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%-14s %.3f of the optimum, %2d numbers kept\n", class.Name(), r.Loss/optimum.Loss,
			r.Strategy.NodeCost().Floats)
	}
	// Output:
	// dense          1.000 of the optimum, 16 numbers kept
	// banded         1.196 of the optimum,  3 numbers kept
	// toeplitz       1.100 of the optimum,  7 numbers kept
	// blt            1.120 of the optimum,  2 numbers kept
	// banded-inverse 1.182 of the optimum,  1 numbers kept
}

func ExampleBLT_Optimize() {
	ctx := context.Background()
	schema, err := participation.NewCyclic(32, 1, 32)
	if err != nil {
		log.Fatal(err)
	}
	objective := factorize.Mean(workload.PrefixGram(32))
	two, err := factorize.BLT{Buffers: 2}.Optimize(ctx, objective, schema, factorize.Options{})
	if err != nil {
		log.Fatal(err)
	}
	best, err := factorize.Dense{}.Optimize(ctx, objective, schema, factorize.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("two buffers: %.3f of the dense optimum\n", two.Loss/best.Loss)
	// Output: two buffers: 1.077 of the dense optimum
}
