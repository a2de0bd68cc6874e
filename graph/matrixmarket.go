package graph

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mafalda/internal/files"
)

// marketBanner is how a MatrixMarket file starts, in any case of letters.
const marketBanner = "%%MatrixMarket"

// market reads a MatrixMarket file. Nothing is allocated by the size line alone.
type market struct {
	square
	pattern        bool  // entries have no values: ones
	promised, read int64 // number of entries that the size line promises, and how many there were
	i, j           int   // place of the next number of an array
}

// readMarket reads a square matrix.
func readMarket(r io.Reader, source string) (*square, error) {
	m := &market{}
	count, err := files.Lines(r, source, m.line)
	switch {
	case err != nil:
		return nil, err
	case count == 0:
		return nil, fmt.Errorf("%s: %w", source, ErrNoNodes)
	case m.n == 0 || m.read != m.promised:
		return nil, fmt.Errorf("%s: truncated: %d entries of %d", source, m.read, m.promised)
	}
	return &m.square, nil
}

func (m *market) line(line string, number int) error {
	f := strings.Fields(line)
	switch {
	case number == 1:
		return m.readHeader(f)
	case line == "" || line[0] == '%':
		return nil
	case m.n == 0:
		if err := m.readSize(f); err != nil {
			return fmt.Errorf("size line %.60q: %w", line, err)
		}
		return nil
	case m.read == m.promised:
		return fmt.Errorf("more than the promised %d entries", m.promised)
	}
	m.read++
	if err := m.readEntry(f, number); err != nil {
		return fmt.Errorf("entry %.60q: %w", line, err)
	}
	return nil
}

func (m *market) readHeader(f []string) error {
	f = strings.Fields(strings.ToLower(strings.Join(f, " ")))
	if len(f) != 5 || f[0] != strings.ToLower(marketBanner) || f[1] != "matrix" {
		return errors.New(`not MatrixMarket: the first line must be like "%%MatrixMarket matrix coordinate real general"`)
	}
	m.whole, m.pattern, m.symmetric = f[2] == "array", f[3] == "pattern", f[4] == "symmetric"
	switch {
	case !m.whole && f[2] != "coordinate":
		return fmt.Errorf("MatrixMarket format %q: must be coordinate or array", f[2])
	case f[3] != "real" && f[3] != "double" && f[3] != "integer" && f[3] != "pattern" || m.whole && m.pattern:
		return fmt.Errorf("MatrixMarket field %q: must be real, integer or (for coordinates) pattern", f[3])
	case !m.symmetric && f[4] != "general":
		return fmt.Errorf("MatrixMarket symmetry %q: must be general or symmetric", f[4])
	}
	return nil
}

// maxMarketDimension is the largest number of rows.
const maxMarketDimension = 1 << 30

func (m *market) readSize(f []string) error {
	want := 3
	if m.whole {
		want = 2
	}
	if len(f) != want {
		return fmt.Errorf("it needs %d numbers", want)
	}
	var dims [3]int64
	for i, s := range f {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil || v < 0 {
			return fmt.Errorf("%q is not a size", s)
		}
		dims[i] = v
	}
	n := dims[0]
	switch {
	case n != dims[1]:
		return fmt.Errorf("the matrix is %d×%d: must be square", n, dims[1])
	case n == 0:
		return ErrNoNodes
	case n > maxMarketDimension:
		return fmt.Errorf("at most %d rows can be read", maxMarketDimension)
	}
	m.n, m.promised = int(n), dims[2]
	switch {
	case m.whole && m.symmetric:
		m.promised = n * (n + 1) / 2
	case m.whole:
		m.promised = n * n
	}
	return nil
}

func (m *market) readEntry(f []string, number int) (err error) {
	i, j, value := 0, 0, 1.0
	switch {
	case m.whole && len(f) == 1:
		i, j = m.next()
	case !m.whole && (m.pattern && len(f) == 2 || !m.pattern && len(f) == 3):
		var err2 error
		i, err = strconv.Atoi(f[0])
		j, err2 = strconv.Atoi(f[1])
		if err != nil || err2 != nil || i < 1 || j < 1 || i > m.n || j > m.n {
			return fmt.Errorf("not within the %d×%d matrix", m.n, m.n)
		}
		i, j = i-1, j-1
	default:
		return fmt.Errorf("it has %d fields", len(f))
	}
	if m.symmetric && j > i {
		return errors.New("above the diagonal of a symmetric matrix")
	}
	if !m.pattern {
		if value, err = strconv.ParseFloat(f[len(f)-1], 64); err != nil {
			return errors.New("not a number")
		}
	}
	return m.add(i, j, value, number)
}

// next returns the place of the next number of an array: column by column, from the diagonal if symmetric.
func (m *market) next() (i, j int) {
	i, j = m.i, m.j
	if m.i++; m.i == m.n {
		m.i, m.j = 0, m.j+1
		if m.symmetric {
			m.i = m.j
		}
	}
	return i, j
}

// ReadMatrixMarket reads a square matrix of a MatrixMarket file, of which path is the name for errors. Entries that are zero
// are left out.
func ReadMatrixMarket(r io.Reader, path string) (*CSR, error) {
	s, err := readMarket(r, path)
	if err != nil {
		return nil, err
	}
	return s.matrix(path)
}

// WriteMatrixMarket writes m in coordinates with 17 significant digits, which is every bit.
func WriteMatrixMarket(w io.Writer, m *CSR) error {
	bw := bufio.NewWriter(w)
	r, c := m.Dims()
	fmt.Fprintf(bw, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", r, c, m.NNZ())
	m.DoNonZero(func(i, j int, v float64) { fmt.Fprintf(bw, "%d %d %.17g\n", i+1, j+1, v) })
	return bw.Flush()
}
