package graph

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"mafalda/internal/enum"
	"mafalda/internal/lists"
)

// Scheme is a way to make a gossip matrix of a graph; see the package comment.
type Scheme int

// The schemes, with the uniform one as default.
const (
	Uniform Scheme = iota
	Metropolis
	MaxDegree
	Laplacian
)

var schemes = enum.Of[Scheme]("gossip scheme", "uniform", "metropolis", "max-degree", "laplacian")

// Schemes lists the names ParseScheme accepts, in the order of the schemes.
func Schemes() []string { return schemes.All() }

// String returns the name used on command lines and in manifests.
func (s Scheme) String() string { return schemes.Name(s) }

// ParseScheme is the inverse of String.
func ParseScheme(name string) (Scheme, error) { return schemes.Parse(name) }

// ErrDirected is returned for schemes that need an undirected graph.
var ErrDirected = errors.New("needs an undirected graph")

// Gossip is a row-stochastic matrix W over the nodes of a graph.
type Gossip struct {
	w          *CSR
	once       sync.Once
	stationary []float64 // what Stationary returns, computed once
	balanced   bool
}

// NewGossip makes the gossip matrix of g. All schemes but Uniform return ErrDirected for a directed graph. Weights so
// far apart that a share of them is no longer a positive number are an error: an edge is never dropped silently.
func NewGossip(g *Graph, s Scheme) (*Gossip, error) {
	if g.Directed() && s != Uniform {
		return nil, fmt.Errorf("gossip scheme %v %w", s, ErrDirected)
	}
	strength := g.strengths()
	share, err := s.share(strength)
	if err != nil {
		return nil, err
	}
	n, a := g.Nodes(), g.adjacency
	indptr, indices, data := make([]int, 1, n+1), make([]int32, 0, a.NNZ()+n), make([]float64, 0, a.NNZ()+n)
	for u := range n {
		row, start := a.indices[a.indptr[u]:a.indptr[u+1]], len(data)
		var sum float64
		usable := !math.IsInf(strength[u], 1)
		for i, v := range row {
			x := share(u, int(v), a.data[a.indptr[u]+i])
			usable = usable && x > 0
			sum += x
			data = append(data, x)
		}
		indices = append(indices, row...)
		self := rest(sum, len(row))
		if s == Uniform {
			self = 1 / (1 + strength[u])
		}
		if !usable || s == Uniform && self == 0 {
			return nil, fmt.Errorf("gossip scheme %v: the edge weights around node %s are too large or too far apart", s,
				g.Label(u))
		}
		if self > 0 {
			at, _ := slices.BinarySearch(row, int32(u))
			indices, data = slices.Insert(indices, start+at, int32(u)), slices.Insert(data, start+at, self)
		}
		indptr = append(indptr, len(data))
	}
	return &Gossip{w: newCSR(n, n, indptr, indices, data)}, nil
}

// share returns the scheme's W[u,v], v ≠ u, as a function of the weight w of the edge.
func (s Scheme) share(strength []float64) (func(u, v int, w float64) float64, error) {
	switch s {
	case Uniform:
		return func(u, _ int, w float64) float64 { return w / (1 + strength[u]) }, nil
	case Metropolis:
		return func(u, v int, w float64) float64 { return w / (1 + math.Max(strength[u], strength[v])) }, nil
	case MaxDegree:
		return func(u, v int, w float64) float64 { return w / math.Max(strength[u], strength[v]) }, nil
	case Laplacian:
		var largest float64
		for _, x := range strength {
			largest = math.Max(largest, x)
		}
		return func(_, _ int, w float64) float64 { return w / largest }, nil
	}
	return nil, fmt.Errorf("unknown gossip scheme %v", s)
}

// rest returns what a sum of shares leaves to one, 0 if that is no more than their rounding.
func rest(sum float64, shares int) float64 {
	const roundoff = 0x1p-53
	if left := 1 - sum; left > float64(shares+1)*roundoff {
		return left
	}
	return 0
}

// Matrix returns W (n×n).
func (g *Gossip) Matrix() *CSR { return g.w }

// Symmetric reports whether W equals its transpose up to 1e-12.
func (g *Gossip) Symmetric() bool { return g.w.Symmetric(1e-12) }

// DoublyStochastic reports whether the columns sum to one, too, up to 1e-9.
func (g *Gossip) DoublyStochastic() bool {
	n, _ := g.w.Dims()
	sums := make([]float64, n)
	g.w.DoNonZero(func(_, j int, v float64) { sums[j] += v })
	for _, s := range sums {
		if math.Abs(s-1) > 1e-9 {
			return false
		}
	}
	return true
}

// Stationary returns the distribution π > 0 of detailed balance, π_u W[u,v] = π_v W[v,u], and whether there is one (up
// to 1e-9): W is then similar to a symmetric matrix through diag(π)^½. Uniform gossip has π_u ∝ 1 + s_u, symmetric W
// the uniform one. The graph of W must be connected, and π must be within the range of float64. The slice is the same
// at every call and must not be changed.
func (g *Gossip) Stationary() ([]float64, bool) {
	g.once.Do(func() { g.stationary, g.balanced = DetailedBalance(g.w) })
	return g.stationary, g.balanced
}

// DetailedBalance returns Gossip.Stationary of a matrix.
func DetailedBalance(w *CSR) ([]float64, bool) {
	n, _ := w.Dims()
	pi := make([]float64, n)
	pi[0] = 1
	queue := make([]int32, 1, n)
	reached := make([]bool, n)
	reached[0] = true
	for i := 0; i < len(queue); i++ {
		u := int(queue[i])
		for p := w.indptr[u]; p < w.indptr[u+1]; p++ {
			v := int(w.indices[p])
			if reached[v] {
				continue
			}
			back := w.At(v, u)
			pi[v] = pi[u] * (w.data[p] / back) // no number if there is no way back
			if !(pi[v] > 0) || math.IsInf(pi[v], 1) {
				return nil, false
			}
			reached[v] = true
			queue = append(queue, int32(v))
		}
	}
	if len(queue) < n || !w.balances(pi) {
		return nil, false
	}
	var sum float64
	for _, x := range pi {
		sum += x
	}
	for i := range pi {
		pi[i] /= sum
		if !(pi[i] > 0) || math.IsInf(sum, 1) {
			return nil, false
		}
	}
	return pi, true
}

// balances reports whether every entry is in balance with the one across the diagonal, and neither is 0.
func (w *CSR) balances(pi []float64) bool {
	for u := range pi {
		for p := w.indptr[u]; p < w.indptr[u+1]; p++ {
			v, there := int(w.indices[p]), w.data[p]
			back := w.At(v, u)
			if back == 0 || math.Abs(pi[u]*there-pi[v]*back) > 1e-9*pi[u]*there {
				return false
			}
		}
	}
	return true
}

// Restrict returns W on a connected component: the rows and columns kept, which must be ascending. It is an error if
// kept nodes average over others.
func (g *Gossip) Restrict(kept []int) (*Gossip, error) {
	w := &Gossip{w: g.w.principal(kept)}
	labels := lists.Map(kept, strconv.Itoa)
	if err := w.validate(labels); err != nil {
		return nil, fmt.Errorf("gossip matrix on %d of its nodes: %w", len(kept), err)
	}
	return w, nil
}
