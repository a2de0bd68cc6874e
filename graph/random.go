package graph

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"mafalda/internal/lists"
)

// regular draws sparse graphs by pairing and dense ones, where pairing runs into dead ends, as complements of sparse
// ones.
func regular(p []float64, rng *rand.Rand) (*Graph, error) {
	n, d := int(p[0]), int(p[1])
	if d >= n || n*d%2 != 0 {
		return nil, fmt.Errorf("no graph of %d nodes has all degrees %d: d < n and an even n·d are needed", n, d)
	}
	if err := checkSize(p[0], p[0]*p[1]/2); err != nil {
		return nil, err
	}
	sparse := min(d, n-1-d)
	edges, err := pairStubs(n, sparse, rng)
	if err != nil {
		return nil, err
	}
	if sparse < d {
		edges = complement(n, edges)
	}
	return newUnweighted(n, edges)
}

// pairStubs joins random stubs (the pairing model with repairs: pairs that repeat or loop are thrown back, Steger &
// Wormald 1999), which is asymptotically uniform among the graphs on n nodes of degree d.
func pairStubs(n, d int, rng *rand.Rand) ([]Edge, error) {
	stubs := make([]int, 0, n*d)
	for u := range n {
		for range d {
			stubs = append(stubs, u)
		}
	}
	edges := make([]Edge, 0, n*d/2)
	seen := make(map[[2]int]bool, n*d/2)
	for len(stubs) > 0 {
		before := len(stubs)
		rng.Shuffle(len(stubs), func(i, j int) { stubs[i], stubs[j] = stubs[j], stubs[i] })
		left := stubs[:0]
		for i := 0; i < before; i += 2 {
			p := pairOf(stubs[i], stubs[i+1])
			if p[0] == p[1] || seen[p] {
				left = append(left, p[0], p[1])
				continue
			}
			seen[p] = true
			edges = append(edges, Edge{U: p[0], V: p[1]})
		}
		if stubs = left; len(stubs) == before && !canPair(stubs, seen) {
			return nil, errRedraw
		}
	}
	return edges, nil
}

// pairOf returns two nodes, the smaller one first.
func pairOf(u, v int) [2]int { return [2]int{min(u, v), max(u, v)} }

// canPair reports whether some two stubs may still be joined.
func canPair(stubs []int, seen map[[2]int]bool) bool {
	for i, u := range stubs {
		for _, v := range stubs[:i] {
			if u != v && !seen[pairOf(u, v)] {
				return true
			}
		}
	}
	return false
}

// complement returns the pairs that are not edges.
func complement(n int, edges []Edge) []Edge {
	joined := make(map[[2]int]bool, len(edges))
	for _, e := range edges {
		joined[[2]int{e.U, e.V}] = true
	}
	rest := make([]Edge, 0, n*(n-1)/2-len(edges))
	for u := range n {
		for v := u + 1; v < n; v++ {
			if !joined[[2]int{u, v}] {
				rest = append(rest, Edge{U: u, V: v})
			}
		}
	}
	return rest
}

// erdos is G(n,p), in time proportional to the edges: gaps between edges are geometric (Batagelj & Brandes 2005).
func erdos(p []float64, rng *rand.Rand) (*Graph, error) {
	n, prob := int(p[0]), p[1]
	if prob > 1 {
		return nil, fmt.Errorf("probability %v is above 1", prob)
	}
	if err := checkSize(p[0], math.Max(prob*p[0]*(p[0]-1)/2, p[0])); err != nil {
		return nil, err
	}
	if prob == 1 {
		return complete(p[:1], rng)
	}
	var edges []Edge
	between := newGaps(prob)
	v, u := 1, -1
	for v < n {
		gap := between.draw(rng)
		if gap > n*n {
			break
		}
		u += 1 + gap
		for u >= v && v < n {
			u -= v
			v++
		}
		if v < n {
			edges = append(edges, Edge{U: u, V: v})
		}
	}
	return newUnweighted(n, edges)
}

