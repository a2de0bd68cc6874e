package graph

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/files"
	"mafalda/internal/limits"
	"mafalda/internal/npy"
)

// ErrGossip is wrapped by the errors about a matrix that is not a gossip matrix, or not one of the graph at hand.
var ErrGossip = errors.New("not a gossip matrix")

// LoadGossip reads a gossip matrix from a .npy, .mtx (possibly gzipped) or .csv file and validates it: square, finite,
// not negative, rows that sum to one within 1e-9. If g is not nil, W must be of its size and W[u,v] > 0 only where v =
// u or A[u,v] > 0. Values are kept as they are.
func LoadGossip(path string, g *Graph) (*Gossip, error) {
	w, err := readMatrix(path)
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
	directed := false
	var edges []Edge
	g.w.DoNonZero(func(u, v int, w float64) {
		if u != v && w > 0 {
			edges = append(edges, Edge{u, v, 1})
			directed = directed || g.w.At(v, u) == 0
		}
	})
	if len(edges) == 0 && n > 1 {
		return nil, fmt.Errorf("gossip matrix: %w", ErrNoEdges)
	}
	if !directed {
		half := edges[:0]
		for _, e := range edges {
			if e.U < e.V {
				half = append(half, e)
			}
		}
		edges = half
	}
	return newGraph(numberLabels(n), edges, directed)
}

func readMatrix(path string) (*CSR, error) {
	if extension(path) == ".npy" {
		a, err := npy.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if len(a.Shape) != 2 || a.Shape[0] != a.Shape[1] || a.Shape[0] == 0 {
			return nil, fmt.Errorf("%s: %w: its shape is %v", path, ErrGossip, a.Shape)
		}
		return NewCSRFromDense(mat.NewDense(a.Shape[0], a.Shape[0], a.Data)), nil
	}
	r, closeFile, err := openText(path)
	if err != nil {
		return nil, err
	}
	defer closeFile()
	switch extension(path) {
	case ".mtx":
		return ReadMatrixMarket(r, path)
	case ".csv":
		return readCSVMatrix(r, path)
	}
	return nil, fmt.Errorf("%s: a gossip matrix is a .npy, .mtx or .csv file", path)
}

// ReadMatrixMarket reads a square matrix of a MatrixMarket file, of which path is the name for errors. Entries that are zero
// are left out.
func ReadMatrixMarket(r io.Reader, path string) (*CSR, error) {
	var entries []Edge
	n := 0
	header, err := readMarket(r, path, func(_ marketHeader, dim int) error { n = dim; return nil },
		func(i, j int, value string, _ int) error {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return fmt.Errorf("entry %.60q is not a number", value)
			}
			if v == 0 {
				return nil
			}
			if entries = append(entries, Edge{i, j, v}); len(entries)%edgeStep != 0 {
				return nil
			}
			if len(entries)&(len(entries)-1) == 0 { // now and then: repeated entries must not fill the memory
				if err := sortDistinct(entries); err != nil {
					return err
				}
			}
			return limits.Fits(fmt.Sprintf("a matrix of more than %d entries", len(entries)),
				edgeBytes*float64(len(entries)))
		})
	if err != nil {
		return nil, err
	}
	if header.symmetric {
		for _, e := range entries {
			if e.U != e.V {
				entries = append(entries, Edge{e.V, e.U, e.Weight})
			}
		}
	}
	if n > len(entries) { // before anything is allocated for n rows
		return nil, fmt.Errorf("%s: %w: %d entries cannot fill %d rows", path, ErrGossip, len(entries), n)
	}
	if err := sortDistinct(entries); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return NewSquare(n, entries), nil
}

// sortDistinct sorts entries, and returns an error if one is there twice.
func sortDistinct(entries []Edge) error {
	slices.SortFunc(entries, compareEdges)
	for i := 1; i < len(entries); i++ {
		if entries[i].U == entries[i-1].U && entries[i].V == entries[i-1].V {
			return fmt.Errorf("entry (%d,%d) is there twice", entries[i].U+1, entries[i].V+1)
		}
	}
	return nil
}

func readCSVMatrix(r *bufio.Reader, path string) (*CSR, error) {
	var data []float64
	columns, rows := 0, 0
	_, err := files.Lines(r, path, func(line string, _ int) error {
		if line == "" || line[0] == '#' {
			return nil
		}
		fields := strings.Split(line, ",")
		if rows > 0 && len(fields) != columns {
			return fmt.Errorf("%d numbers, but %d in the rows before", len(fields), columns)
		}
		columns = len(fields)
		if rows++; rows > columns {
			return nil // it is not square: they are counted, for the error
		}
		for _, f := range fields {
			v, err := strconv.ParseFloat(strings.TrimSpace(f), 64)
			if err != nil {
				return fmt.Errorf("%.60q is not a number", f)
			}
			data = append(data, v)
		}
		if rows == 1 || len(data)/edgeStep > (len(data)-columns)/edgeStep {
			return limits.Fits(fmt.Sprintf("a matrix of more than %d numbers", len(data)), 3*8*float64(len(data)))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if rows != columns || rows == 0 {
		return nil, fmt.Errorf("%s: %w: it has %d rows and %d columns", path, ErrGossip, rows, columns)
	}
	return NewCSRFromDense(mat.NewDense(rows, columns, data)), nil
}
