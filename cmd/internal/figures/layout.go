package figures

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/mds"

	"mafalda/graph"
)

// Layout options that are never asked for.
const (
	layoutRounds = 300  // of majorization: the picture changes no more
	layoutScaled = 1000 // nodes up to which the start is by scaling, which takes n³ operations
)

// Layout places the nodes of a graph as far from each other as their shortest paths are long, as far as a plane allows:
// by majorization of the stress Σ (|p_i - p_j|/d_ij - 1)² (Gansner, Koren, North, "Graph Drawing by Stress
// Majorization", 2004), from classical scaling of the same distances. Nothing is random. Components are next to each
// other. Coordinates are from 0 to 1; the same graph always has the same layout.
func Layout(g *graph.Graph) []Point {
	d := distances(g)
	at := startOf(d)
	for range layoutRounds {
		majorize(at, d)
	}
	fit(at)
	return at
}

// distances returns the lengths of the shortest paths; for nodes without a path, the longest length plus two.
func distances(g *graph.Graph) *mat.SymDense {
	n, longest := g.Nodes(), 1
	hops := make([][]int, n)
	for v := range n {
		hops[v] = graph.Hops(g.Adjacency(), []int{v})
		for _, h := range hops[v] {
			longest = max(longest, h)
		}
	}
	d := mat.NewSymDense(n, nil)
	for u := range n {
		for v := u + 1; v < n; v++ {
			length := hops[u][v]
			if other := hops[v][u]; length < 0 || other >= 0 && other < length { // directed: the shorter way
				length = other
			}
			if length < 0 {
				length = longest + 2
			}
			d.SetSym(u, v, float64(length))
		}
	}
	return d
}

// startOf places nodes by classical scaling, and on a spiral where that finds no plane.
func startOf(d *mat.SymDense) []Point {
	n := d.SymmetricDim()
	at := make([]Point, n)
	for i := range at { // nodes with the same neighbours must not be in the same place
		angle, radius := 2.399963229728653*float64(i), math.Sqrt(float64(i)/float64(n))
		at[i] = Point{X: radius * math.Cos(angle), Y: radius * math.Sin(angle)}
	}
	if n < 3 || n > layoutScaled {
		return at
	}
	var scaled mat.Dense
	if k, _ := mds.TorgersonScaling(&scaled, nil, d); k < 2 {
		return at
	}
	for i := range at {
		at[i].X = scaled.At(i, 0) + at[i].X*0.1
		at[i].Y = scaled.At(i, 1) + at[i].Y*0.1
	}
	return at
}

// majorize moves every node to where the others would have it.
func majorize(at []Point, d *mat.SymDense) {
	for i := range at {
		var x, y, total float64
		for j := range at {
			if i == j {
				continue
			}
			length := d.At(i, j)
			w := 1 / (length * length)
			dx, dy := at[i].X-at[j].X, at[i].Y-at[j].Y
			stretch := length / math.Max(math.Hypot(dx, dy), 1e-9)
			x, y, total = x+w*(at[j].X+stretch*dx), y+w*(at[j].Y+stretch*dy), total+w
		}
		if total > 0 {
			at[i] = Point{X: x / total, Y: y / total}
		}
	}
}

// fit moves and scales positions into the unit square, the longer side along x.
func fit(at []Point) {
	left, right, bottom, top := Range(at)
	width, height := right-left, top-bottom
	for i, p := range at {
		p.X, p.Y = p.X-left, p.Y-bottom
		if height > width {
			p.X, p.Y = p.Y, p.X
		}
		size := math.Max(math.Max(width, height), 1e-9)
		at[i] = Point{X: p.X / size, Y: p.Y / size}
	}
}

// Range returns the least and the largest coordinates of places.
func Range(at []Point) (left, right, bottom, top float64) {
	left, right, bottom, top = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, p := range at {
		left, right, bottom, top = math.Min(left, p.X), math.Max(right, p.X), math.Min(bottom, p.Y), math.Max(top, p.Y)
	}
	return left, right, bottom, top
}
