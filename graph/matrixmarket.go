package graph

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mafalda/internal/files"
	"mafalda/internal/limits"
)

// marketBanner is how a MatrixMarket file starts, in any case of letters.
const marketBanner = "%%MatrixMarket"

// marketHeader is the first line of a MatrixMarket file.
type marketHeader struct {
	array     bool // all entries, column by column; otherwise coordinates
	pattern   bool // no values: ones
	symmetric bool // the lower triangle only
	lines     int  // number of lines of the file
}

func parseMarketHeader(line string) (marketHeader, error) {
	f := strings.Fields(strings.ToLower(line))
	if len(f) != 5 || f[0] != strings.ToLower(marketBanner) || f[1] != "matrix" {
		return marketHeader{}, errors.New("not MatrixMarket: the first line must be like " +
			`"%%MatrixMarket matrix coordinate real general"`)
	}
	h := marketHeader{array: f[2] == "array", pattern: f[3] == "pattern", symmetric: f[4] == "symmetric"}
	switch {
	case f[2] != "array" && f[2] != "coordinate":
		return h, fmt.Errorf("MatrixMarket format %q: must be coordinate or array", f[2])
	case f[3] != "real" && f[3] != "double" && f[3] != "integer" && f[3] != "pattern" || h.array && h.pattern:
		return h, fmt.Errorf("MatrixMarket field %q: must be real, integer or (for coordinates) pattern", f[3])
	case f[4] != "general" && f[4] != "symmetric":
		return h, fmt.Errorf("MatrixMarket symmetry %q: must be general or symmetric", f[4])
	}
	return h, nil
}

// marketReader reads a square matrix entry by entry. Nothing is allocated by the size line alone.
type marketReader struct {
	header  marketHeader
	n       int   // rows and columns
	entries int64 // number of entries that the size line promises
	read    int64
	i, j    int // place of the next number of an array
	size    func(h marketHeader, n int) error
	entry   func(i, j int, value string, line int) error // takes an entry, with i and j from 0
}

// readMarket calls size with the dimension and entry for every stored entry, once for symmetric pairs.
func readMarket(r io.Reader, source string, size func(h marketHeader, n int) error,
	entry func(i, j int, value string, line int) error) (marketHeader, error) {
	m := &marketReader{n: -1, size: size, entry: entry}
	first := true
	count, err := files.Lines(r, source, func(line string, number int) (err error) {
		switch {
		case first:
			first = false
			m.header, err = parseMarketHeader(line)
			return err
		case line == "" || line[0] == '%':
			return nil
		case m.n < 0:
			return m.readSize(line)
		}
		return m.readEntry(line, number)
	})
	m.header.lines = count
	switch {
	case err != nil:
		return m.header, err
	case first:
		return m.header, fmt.Errorf("%s: %w", source, ErrNoNodes)
	case m.n < 0 || m.read != m.entries:
		return m.header, fmt.Errorf("%s: truncated: %d entries of %d", source, m.read, m.entries)
	}
	return m.header, nil
}

func (m *marketReader) readSize(line string) error {
	want := 3
	if m.header.array {
		want = 2
	}
	f := strings.Fields(line)
	if len(f) != want {
		return fmt.Errorf("size line %.60q: needs %d numbers", line, want)
	}
	var dims [3]int64
	for i, s := range f {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil || v < 0 {
			return fmt.Errorf("size line %.60q", line)
		}
		dims[i] = v
	}
	if dims[0] != dims[1] {
		return fmt.Errorf("matrix is %d×%d: must be square", dims[0], dims[1])
	}
	if dims[0] == 0 {
		return ErrNoNodes
	}
	if dims[0] > maxMarketDimension {
		return fmt.Errorf("matrix of %d rows: at most %d can be read", dims[0], maxMarketDimension)
	}
	m.n, m.entries = int(dims[0]), dims[2]
	if m.header.array {
		m.entries = dims[0] * dims[0]
		if m.header.symmetric {
			m.entries = dims[0] * (dims[0] + 1) / 2
		}
	}
	return m.size(m.header, m.n)
}

const maxMarketDimension = 1 << 30

