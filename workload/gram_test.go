package workload

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
)

// All sums are of non-negative terms, so every path is accurate entry by entry; the eigenvalue path only absolutely.
const tolerance = 1e-12

func TestGramIsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, steps := rapid.IntRange(1, 6).Draw(t, "n"), rapid.IntRange(1, 9).Draw(t, "T")
		s := drawSpec(t, steps)
		w := randomGossip(t, n, rapid.Bool().Draw(t, "symmetric"))
		want, err := explicitGram(networksOf(t, s, w), steps, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Gram(context.Background(), w, steps, Options{Spec: s})
		if err != nil {
			t.Fatal(err)
		}
		if d := difference(s, got, want); d > tolerance {
			t.Fatalf("fast and explicit Gram matrices differ by %g", d)
		}
		l := s.lags(steps)
		sequences := make([]float64, l.count*l.count)
		if err := newPanel(basis{w: w}, l, n).addAll(context.Background(), sequences, n, func(int) {}); err != nil {
			t.Fatal(err)
		}
		if d := difference(s, Options{Spec: s}.kernel(steps, packLower(sequences)).Gram(), want); d > tolerance {
			t.Fatalf("sequences and explicit Gram matrices differ by %g", d)
		}
	})
}

// Sizes beyond one tile and one panel: eigenvalues against sequences.
func TestSpectralIsKrylov(t *testing.T) {
	for _, kind := range []Kind{Model, Message} {
		w := cycle(37)
		const steps = 300
		s := Spec{Kind: kind}
		spectral := make([]float64, steps*steps)
		if err := addSpectral(spectral, w, s.lags(steps)); err != nil {
			t.Fatal(err)
		}
		p := newPanel(basis{w: w}, s.lags(steps), 5) // 37 nodes in panels of five: the last one is not full
		kernel := make([]float64, steps*steps)
		for from := 0; from < 37; from += 5 {
			to := min(from+5, 37)
			p.fill(from, to)
			p.addKernel(kernel, to-from)
		}
		if d := maxRelativeDifference(Options{Spec: s}.kernel(steps, packLower(kernel)).Gram(), Options{Spec: s}.kernel(steps, packLower(spectral)).Gram()); d > tolerance {
			t.Errorf("%v: eigenvalues and sequences differ by %g", kind, d)
		}
	}
}

func TestNodeGramsAreDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, steps := rapid.IntRange(1, 5).Draw(t, "n"), rapid.IntRange(1, 7).Draw(t, "T")
		opts := Options{Spec: drawSpec(t, steps)}
		w := randomGossip(t, n, false)
		want, err := explicitGramsOfNodes(networksOf(t, opts.Spec, w), steps, opts.Spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		sum := mat.NewSymDense(steps, nil)
		seen := 0
		err = NodeGrams(context.Background(), w, steps, opts, func(i int, h *mat.SymDense) error {
			if d := difference(opts.Spec, h, want[i]); i != seen || d > tolerance {
				return fmt.Errorf("node %d, the %dth seen, differs by %g", i, seen, d)
			}
			seen++
			sum.AddSym(sum, h)
			return nil
		})
		if err != nil || seen != n {
			t.Fatalf("%d of %d nodes: %v", seen, n, err)
		}
		h, err := Gram(context.Background(), w, steps, opts)
		if err != nil {
			t.Fatal(err)
		}
		if d := difference(opts.Spec, sum, h); d > tolerance {
			t.Fatalf("Σ H_i differs from H by %g", d)
		}
	})
}

// prefixMatrix returns the T×T lower-triangular matrix of ones, the centralized workload.
func prefixMatrix(steps int) *mat.TriDense {
	a := mat.NewTriDense(steps, mat.Lower, nil)
	for t := range steps {
		for s := 0; s <= t; s++ {
			a.SetTri(t, s, 1)
		}
	}
	return a
}

// One node, and the complete graph with uniform gossip, are the centralized problem.
func TestCentralizedSpecialCases(t *testing.T) {
	const steps = 12
	prefix, err := Gram(context.Background(), nil, steps, Options{Spec: Spec{Kind: Prefix}})
	if err != nil {
		t.Fatal(err)
	}
	a := prefixMatrix(steps)
	var byDefinition mat.Dense
	byDefinition.Mul(a.T(), a)
	if !mat.Equal(prefix, &byDefinition) {
		t.Errorf("prefix Gram matrix\n%v", mat.Formatted(prefix))
	}
	for _, n := range []int{1, 2, 7} {
		got, err := Gram(context.Background(), complete(n), steps, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := maxRelativeDifference(got, prefix); d > 1e-14 {
			t.Errorf("complete graph of %d nodes: differs from the prefix workload by %g", n, d)
		}
	}
}

func TestGramErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := Gram(ctx, complete(2), 0, Options{}); err == nil {
		t.Error("T = 0 accepted")
	}
	if _, err := Gram(ctx, graph.NewCSRFromDense(mat.NewDense(1, 2, []float64{1, 0})), 3, Options{}); err == nil {
		t.Error("1×2 gossip matrix accepted")
	}
	if err := NodeGrams(ctx, complete(2), 3, Options{Spec: Spec{Kind: Prefix}}, nil); err == nil {
		t.Error("nodes of the prefix workload")
	}
	cancel()
	directed := graph.NewCSRFromDense(mat.NewDense(2, 2, []float64{1, 0, 0.5, 0.5}))
	if _, err := Gram(ctx, directed, 3, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// cycle returns 1/3 on the diagonal and to both neighbours.
func cycle(n int) *graph.CSR {
	d := mat.NewDense(n, n, nil)
	for i := range n {
		for _, j := range []int{i, (i + 1) % n, (i + n - 1) % n} {
			d.Set(i, j, 1.0/3)
		}
	}
	return graph.NewCSRFromDense(d)
}
