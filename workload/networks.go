package workload

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"mafalda/graph"
	"mafalda/internal/fault"
)

// Networks are the gossip matrices that a run of training meets, drawn by a seed where the spec says that they are
// random. All of it is a function of the seed, the step and the round.
type Networks struct {
	changes Changes
	w       *graph.CSR
	seed    uint64
}

// Networks returns those of a run over the row-stochastic w (n×n). The errors are a w that is not square, a sequence of
// other sizes (GraphSequence) or without matrices (ErrDetached), and more random neighbours than there are other nodes.
func (s Spec) Networks(w *graph.CSR, seed uint64) (*Networks, error) {
	if err := checkSquare(w); err != nil {
		return nil, err
	}
	n, _ := w.Dims()
	if err := s.Changes.checkNodes(n); err != nil {
		return nil, err
	}
	return &Networks{s.Changes, w, seed}, nil
}

func (c Changes) checkNodes(n int) error {
	q := c.GraphSequence
	switch {
	case q != nil && !q.Attached():
		return fault.Because("GraphSequence", ErrDetached)
	case q != nil && q.nodes() != n:
		return fault.New("GraphSequence", nil, "its networks have %d nodes, not %d", q.nodes(), n)
	case c.RandomNeighbours >= n && c.RandomNeighbours > 0:
		return fault.New("RandomNeighbours", c.RandomNeighbours, "there are only %d others", n-1)
	}
	return nil
}

// Nodes returns n.
func (n *Networks) Nodes() int {
	nodes, _ := n.w.Dims()
	return nodes
}

// At returns the matrix of a round of gossip in step t; rounds count from 0.
func (n *Networks) At(t, round int) *graph.CSR {
	w := n.base(t)
	if !n.changes.random() {
		return w
	}
	var key [32]byte
	for i, v := range []uint64{n.seed, uint64(t), uint64(round), 0x6e6574776f726b73} {
		binary.LittleEndian.PutUint64(key[8*i:], v)
	}
	r := rand.New(rand.NewChaCha8(key))
	if s := n.changes.RandomNeighbours; s > 0 {
		return randomNeighbours(r, n.Nodes(), s)
	}
	return surviving(w, n.failures(r))
}

// base returns the matrix of step t when nothing fails.
func (n *Networks) base(t int) *graph.CSR {
	if q := n.changes.GraphSequence; q != nil {
		return q.At(t)
	}
	return n.w
}

// failures draws who hears whom.
func (n *Networks) failures(r *rand.Rand) (up func(i, j int) bool) {
	alive := make([]bool, n.Nodes())
	for i := range alive {
		alive[i] = r.Float64() >= n.changes.NodeFailures
	}
	salt := r.Uint64()
	return func(i, j int) bool {
		if !alive[i] || !alive[j] {
			return false
		}
		return n.changes.LinkFailures == 0 || unit(salt, min(i, j), max(i, j)) >= n.changes.LinkFailures
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

// surviving returns w with the links that are up, their weights divided by their sum in every row. A node always has
// itself; one with nobody left keeps its model.
func surviving(w *graph.CSR, up func(i, j int) bool) *graph.CSR {
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

// randomNeighbours returns the matrix of nodes that average over themselves and s others.
func randomNeighbours(r *rand.Rand, n, s int) *graph.CSR {
	indptr := make([]int, n+1)
	indices := make([]int, 0, n*(s+1))
	data := make([]float64, n*(s+1))
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
	for p := range data {
		data[p] = 1 / float64(s+1)
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
