package workload

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
	_ "mafalda/internal/seeded"
)

// randomGossip draws a row-stochastic n×n matrix with a positive diagonal and about half of the other entries zero.
func randomGossip(t *rapid.T, n int, symmetric bool) *graph.CSR {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	d := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			if i == j || rng.IntN(2) == 0 {
				d.Set(i, j, rng.Float64())
			}
		}
	}
	if symmetric { // small symmetric off-diagonal entries, the rest on the diagonal
		for i := range n {
			d.Set(i, i, 0)
			for j := range i {
				d.Set(i, j, d.At(i, j)/float64(n))
				d.Set(j, i, d.At(i, j))
			}
		}
		for i := range n {
			d.Set(i, i, 1-mat.Sum(d.RowView(i)))
		}
		return graph.NewCSRFromDense(d)
	}
	for i := range n {
		row := d.RawRowView(i)
		sum := mat.Sum(d.RowView(i))
		for j := range row {
			row[j] /= sum
		}
	}
	return graph.NewCSRFromDense(d)
}

func drawKind(t *rapid.T) Kind {
	return rapid.SampledFrom([]Kind{Model, Message}).Draw(t, "kind")
}

// complete returns the uniform gossip matrix of the complete graph: every entry 1/n.
func complete(n int) *graph.CSR {
	d := mat.NewDense(n, n, nil)
	d.Apply(func(_, _ int, _ float64) float64 { return 1 / float64(n) }, d)
	return graph.NewCSRFromDense(d)
}

func maxRelativeDifference(a, b mat.Matrix) float64 {
	var worst float64
	r, c := a.Dims()
	for i := range r {
		for j := range c {
			worst = math.Max(worst, math.Abs(a.At(i, j)-b.At(i, j))/math.Max(math.Abs(b.At(i, j)), 1e-300))
		}
	}
	return worst
}

// scaledDifference is the largest difference between two Gram matrices, relative to what the diagonal of b allows.
func scaledDifference(a, b *mat.SymDense) float64 {
	var worst float64
	for i := range b.SymmetricDim() {
		for j := range b.SymmetricDim() {
			worst = math.Max(worst, math.Abs(a.At(i, j)-b.At(i, j))/math.Sqrt(b.At(i, i)*b.At(j, j)))
		}
	}
	return worst
}

// difference is scaledDifference, and for gradient tracking, where differences of large numbers are small, the largest.
func difference(s Spec, a, b *mat.SymDense) float64 {
	if s.GradientTracking {
		return largestDifference(a, b)
	}
	return scaledDifference(a, b)
}

// largestDifference is the largest difference between two Gram matrices, relative to the largest entry of b.
func largestDifference(a, b *mat.SymDense) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return mat.Max(absolute(&d)) / mat.Max(absolute(b))
}

func absolute(a mat.Matrix) mat.Matrix {
	var d mat.Dense
	d.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, a)
	return &d
}

func TestParseKind(t *testing.T) {
	for _, name := range Kinds() {
		k, err := ParseKind(name)
		if err != nil || k.String() != name {
			t.Errorf("ParseKind(%q) = %v, %v", name, k, err)
		}
	}
	if _, err := ParseKind("models"); err == nil {
		t.Error("ParseKind accepted an unknown name")
	}
}

// networksOf returns the networks of a spec over w.
func networksOf(t fataler, s Spec, w *graph.CSR) *Networks {
	networks, err := s.Networks(w, 1)
	if err != nil {
		t.Fatal(err)
	}
	return networks
}

// fataler is a test, of rapid or not.
type fataler interface{ Fatal(args ...any) }