func (m *marketReader) readEntry(line string, number int) error {
	if m.read == m.entries {
		return fmt.Errorf("more than the promised %d entries", m.entries)
	}
	f := strings.Fields(line)
	i, j, value := 0, 0, "1"
	switch {
	case m.header.array && len(f) == 1:
		i, j = m.nextOfArray()
		value = f[0]
	case !m.header.array && (m.header.pattern && len(f) == 2 || !m.header.pattern && len(f) == 3):
		var err1, err2 error
		i, err1 = strconv.Atoi(f[0])
		j, err2 = strconv.Atoi(f[1])
		if err1 != nil || err2 != nil || i < 1 || j < 1 || i > m.n || j > m.n {
			return fmt.Errorf("entry %.60q is not within the %d×%d matrix", line, m.n, m.n)
		}
		i, j = i-1, j-1
		if !m.header.pattern {
			value = f[2]
		}
	default:
		return fmt.Errorf("entry %.60q has %d fields", line, len(f))
	}
	if m.header.symmetric && j > i {
		return fmt.Errorf("entry (%d,%d) above the diagonal of a symmetric matrix", i+1, j+1)
	}
	m.read++
	return m.entry(i, j, value, number)
}

// nextOfArray returns the place of the next number: column by column, from the diagonal if symmetric.
func (m *marketReader) nextOfArray() (i, j int) {
	i, j = m.i, m.j
	if m.i++; m.i == m.n {
		m.i, m.j = 0, m.j+1
		if m.header.symmetric {
			m.i = m.j
		}
	}
	return i, j
}

// readMatrixGraph reads an adjacency matrix. Nodes are numbered from 1, as in the file; rows without entries are nodes
// too.
func readMatrixGraph(r io.Reader, source string, b *builder) error {
	n := 0
	names := func(i int) string { return strconv.Itoa(i + 1) }
	var both *square // for the check of symmetry: an undirected array
	size := func(h marketHeader, dim int) error {
		n = dim
		if h.array && !h.symmetric && !b.directed {
			both = &square{n: n}
		}
		return nil
	}
	header, err := readMarket(r, source, size,
		func(i, j int, value string, line int) error {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil || v != 0 {
				if v, err = parseWeight(value); err != nil {
					return err
				}
			}
			if both != nil {
				if err := both.add(v); err != nil {
					return err
				}
			}
			if v == 0 || both != nil && i < j { // its mirror image counts
				return nil
			}
			return b.add(names(i), names(j), v, line)
		})
	b.lines = header.lines
	if err != nil {
		return err
	}
	if i, j, differ := both.asymmetric(); differ {
		return fmt.Errorf("%s: entries (%d,%d) and (%d,%d) differ, so %w", source,
			i+1, j+1, j+1, i+1, ErrAsymmetric)
	}
	if len(b.pairs) == 0 {
		return fmt.Errorf("%s: %w between different nodes (%d self-loops)", source, ErrNoEdges, b.selfLoops)
	}
	if n > 1<<20 && n > 100*len(b.pairs) {
		return fmt.Errorf("%s: %d rows with only %d entries", source, n, len(b.pairs))
	}
	for i := range n {
		b.node(names(i))
	}
	if b.err != nil {
		return fmt.Errorf("%s: %w", source, b.err)
	}
	if b.directed && header.symmetric {
		for _, p := range b.pairs {
			b.pairs = append(b.pairs, pair{p.v, p.u})
		}
		b.marks = append(b.marks, b.marks...)
	}
	return nil
}

// square is a matrix of n×n numbers that come one by one.
type square struct {
	n      int
	values []float64
}

func (s *square) add(v float64) error {
	if len(s.values)%edgeStep == 0 {
		if err := limits.Fits(fmt.Sprintf("a matrix of more than %d entries", len(s.values)),
			3*8*float64(len(s.values))); err != nil {
			return err
		}
	}
	s.values = append(s.values, v)
	return nil
}

// asymmetric returns the place of an entry that differs from its mirror image. A nil square has none.
func (s *square) asymmetric() (i, j int, differ bool) {
	if s == nil {
		return 0, 0, false
	}
	for i := range s.n {
		for j := range i {
			if s.values[i*s.n+j] != s.values[j*s.n+i] {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

// WriteMatrixMarket writes m in coordinates with 17 significant digits, which is every bit.
func WriteMatrixMarket(w io.Writer, m *CSR) error {
	bw := bufio.NewWriter(w)
	r, c := m.Dims()
	fmt.Fprintf(bw, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", r, c, m.NNZ())
	m.DoNonZero(func(i, j int, v float64) { fmt.Fprintf(bw, "%d %d %.17g\n", i+1, j+1, v) })
	return bw.Flush()
}
