package graph

import (
	"errors"
	"fmt"
	"math"
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

var schemeNames = [...]string{Uniform: "uniform", Metropolis: "metropolis", MaxDegree: "max-degree", Laplacian: "laplacian"}

// Schemes lists the names ParseScheme accepts.
func Schemes() []string { return schemeNames[:] }

// String returns the name used in flags and manifests.
func (s Scheme) String() string {
	if s < 0 || int(s) >= len(schemeNames) {
		return fmt.Sprintf("Scheme(%d)", int(s))
	}
	return schemeNames[s]
}

// ParseScheme is the inverse of String.
func ParseScheme(name string) (Scheme, error) {
	for s, n := range schemeNames {
		if n == name {
			return Scheme(s), nil
		}
	}
	return 0, fmt.Errorf("unknown gossip scheme %q: choose uniform, metropolis, max-degree or laplacian", name)
}

// ErrDirected is returned for schemes that need an undirected graph.
var ErrDirected = errors.New("needs an undirected graph; uniform and --gossip-matrix work for directed ones")

// Gossip is a row-stochastic matrix W over the nodes of a graph.
type Gossip struct{ w *CSR }

// NewGossip makes the gossip matrix of g. All schemes but Uniform return ErrDirected for a directed graph.
func NewGossip(g *Graph, s Scheme) (*Gossip, error) {
	if g.Directed() && s != Uniform {
		return nil, fmt.Errorf("gossip scheme %v %w", s, ErrDirected)
	}
	strength := g.strengths()
	var largest float64
	for _, x := range strength {
		largest = math.Max(largest, x)
	}
	weight := map[Scheme]func(u, v int, w float64) float64{
		Uniform:    func(u, _ int, w float64) float64 { return w / (1 + strength[u]) },
		Metropolis: func(u, v int, w float64) float64 { return w / (1 + math.Max(strength[u], strength[v])) },
		MaxDegree:  func(u, v int, w float64) float64 { return w / math.Max(strength[u], strength[v]) },
		Laplacian:  func(_, _ int, w float64) float64 { return w / largest },
	}[s]
	var entries []Edge
	for u := range g.Nodes() {
		self := len(entries)
		entries = append(entries, Edge{u, u, 0})
		var sum float64
		g.adjacency.DoRowNonZero(u, func(_, v int, w float64) {
			x := weight(u, v, w)
			sum += x
			entries = append(entries, Edge{u, v, x})
			if v < u { // keep columns ascending
				last := len(entries) - 1
				entries[self], entries[last] = entries[last], entries[self]
				self = last
			}
		})
		entries[self].Weight = math.Max(1-sum, 0)
		if s == Uniform {
			entries[self].Weight = 1 / (1 + strength[u])
		}
	}
	return &Gossip{csrFromSorted(g.Nodes(), dropZeros(entries))}, nil
}

// dropZeros removes zero weights and rounding residue of them: diagonals below 1e-15.
func dropZeros(entries []Edge) []Edge {
	kept := entries[:0]
	for _, e := range entries {
		if e.Weight > 1e-15 {
			kept = append(kept, e)
		}
	}
	return kept
}

// Matrix returns W (n×n).
func (g *Gossip) Matrix() *CSR { return g.w }

// Symmetric reports whether W equals its transpose up to 1e-12.
func (g *Gossip) Symmetric() bool {
	symmetric := true
	g.w.DoNonZero(func(i, j int, v float64) {
		symmetric = symmetric && math.Abs(g.w.At(j, i)-v) <= 1e-12
	})
	return symmetric
}

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

// Stationary returns the distribution π > 0 of detailed balance, π_u W[u,v] = π_v W[v,u], and whether there is one (up to
// 1e-9): W is then similar to a symmetric matrix through diag(π)^½. Uniform gossip has π_u ∝ 1 + s_u, symmetric W the
// uniform one. The graph of W must be connected.
func (g *Gossip) Stationary() ([]float64, bool) {
	n, _ := g.w.Dims()
	pi := make([]float64, n)
	pi[0] = 1
	queue := []int{0}
	balanced := true
	for i := 0; i < len(queue); i++ {
		g.w.DoRowNonZero(queue[i], func(u, v int, w float64) {
			back := g.w.At(v, u)
			switch {
			case back == 0:
				balanced = false
			case pi[v] == 0:
				pi[v] = pi[u] * w / back
				queue = append(queue, v)
			case math.Abs(pi[u]*w-pi[v]*back) > 1e-9*pi[u]*w:
				balanced = false
			}
		})
	}
	if !balanced || len(queue) < n {
		return nil, false
	}
	var sum float64
	for _, x := range pi {
		sum += x
	}
	for i := range pi {
		pi[i] /= sum
	}
	return pi, true
}

// Restrict returns W on a connected component: the rows and columns kept, which must be ascending. It is an error if
// kept nodes average over others.
func (g *Gossip) Restrict(kept []int) (*Gossip, error) {
	w := &Gossip{g.w.principal(kept)}
	if err := w.validate(numberLabels(len(kept))); err != nil {
		return nil, fmt.Errorf("gossip matrix on %d of its nodes: %w", len(kept), err)
	}
	return w, nil
}
