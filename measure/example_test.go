package measure_test

import (
	"context"
	"fmt"
	"log"

	"mafalda/graph"
	"mafalda/measure"
)

// A network of eight nodes has an exact Gram matrix; its trace is the squared error of independent noise.
func ExampleSource() {
	ctx := context.Background()
	network, err := graph.LoadNetwork(ctx, graph.NetworkOptions{Source: "cycle:8"})
	if err != nil {
		log.Fatal(err)
	}
	gram, err := measure.Gram{}.Choose(network, measure.Demand{Steps: 6})
	if err != nil {
		log.Fatal(err)
	}
	kernel, _, err := measure.Source{Gram: gram, Network: network}.Kernel(ctx, 6)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: tr H = %.4f\n", gram.Method, kernel.Gram().Trace())
	// Output: exact: tr H = 39.2320
}
