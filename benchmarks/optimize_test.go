package benchmarks

import (
	"context"
	"os"
	"testing"

	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/workload"
)

// benchmarkGraph returns the graph to measure on: the file named by MAFALDA_GRAPH, or a random one of the size of the
// Facebook ego network 414 (148 nodes, 1692 edges).
func benchmarkGraph(b *testing.B) *graph.Graph {
	b.Helper()
	var g *graph.Graph
	var err error
	if path := os.Getenv("MAFALDA_GRAPH"); path != "" {
		g, _, err = graph.Load(path, graph.LoadOptions{})
	} else {
		g, _, err = graph.ByName("barabasi:148,12", graph.BuiltinOptions{Seed: 1})
	}
	if err != nil {
		b.Fatal(err)
	}
	return g.Subgraph(g.Components()[0])
}

func gossipMatrix(b *testing.B, g *graph.Graph, s graph.Scheme) *graph.CSR {
	b.Helper()
	w, err := graph.NewGossip(g, s)
	if err != nil {
		b.Fatal(err)
	}
	return w.Matrix()
}

// BenchmarkGram: H at the size of the paper, from the node sequences (uniform) and from eigenvalues (metropolis).
func BenchmarkGram(b *testing.B) {
	g := benchmarkGraph(b)
	for _, scheme := range []graph.Scheme{graph.Uniform, graph.Metropolis} {
		w := gossipMatrix(b, g, scheme)
		b.Run(scheme.String()+"/T=380", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := workload.Gram(context.Background(), w, 380, workload.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkGramExplicit is the definition that BenchmarkGram replaces, at the largest size it is made for.
func BenchmarkGramExplicit(b *testing.B) {
	g, _, err := graph.ByName("barabasi:20,3", graph.BuiltinOptions{Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	w := gossipMatrix(b, g, graph.Uniform)
	networks, err := workload.Spec{}.Networks(w, 0)
	if err != nil {
		b.Fatal(err)
	}
	for name, gram := range map[string]func() error{
		"explicit": func() error { explicitGrams(b, networks, 20, 40, workload.Spec{}); return nil },
		"fast": func() error {
			_, err := workload.Gram(context.Background(), w, 40, workload.Options{})
			return err
		},
	} {
		b.Run(name+"/n=20/T=40", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := gram(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOptimize: the certified optimum, without Gram matrix and baselines.
func BenchmarkOptimize(b *testing.B) {
	g := benchmarkGraph(b)
	for _, size := range []struct {
		name string
		k, b int
	}{{"T=64", 4, 16}, {"T=380", 20, 19}} {
		steps := size.k * size.b
		s, err := participation.NewCyclic(steps, size.k, size.b)
		if err != nil {
			b.Fatal(err)
		}
		h, err := workload.Gram(context.Background(), gossipMatrix(b, g, graph.Uniform), steps, workload.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			var r *factorize.Result
			for b.Loop() {
				r, err = factorize.Dense{}.Optimize(context.Background(), factorize.Mean(h), s, factorize.Options{})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(r.Iterations), "iterations")
			b.ReportMetric(r.Gap, "gap")
		})
	}
}

// BenchmarkBaselines: mostly D-MF, the optimum for the prefix workload, to the smallest provable gap.
func BenchmarkBaselines(b *testing.B) {
	g := benchmarkGraph(b)
	s, err := participation.NewCyclic(380, 20, 19)
	if err != nil {
		b.Fatal(err)
	}
	h, err := workload.Gram(context.Background(), gossipMatrix(b, g, graph.Uniform), 380, workload.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		dmf, err := baselines.NewFor(context.Background(), baselines.DMF, workload.Spec{}, s)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := baselines.All(dmf, baselines.MeasureOf(factorize.Mean(h), s)); err != nil {
			b.Fatal(err)
		}
	}
}
