package benchmarks

import (
	"context"
	"testing"

	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/workload"
)

// largeNetwork is a random network of a hundred thousand nodes with uniform gossip.
func largeNetwork(b *testing.B) (*graph.CSR, []float64) {
	b.Helper()
	g, _, err := graph.ByName("barabasi:100000,5", graph.BuiltinOptions{Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	w, err := graph.NewGossip(g, graph.Uniform)
	if err != nil {
		b.Fatal(err)
	}
	pi, ok := w.Stationary()
	if !ok {
		b.Fatal("no detailed balance")
	}
	return w.Matrix(), pi
}

// BenchmarkSketch: what is known of a network of 10⁵ nodes, and the Gram matrix that follows from it.
func BenchmarkSketch(b *testing.B) {
	w, pi := largeNetwork(b)
	b.Run("n=100000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := workload.NewSketch(context.Background(), w, pi, workload.Options{Probes: 4, LanczosSteps: 40}); err != nil {
				b.Fatal(err)
			}
		}
	})
	s, err := workload.NewSketch(context.Background(), w, pi, workload.Options{Probes: 4, LanczosSteps: 40})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("gram/T=1024", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Kernel(1024).Gram()
		}
	})
	const steps = 10000
	response, err := s.Response(steps)
	if err != nil {
		b.Fatal(err)
	}
	r, gradient := make([]float64, steps), make([]float64, steps)
	r[0] = 1
	b.Run("response/T=10000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			response.Error(gradient, r)
		}
	})
}

// BenchmarkLongBLT: four buffers for ten thousand steps of centralized learning.
func BenchmarkLongBLT(b *testing.B) {
	s, err := participation.NewCyclic(10000, 20, 500)
	if err != nil {
		b.Fatal(err)
	}
	responses := func(steps int, _ bool) (factorize.Response, error) {
		return workload.CentralizedResponse(workload.Spec{Kind: workload.Prefix}, nil, steps)
	}
	b.ReportAllocs()
	for b.Loop() {
		_, err := factorize.BLT{}.Optimize(context.Background(), factorize.Long(responses), s, factorize.Options{})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOptimizeLarge: the dense optimum for a thousand steps, after the Gram matrix.
func BenchmarkOptimizeLarge(b *testing.B) {
	s, err := participation.NewCyclic(1024, 16, 64)
	if err != nil {
		b.Fatal(err)
	}
	h, err := workload.Gram(context.Background(), gossipMatrix(b, benchmarkGraph(b), graph.Metropolis), 1024, workload.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_, err := factorize.Dense{}.Optimize(context.Background(), factorize.Mean(h), s, factorize.Options{})
		if err != nil {
			b.Fatal(err)
		}
	}
}
