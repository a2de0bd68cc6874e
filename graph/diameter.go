package graph

import (
	"math"
	"runtime"
	"sync"
)

// Diameter is the largest distance between two nodes, in edges, or bounds of it.
type Diameter struct {
	Lower, Upper int
	Connected    bool // false: some node does not reach some other, and the numbers mean nothing
}

// Exact reports whether the bounds meet.
func (d Diameter) Exact() bool { return d.Lower == d.Upper }

// Diameter returns the exact diameter if the graph has at most exactUpTo nodes, by a search from every node. Beyond
// that a few searches give bounds: the distance of two far nodes, and twice the eccentricity of a central one. For
// directed graphs distances follow the edges and the bounds come from searches in both directions.
func (g *Graph) Diameter(exactUpTo int) Diameter {
	if !g.StronglyConnected() {
		return Diameter{}
	}
	if g.Nodes() <= exactUpTo {
		d := g.largestEccentricity()
		return Diameter{d, d, true}
	}
	out, in := g.adjacency, g.adjacency
	if g.directed {
		in = g.adjacency.Transpose()
	}
	bounds := Diameter{Lower: 0, Upper: math.MaxInt, Connected: true}
	source := 0
	for range 4 { // double sweeps: from a node to its farthest, then to the middle of the way
		forth, back := Hops(out, []int{source}), Hops(in, []int{source})
		far, eccentricity := farthest(forth)
		_, backward := farthest(back)
		bounds.Lower = max(bounds.Lower, eccentricity, backward)
		bounds.Upper = min(bounds.Upper, eccentricity+backward)
		other := Hops(out, []int{far})
		end, across := farthest(other)
		bounds.Lower = max(bounds.Lower, across)
		source = middle(other, Hops(in, []int{end}), across)
	}
	return bounds
}

func farthest(d []int) (node, distance int) {
	for i, v := range d {
		if v > distance {
			node, distance = i, v
		}
	}
	return node, distance
}

// middle returns a node half way between two ends that are length apart.
func middle(fromStart, toEnd []int, length int) int {
	for i, d := range fromStart {
		if d == length/2 && d+toEnd[i] == length {
			return i
		}
	}
	return 0
}

func (g *Graph) largestEccentricity() int {
	workers := runtime.GOMAXPROCS(0)
	largest := make([]int, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for u := w; u < g.Nodes(); u += workers {
				_, e := farthest(Hops(g.adjacency, []int{u}))
				largest[w] = max(largest[w], e)
			}
		})
	}
	wg.Wait()
	worst := 0
	for _, e := range largest {
		worst = max(worst, e)
	}
	return worst
}
