package graph

import (
	"fmt"
	"math"
	"math/rand/v2"

	"mafalda/internal/lists"
)

// newUnweighted makes a graph on n numbered nodes.
func newUnweighted(n int, edges []Edge) (*Graph, error) {
	for i := range edges {
		edges[i].Weight = 1
	}
	return newGraph(numberLabels(n), edges, false)
}

func complete(p []float64, _ *rand.Rand) (*Graph, error) {
	if err := checkSize(p[0], p[0]*(p[0]-1)/2); err != nil {
		return nil, err
	}
	return newUnweighted(int(p[0]), complement(int(p[0]), nil))
}

func cycle(p []float64, _ *rand.Rand) (*Graph, error) {
	n := int(p[0])
	if n < 3 {
		return nil, fmt.Errorf("a cycle has at least 3 nodes")
	}
	if err := checkSize(p[0], p[0]); err != nil {
		return nil, err
	}
	return newUnweighted(n, lists.Make(n, func(u int) Edge { return Edge{U: u, V: (u + 1) % n} }))
}

func path(p []float64, rng *rand.Rand) (*Graph, error) { return grid([]float64{1, p[0]}, rng) }

func star(p []float64, _ *rand.Rand) (*Graph, error) {
	if err := checkSize(p[0], p[0]); err != nil {
		return nil, err
	}
	return newUnweighted(int(p[0]), lists.Make(int(p[0])-1, func(v int) Edge { return Edge{U: 0, V: v + 1} }))
}

func grid(p []float64, _ *rand.Rand) (*Graph, error) {
	if err := checkSize(p[0]*p[1], 2*p[0]*p[1]); err != nil {
		return nil, err
	}
	rows, cols := int(p[0]), int(p[1])
	var edges []Edge
	for r := range rows {
		for c := range cols {
			if c+1 < cols {
				edges = append(edges, Edge{U: r*cols + c, V: r*cols + c + 1})
			}
			if r+1 < rows {
				edges = append(edges, Edge{U: r*cols + c, V: (r+1)*cols + c})
			}
		}
	}
	return newUnweighted(rows*cols, edges)
}

func hypercube(p []float64, _ *rand.Rand) (*Graph, error) {
	if p[0] > 21 {
		return nil, fmt.Errorf("at most 21 dimensions are made")
	}
	if err := checkSize(math.Exp2(p[0]), p[0]*math.Exp2(p[0]-1)); err != nil {
		return nil, err
	}
	d := int(p[0])
	edges := make([]Edge, 0, d<<d/2)
	for u := range 1 << d {
		for bit := range d {
			if v := u ^ 1<<bit; v > u {
				edges = append(edges, Edge{U: u, V: v})
			}
		}
	}
	return newUnweighted(1<<d, edges)
}
