package graph

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"mafalda/internal/npy"
)

// LoadOptions tunes Load. The zero value reads an undirected graph.
type LoadOptions struct {
	Directed bool // an edge "u v" is A[u,v] alone
}

// LoadReport says what was found on the way.
type LoadReport struct {
	Format     string // "edge list", "MatrixMarket" or "npy"
	Duplicates int    // repeated edges (in either direction, if undirected), ignored
	SelfLoops  int    // ignored
}

// Load reads a graph from a file: an edge list, possibly gzipped (see readEdgeList), a MatrixMarket matrix (.mtx) or a
// square adjacency matrix (.npy). An undirected graph in a .npy file must be symmetric. Errors about the content name the
// file and the line.
func Load(path string, opts LoadOptions) (*Graph, LoadReport, error) {
	if filepath.Ext(path) == ".npy" {
		return loadNpy(path, opts)
	}
	r, closeFile, err := openText(path)
	if err != nil {
		return nil, LoadReport{}, err
	}
	defer closeFile()
	b := newBuilder(opts.Directed)
	report := LoadReport{Format: "edge list"}
	if name := strings.TrimSuffix(path, ".gz"); filepath.Ext(name) == ".mtx" {
		report.Format = "MatrixMarket"
		err = readMatrixGraph(r, path, b)
	} else {
		err = readEdgeList(r, path, b)
	}
	if err != nil {
		return nil, report, err
	}
	g, err := b.graph(path)
	report.Duplicates, report.SelfLoops = b.duplicates, b.selfLoops
	return g, report, err
}

// openText opens a file, through gzip if it starts like one, without a byte order mark.
func openText(path string) (*bufio.Reader, func(), error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	closeFile := func() { f.Close() }
	if info, err := f.Stat(); err == nil && info.IsDir() {
		closeFile()
		return nil, nil, fmt.Errorf("%s is a folder, not a file", path)
	}
	r := bufio.NewReaderSize(f, 1<<16)
	if start, _ := r.Peek(2); bytes.Equal(start, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(r)
		if err != nil {
			closeFile()
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		r = bufio.NewReaderSize(z, 1<<16)
	}
	if start, _ := r.Peek(3); bytes.Equal(start, []byte("\xef\xbb\xbf")) {
		_, _ = r.Discard(3)
	}
	return r, closeFile, nil
}

func loadNpy(path string, opts LoadOptions) (*Graph, LoadReport, error) {
	report := LoadReport{Format: "npy"}
	a, err := npy.ReadFile(path)
	if err != nil {
		return nil, report, err
	}
	if len(a.Shape) != 2 || a.Shape[0] != a.Shape[1] {
		return nil, report, fmt.Errorf("%s: shape %v is not that of an adjacency matrix", path, a.Shape)
	}
	n := a.Shape[0]
	if n == 0 {
		return nil, report, fmt.Errorf("%s: %w", path, ErrNoNodes)
	}
	var edges []Edge
	for u := range n {
		for v := range n {
			w := a.Data[u*n+v]
			switch {
			case w-w != 0 || w < 0:
				return nil, report, fmt.Errorf("%s: entry (%d,%d) is %v: must be finite and not negative", path, u, v, w)
			case !opts.Directed && w != a.Data[v*n+u]:
				return nil, report, fmt.Errorf("%s: entries (%d,%d) and (%d,%d) differ, so the graph is directed: use --directed",
					path, u, v, v, u)
			case w == 0:
			case u == v:
				report.SelfLoops++
			case opts.Directed || u < v:
				edges = append(edges, Edge{u, v, w})
			}
		}
	}
	if len(edges) == 0 {
		return nil, report, fmt.Errorf("%s: %w between different nodes (%d self-loops)", path, ErrNoEdges, report.SelfLoops)
	}
	g, err := newGraph(numberLabels(n), edges, opts.Directed)
	return g, report, err
}

// lines calls fn with every line of r, trimmed, and its number from 1, until fn fails. Lines have at most a megabyte.
func lines(r io.Reader, source string, fn func(line string, number int) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 1<<16), 1<<20)
	number := 0
	for s.Scan() {
		number++
		if err := fn(strings.TrimSpace(s.Text()), number); err != nil {
			return fmt.Errorf("%s:%d: %w", source, number, err)
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", source, number+1, err)
	}
	return nil
}
