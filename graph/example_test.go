package graph_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
)

func ExampleByName() {
	g, _, err := graph.ByName("grid:2x3", graph.BuiltinOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.Nodes(), g.Edges(), g.Diameter(100).Lower)
	// Output: 6 7 3
}

func ExampleLoad() {
	path := filepath.Join(os.TempDir(), "example.edges")
	if err := os.WriteFile(path, []byte("# who knows whom\nquino mafalda\nmafalda felipe\nfelipe mafalda\n"), 0o666); err != nil {
		log.Fatal(err)
	}
	defer os.Remove(path)
	g, report, err := graph.Load(path, graph.LoadOptions{})
	fmt.Println(g.Nodes(), g.Edges(), g.Labels(), report.Duplicates, err)
	// Output: 3 2 [felipe mafalda quino] 1 <nil>
}

func ExampleNewGossip() { // the ends of a path of three average over two nodes, the middle over three
	g, _, err := graph.ByName("path:3", graph.BuiltinOptions{})
	if err != nil {
		log.Fatal(err)
	}
	w, err := graph.NewGossip(g, graph.Uniform)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", mat.Formatted(w.Matrix()))
	pi, reversible := w.Stationary()
	fmt.Printf("π = %.3f, detailed balance: %v, symmetric: %v\n", pi, reversible, w.Symmetric())
	// Output:
	// ⎡0.500  0.500  0.000⎤
	// ⎢0.333  0.333  0.333⎥
	// ⎣0.000  0.500  0.500⎦
	// π = [0.286 0.429 0.286], detailed balance: true, symmetric: false
}

func ExampleLoadNetwork() {
	ctx := context.Background()
	n, err := graph.LoadNetwork(ctx, graph.NetworkOptions{Source: "florentine", Scheme: graph.Metropolis})
	if err != nil {
		log.Fatal(err)
	}
	r, err := graph.Inspect(ctx, n)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n.Line())
	fmt.Printf("diameter %d, second eigenvalue %.4f\n", *r.Diameter, *r.Lambda2)
	// Output:
	// florentine: 15 nodes, 20 undirected edges
	// diameter 5, second eigenvalue 0.9426
}