// barabasi attaches every node from m on to m distinct older ones, by degree; the first m join with node m (a star).
func barabasi(p []float64, rng *rand.Rand) (*Graph, error) {
	n, m := int(p[0]), int(p[1])
	if m >= n {
		return nil, fmt.Errorf("m = %d must be less than n = %d", m, n)
	}
	if err := checkSize(p[0], math.Max((p[0]-p[1])*p[1], p[0])); err != nil {
		return nil, err
	}
	edges := make([]Edge, 0, (n-m)*m)
	var ends []int // every node as often as its degree
	targets := lists.UpTo(m)
	for v := m; v < n; v++ {
		for _, u := range targets {
			edges = append(edges, Edge{U: u, V: v})
			ends = append(ends, u, v)
		}
		chosen := map[int]bool{}
		for i := 0; i < m; {
			if u := ends[rng.IntN(len(ends))]; !chosen[u] {
				chosen[u] = true
				targets[i] = u
				i++
			}
		}
	}
	return newUnweighted(n, edges)
}

// watts starts from a ring where every node has k neighbours (k even) and moves the far end of each edge with
// probability p to a random node (Watts & Strogatz 1998).
func watts(p []float64, rng *rand.Rand) (*Graph, error) {
	n, k, prob := int(p[0]), int(p[1]), p[2]
	if k%2 != 0 || k >= n || prob > 1 {
		return nil, fmt.Errorf("k = %d must be even and less than n = %d, p = %v at most 1", k, n, prob)
	}
	if err := checkSize(p[0], p[0]*p[1]/2); err != nil {
		return nil, err
	}
	seen := map[[2]int]bool{}
	for u := range n {
		for r := 1; r <= k/2; r++ {
			seen[pairOf(u, (u+r)%n)] = true
		}
	}
	degree := slices.Repeat([]int{k}, n)
	edges := make([]Edge, 0, n*k/2)
	for u := range n {
		for r := 1; r <= k/2; r++ {
			v := (u + r) % n
			if rng.Float64() < prob && degree[u] < n-1 {
				w := rng.IntN(n)
				for w == u || seen[pairOf(u, w)] {
					w = rng.IntN(n)
				}
				delete(seen, pairOf(u, v))
				seen[pairOf(u, w)] = true
				degree[v]--
				degree[w]++
				v = w
			}
			edges = append(edges, Edge{U: u, V: v})
		}
	}
	return newUnweighted(n, edges)
}

// geometric joins points of the unit square nearer than r, going from left to right.
func geometric(p []float64, rng *rand.Rand) (*Graph, error) {
	n, radius := int(p[0]), p[1]
	if err := checkSize(p[0], math.Max(math.Min(1, math.Pi*radius*radius)*p[0]*p[0]/2, p[0])); err != nil {
		return nil, err
	}
	type point struct {
		x, y float64
		node int
	}
	points := lists.Make(n, func(i int) point { return point{rng.Float64(), rng.Float64(), i} })
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	var edges []Edge
	for i, a := range points {
		for _, b := range points[i+1:] {
			if b.x-a.x >= radius {
				break
			}
			if squaredDistance(b.x-a.x, b.y-a.y) < radius*radius {
				edges = append(edges, Edge{U: a.node, V: b.node})
			}
		}
	}
	return newUnweighted(n, edges)
}

// squaredDistance rounds after every operation: the conversions keep a compiler from fusing them, which would join
// other points on other machines.
func squaredDistance(dx, dy float64) float64 { return float64(dx*dx) + float64(dy*dy) }

// gaps draws how many trials of success probability p fail before the first success:
//
//	powers[i] = (1-p)^(2^i)
//
// It multiplies and compares only, which IEEE 754 rounds alike everywhere; logarithms differ between machines in their
// last bit, and a graph would with them.
type gaps struct{ powers []float64 }

func newGaps(p float64) gaps {
	const negligible = 0x1p-54 // below every u of draw
	var powers []float64
	for q := 1 - p; q > negligible && len(powers) < 62; q *= q {
		powers = append(powers, q)
	}
	return gaps{powers}
}

// draw returns the largest g with (1-p)^g ≥ u, for u uniform in (0,1]: P(draw ≥ g) = (1-p)^g. If p = 0 that is 2⁶²-1.
func (x gaps) draw(rng *rand.Rand) int {
	u := 1 - rng.Float64()
	gap, power := 0, 1.0
	for i := len(x.powers) - 1; i >= 0; i-- {
		if longer := power * x.powers[i]; longer >= u {
			power = longer
			gap |= 1 << i
		}
	}
	return gap
}
