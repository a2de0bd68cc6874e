package randomgossip

import (
	"math/rand/v2"
	"slices"

	"mafalda/graph"
	"mafalda/internal/lists"
)

// Up draws who hears whom: for two nodes it says whether both are up, and the link between them. A node fails with the
// probability nodes, a link in both directions at once with the probability links.
func Up(r *rand.Rand, n int, nodes, links float64) func(i, j int) bool {
	alive := lists.Make(n, func(int) bool { return r.Float64() >= nodes })
	salt := r.Uint64()
	return func(i, j int) bool {
		return alive[i] && alive[j] && (links == 0 || unit(salt, min(i, j), max(i, j)) >= links)
	}
}

// unit returns a number in [0, 1) for every pair, by the finalizer of SplitMix64.
func unit(salt uint64, i, j int) float64 {
	mix := func(x uint64) uint64 {
		x += 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		return x ^ x>>31
	}
	return float64(mix(mix(mix(salt)^uint64(i))^uint64(j))>>11) * 0x1p-53
}

// Surviving returns w with the links that are up, their weights divided by their sum in every row. A node always has
// itself; one with no other node left keeps its model.
func Surviving(w *graph.CSR, up func(i, j int) bool) *graph.CSR {
	n, _ := w.Dims()
	indptr := make([]int, 1, n+1)
	var indices []int
	var data []float64
	for i := range n {
		from := len(data)
		var sum float64
		w.DoRowNonZero(i, func(_, j int, v float64) {
			if j == i || up(i, j) {
				indices, data = append(indices, j), append(data, v)
				sum += v
			}
		})
		if sum == 0 {
			indices, data = append(indices[:from], i), append(data[:from], 1)
			sum = 1
		}
		for p := range data[from:] {
			data[from+p] /= sum
		}
		indptr = append(indptr, len(data))
	}
	return graph.NewCSR(n, n, indptr, indices, data)
}

// DrawNeighbours returns the matrix of n nodes that average over themselves and s others each.
func DrawNeighbours(r *rand.Rand, n, s int) *graph.CSR {
	indptr := make([]int, n+1)
	indices := make([]int, 0, n*(s+1))
	data := slices.Repeat([]float64{1 / float64(s+1)}, n*(s+1))
	for i := range n {
		row := sample(r, n-1, s)
		for p, j := range row {
			if j >= i { // the others, without i
				row[p] = j + 1
			}
		}
		row = append(row, i)
		slices.Sort(row)
		indices = append(indices, row...)
		indptr[i+1] = len(indices)
	}
	return graph.NewCSR(n, n, indptr, indices, data)
}

// sample draws s different numbers below n, all sets alike (Floyd's algorithm).
func sample(r *rand.Rand, n, s int) []int {
	drawn := make([]int, 0, s+1)
	seen := make(map[int]bool, s)
	for top := n - s; top < n; top++ {
		x := r.IntN(top + 1)
		if seen[x] {
			x = top
		}
		seen[x] = true
		drawn = append(drawn, x)
	}
	return drawn
}
