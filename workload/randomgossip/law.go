package randomgossip

import (
	"errors"
	"math"
	"slices"

	"mafalda/graph"
)

// Law is what a gossip matrix that is drawn, n×n, is in expectation.
type Law struct {
	mean   *graph.CSR
	covary func(dst, m []float64) // adds E[WᵀMW] - E[W]ᵀM E[W]; nil if that is 0
}

// ErrUneven is returned for matrices whose rows are not uniform: their expectations have no closed form.
var ErrUneven = errors.New("failures have a closed form where nodes give themselves and all neighbours the same weight")

// uniformity is how much the weights of a row may differ, relative to their sum, to be the same but for rounding.
const uniformity = 1e-12

// Fixed is the law of a matrix that is not drawn at all.
func Fixed(w *graph.CSR) *Law { return &Law{mean: w} }

// Mean returns E[W].
func (l *Law) Mean() *graph.CSR { return l.mean }

// AddCovariance adds E[WᵀMW] - E[W]ᵀ M E[W] to dst, for any M, both n×n, row by row.
func (l *Law) AddCovariance(dst, m []float64) {
	if l.covary != nil {
		l.covary(dst, m)
	}
}

// neighbourhoods returns the neighbours of every node, without itself; ErrUneven if rows are not uniform.
func neighbourhoods(w *graph.CSR) ([][]int, error) {
	n, _ := w.Dims()
	all := make([][]int, n)
	for i := range n {
		share := 1 / float64(w.RowNNZ(i))
		self, even := false, true
		w.DoRowNonZero(i, func(_, j int, v float64) {
			even = even && math.Abs(v-share) <= uniformity
			if j == i {
				self = true
			} else {
				all[i] = append(all[i], j)
			}
		})
		if !self || !even {
			return nil, ErrUneven
		}
	}
	return all, nil
}

// meanOf returns the matrix with the given weights of a node for itself and for each of its neighbours.
func meanOf(neighbours [][]int, self, other []float64) *graph.CSR {
	n := len(neighbours)
	indptr := make([]int, 1, n+1)
	var indices []int
	var data []float64
	for i, row := range neighbours {
		at, _ := slices.BinarySearch(row, i)
		indices = append(indices, slices.Insert(slices.Clone(row), at, i)...)
		data = append(data, slices.Insert(slices.Repeat([]float64{other[i]}, len(row)), at, self[i])...)
		indptr = append(indptr, len(indices))
	}
	return graph.NewCSR(n, n, indptr, indices, data)
}

// row is what the weights of a node that is up are, given that everything around it fails independently: E[w_i], which is
// e₁(1, d) of itself and q e₁(2, d-1) of each of its d neighbours, and E[w_i w_iᵀ] by whether the two entries are its own
// (0), of it and a neighbour or of a neighbour twice (1), or of two neighbours (2): e₂(1, d), q e₂(2, d-1), q² e₂(3, d-2).
type row struct {
	self, other float64
	second      [3]float64
}

func (e *moments) row(degree int) row {
	return row{
		self:   e.entry(1, 1, degree),
		other:  e.q * e.entry(1, 2, degree-1),
		second: [3]float64{e.entry(2, 1, degree), e.q * e.entry(2, 2, degree-1), e.q * e.q * e.entry(2, 3, degree-2)},
	}
}

// ownCovariance is the covariance of node i's row with itself: it is w when the node is up, with the probability up,
// and otherwise e_i; the mean of both is self for i and other for its neighbours.
type ownCovariance struct {
	i           int
	neighbours  []int
	up          float64
	row         row
	self, other float64
}

// addTo adds m·(up·E[w wᵀ] + (1-up) e eᵀ - w̄ w̄ᵀ) to dst (n×n).
func (c ownCovariance) addTo(dst []float64, n int, m float64) {
	i, u, second, self, other := c.i, c.up, c.row.second, c.self, c.other
	dst[i*n+i] += m * (u*second[0] + 1 - u - self*self)
	cross := m * (u*second[1] - self*other)
	twice, pair := m*(u*second[1]-other*other), m*(u*second[2]-other*other)
	for _, a := range c.neighbours {
		dst[i*n+a] += cross
		dst[a*n+i] += cross
		line := dst[a*n : (a+1)*n]
		for _, b := range c.neighbours {
			line[b] += pair
		}
		line[a] += twice - pair
	}
}
