package graph

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"

	"mafalda/internal/files"
)

// LoadOptions tunes Load. The zero value reads an undirected graph.
type LoadOptions struct {
	Directed bool // an edge "u v" is A[u,v] alone
}

// ErrAsymmetric is wrapped by the errors about a matrix that is not symmetric, for a graph that is not said to be
// directed.
var ErrAsymmetric = errors.New("the graph is directed")

// LoadReport says what was found on the way.
type LoadReport struct {
	Duplicates int // repeated edges (in either direction, if undirected), ignored
	SelfLoops  int // edges from a node to itself, ignored
}

// Load reads a graph from a file, possibly gzipped: a MatrixMarket matrix, if it is named .mtx or starts like one; a
// square adjacency matrix, if it is named .npy; an edge list otherwise. An undirected graph in a .npy file must be
// symmetric.
//
// A line of an edge list holds two labels and perhaps, as all lines or none, a weight, separated by white space, commas
// or semicolons; lines that start with # or % are comments. A node that is only in a self-loop is a node without edges.
// Repeated edges and self-loops are counted and ignored; repeated edges of different weights are an error, and so are
// labels with control characters, which a terminal would obey (CheckLabel). Errors about the
// content name the file and the line; what does not fit into memory is refused while it is read.
func Load(path string, opts LoadOptions) (*Graph, LoadReport, error) {
	if extension(path) == ".npy" {
		s, err := readNpy(path)
		if err != nil {
			return nil, LoadReport{}, err
		}
		return s.graph(path, 0, opts.Directed)
	}
	r, closeFile, err := openText(path)
	if err != nil {
		return nil, LoadReport{}, err
	}
	defer closeFile()
	start, _ := r.Peek(len(marketBanner))
	if extension(path) == ".mtx" || strings.EqualFold(string(start), marketBanner) {
		s, err := readMarket(r, path)
		if err != nil {
			return nil, LoadReport{}, err
		}
		return s.graph(path, 1, opts.Directed)
	}
	b := newBuilder(opts.Directed)
	if err := readEdgeList(r, path, b); err != nil {
		return nil, LoadReport{}, err
	}
	g, err := b.graph(path)
	return g, LoadReport{b.duplicates, b.selfLoops}, err
}

// extension returns the extension of a name in lower case, that before .gz if it ends so.
func extension(path string) string {
	return filepath.Ext(strings.TrimSuffix(strings.ToLower(path), ".gz"))
}

const byteOrderMark = "\xef\xbb\xbf"

// openText opens a file, through gzip if it starts like one, without a byte order mark.
func openText(path string) (*bufio.Reader, func(), error) {
	f, _, err := files.Open(path)
	if err != nil {
		return nil, nil, err
	}
	closeFile := func() { f.Close() }
	r := bufio.NewReaderSize(f, 1<<16)
	if start, _ := r.Peek(2); bytes.Equal(start, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(r)
		if err != nil {
			closeFile()
			return nil, nil, fmt.Errorf("%s: %w", path, files.Plain(err))
		}
		r = bufio.NewReaderSize(z, 1<<16)
	}
	if start, _ := r.Peek(3); string(start) == byteOrderMark {
		_, _ = r.Discard(3)
	}
	return r, closeFile, nil
}
