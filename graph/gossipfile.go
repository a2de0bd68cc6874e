package graph

import (
	"errors"
	"fmt"
	"math"
)

// ErrGossip is wrapped by the errors about a matrix that is not a gossip matrix, or not one of the graph at hand.
var ErrGossip = errors.New("not a gossip matrix")

// LoadGossip reads a gossip matrix from a .npy, .mtx (possibly gzipped) or .csv file and validates it: square, finite,
// not negative, rows that sum to one within 1e-9. If g is not nil, W must be of its size and W[u,v] > 0 only where v =
// u or A[u,v] > 0. Values are kept as they are.
func LoadGossip(path string, g *Graph) (*Gossip, error) {
	s, err := readSquare(path)
	if err != nil {
		return nil, err
	}
	w, err := s.matrix(path)
	if err != nil {
		return nil, err
	}
	gossip := &Gossip{w: w}
	n, _ := w.Dims()
	labels := numberLabels(n)
	if g != nil {
		if g.Nodes() != n {
			return nil, fmt.Errorf("%s: %w: it has %d rows, the graph %d nodes", path, ErrGossip, n, g.Nodes())
		}
		labels = g.Labels()
	}
	if err = gossip.validate(labels); err == nil && g != nil {
		err = gossip.supportedBy(g)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return gossip, nil
}

func (g *Gossip) validate(labels []string) error {
	sums := make([]float64, len(labels))
	var bad error
	g.w.DoNonZero(func(i, j int, v float64) {
		if !(v >= 0) || math.IsInf(v, 0) {
			if bad == nil {
				bad = fmt.Errorf("%w: entry (%d,%d) is %v: must be finite and not negative", ErrGossip, i, j, v)
			}
		}
		sums[i] += v
	})
	if bad != nil {
		return bad
	}
	for i, s := range sums {
		if math.Abs(s-1) > 1e-9 {
			return fmt.Errorf("%w: row %d (node %s) sums to %.12g, not to 1", ErrGossip, i, labels[i], s)
		}
	}
	return nil
}

func (g *Gossip) supportedBy(on *Graph) error {
	var bad error
	g.w.DoNonZero(func(u, v int, w float64) {
		if u != v && w > 0 && bad == nil && on.adjacency.At(u, v) == 0 {
			bad = fmt.Errorf("%w: node %s averages over %s (weight %v), but the graph has no such edge", ErrGossip,
				on.Label(u), on.Label(v), w)
		}
	})
	return bad
}

// Support returns the graph of the nonzero entries of W off the diagonal, without weights: undirected if they are
// symmetric. Labels are node numbers. A single node is a graph; several without any edge are ErrNoEdges.
func (g *Gossip) Support() (*Graph, error) {
	n, _ := g.w.Dims()
	var edges []Edge
	g.w.DoNonZero(func(u, v int, w float64) {
		if u != v && w > 0 {
			edges = append(edges, Edge{u, v, 1})
		}
	})
	if len(edges) == 0 && n > 1 {
		return nil, fmt.Errorf("gossip matrix: %w", ErrNoEdges)
	}
	adjacency := NewSquare(n, edges)
	return wrap(adjacency, numberLabels(n), !adjacency.Symmetric(0)), nil
}

func readSquare(path string) (*square, error) {
	if extension(path) == ".npy" {
		return readNpy(path)
	}
	r, closeFile, err := openText(path)
	if err != nil {
		return nil, err
	}
	defer closeFile()
	switch extension(path) {
	case ".mtx":
		return readMarket(r, path)
	case ".csv":
		return readCSV(r, path)
	}
	return nil, fmt.Errorf("%s: a gossip matrix is a .npy, .mtx or .csv file", path)
}
