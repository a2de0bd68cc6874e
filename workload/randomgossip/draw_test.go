package randomgossip

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
)

// What is drawn has the mean that the laws have.
func TestDrawsHaveTheMean(t *testing.T) {
	const draws = 20000
	g, _, err := graph.ByName("florentine", graph.BuiltinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	gossip, err := graph.NewGossip(g, graph.Uniform)
	if err != nil {
		t.Fatal(err)
	}
	w := gossip.Matrix()
	n := g.Nodes()
	byNodes, err := Nodes(w, 0.2)
	if err != nil {
		t.Fatal(err)
	}
	byLinks, err := Links(w, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	along, across := NewNeighbours(n, 2).Mean()
	random := mat.NewDense(n, n, nil)
	random.Apply(func(i, j int, _ float64) float64 {
		v := (along - across) / float64(n)
		if i == j {
			v += across
		}
		return v
	}, random)
	r := rand.New(rand.NewPCG(1, 2))
	for name, tc := range map[string]struct {
		draw func() *graph.CSR
		mean mat.Matrix
	}{
		"nodes":      {func() *graph.CSR { return Surviving(w, Up(r, n, 0.2, 0)) }, byNodes.Mean()},
		"links":      {func() *graph.CSR { return Surviving(w, Up(r, n, 0, 0.3)) }, byLinks.Mean()},
		"neighbours": {func() *graph.CSR { return DrawNeighbours(r, n, 2) }, random},
	} {
		sum := mat.NewDense(n, n, nil)
		for range draws {
			drawn := tc.draw()
			for i := range n {
				var row float64
				drawn.DoRowNonZero(i, func(_, j int, v float64) {
					sum.Set(i, j, sum.At(i, j)+v/draws)
					row += v
				})
				if math.Abs(row-1) > 1e-14 {
					t.Fatalf("%s: row %d adds up to %v", name, i, row)
				}
			}
		}
		if !mat.EqualApprox(sum, tc.mean, 0.015) { // four standard errors of numbers in [0, 1]
			t.Errorf("%s: the mean of what is drawn is\n%.3v and not\n%.3v", name, mat.Formatted(sum), mat.Formatted(tc.mean))
		}
	}
}

// A node without itself in its row keeps its model when nobody is left.
func TestNobodyLeft(t *testing.T) {
	swap := graph.NewCSRFromDense(mat.NewDense(2, 2, []float64{0, 1, 1, 0}))
	got := Surviving(swap, func(int, int) bool { return false })
	if !mat.Equal(got, mat.NewDense(2, 2, []float64{1, 0, 0, 1})) {
		t.Errorf("%v", mat.Formatted(got))
	}
}
