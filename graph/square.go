package graph

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"mafalda/internal/files"
	"mafalda/internal/limits"
	"mafalda/internal/lists"
	"mafalda/internal/npy"
)

// square is a square matrix as a file has it: the entries that are not 0, in any order.
type square struct {
	n         int
	entries   []located
	whole     bool // the file has both triangles, and says what is 0
	symmetric bool // entries are of the lower triangle, and stand for the upper one, too
}

// add adds an entry, and now and then refuses what cannot be held in memory.
func (s *square) add(i, j int, v float64, line int) error {
	if v == 0 {
		return nil
	}
	if s.entries = append(s.entries, located{Edge{i, j, v}, line}); len(s.entries)%edgeStep != 0 {
		return nil
	}
	return limits.Fits(fmt.Sprintf("a matrix of more than %d entries", len(s.entries)), edgeBytes*float64(len(s.entries)))
}

// matrix returns the matrix itself.
func (s *square) matrix(source string) (*CSR, error) {
	count := len(s.entries)
	if s.symmetric {
		count *= 2
	}
	if s.n > count { // before anything is allocated for n rows
		return nil, fmt.Errorf("%s: %w: %d entries cannot fill %d rows", source, ErrGossip, count, s.n)
	}
	return squareOf(s.entries, s.n, s.symmetric, func(e, _ located) error {
		return fmt.Errorf("%s: entry (%d,%d) is there twice", source, e.U+1, e.V+1)
	})
}

// graph returns the graph with this adjacency matrix; nodes without entries are nodes, too. Their labels are numbers, from
// first on, as errors have them.
func (s *square) graph(source string, first int, directed bool) (*Graph, LoadReport, error) {
	b := builder{directed: directed || s.whole}
	b.mirrored = !b.directed || s.symmetric
	for _, e := range s.entries {
		switch {
		case isWeight(e.Weight):
		case e.line > 0:
			return nil, LoadReport{}, fmt.Errorf("%s:%d: weight %v: must be positive and finite", source, e.line, e.Weight)
		default:
			return nil, LoadReport{}, fmt.Errorf("%s: entry (%d,%d) is %v: must be finite and not negative", source, first+e.U,
				first+e.V, e.Weight)
		}
		if err := b.add(e.U, e.V, e.Weight, e.line); err != nil {
			return nil, LoadReport{}, fmt.Errorf("%s: %w", source, err)
		}
	}
	switch count := len(b.edges); {
	case count == 0:
		return nil, LoadReport{}, b.noEdges(source)
	case s.n > 1<<20 && s.n > 100*count:
		return nil, LoadReport{}, fmt.Errorf("%s: %d rows with only %d entries", source, s.n, count)
	}
	g, err := b.makeGraph(lists.Make(s.n, func(i int) string { return strconv.Itoa(first + i) }), source)
	if err != nil {
		return nil, LoadReport{}, err
	}
	if u, v := g.oneWay(); !directed && u != v {
		return nil, LoadReport{}, fmt.Errorf("%s: entries (%d,%d) and (%d,%d) differ, so %w", source, first+u, first+v, first+v,
			first+u, ErrAsymmetric)
	}
	g.directed = directed
	return g, LoadReport{b.duplicates, b.selfLoops}, nil
}

// oneWay returns the nodes, the larger one first, of an edge whose way back has another weight, or none; 0 and 0 if no
// edge is like that.
func (g *Graph) oneWay() (u, v int) {
	g.adjacency.DoNonZero(func(i, j int, w float64) {
		if u == v && g.adjacency.At(j, i) != w {
			u, v = max(i, j), min(i, j)
		}
	})
	return u, v
}

// readNpy reads a square array.
func readNpy(path string) (*square, error) {
	a, err := npy.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(a.Shape) != 2 || a.Shape[0] != a.Shape[1] {
		return nil, fmt.Errorf("%s: the shape %v is not that of a square matrix", path, a.Shape)
	}
	s := &square{n: a.Shape[0], whole: true}
	if s.n == 0 {
		return nil, fmt.Errorf("%s: %w", path, ErrNoNodes)
	}
	for i, v := range a.Data {
		if err := s.add(i/s.n, i%s.n, v, 0); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return s, nil
}

// readCSV reads lines of numbers that are separated by commas.
func readCSV(r *bufio.Reader, path string) (*square, error) {
	s := &square{whole: true}
	rows := 0
	_, err := files.Lines(r, path, func(line string, number int) error {
		if line == "" || line[0] == '#' {
			return nil
		}
		fields := strings.Split(line, ",")
		if rows > 0 && len(fields) != s.n {
			return fmt.Errorf("%d numbers, but %d in the rows before", len(fields), s.n)
		}
		s.n = len(fields)
		if rows++; rows > s.n {
			return nil // it is not square: they are counted, for the error
		}
		for j, f := range fields {
			v, err := strconv.ParseFloat(strings.TrimSpace(f), 64)
			if err != nil {
				return fmt.Errorf("%.60q is not a number", f)
			}
			if err := s.add(rows-1, j, v, number); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && (rows != s.n || rows == 0) {
		err = fmt.Errorf("%s: %w: it has %d rows and %d columns", path, ErrGossip, rows, s.n)
	}
	return s, err
}
