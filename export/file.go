package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/enum"
	"mafalda/internal/npy"
	"mafalda/strategy"
)

// File is a file to be written: its name, and what writes it.
type File struct {
	Name  string
	Write func(w io.Writer) error
}

// Bytes returns a file of the given content, which must not change until it is written.
func Bytes(name string, content []byte) File {
	return File{name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}}
}

// NPY returns a .npy file with the entries of m, in C order. Writing fails if one of them is not finite.
func NPY(name string, m mat.Matrix) File {
	return File{name, func(w io.Writer) error {
		if err := finite(m); err != nil {
			return err
		}
		d, ok := m.(*mat.Dense)
		if !ok || d.RawMatrix().Stride != d.RawMatrix().Cols {
			d = mat.DenseCopyOf(m)
		}
		r, c := d.Dims()
		return npy.Write(w, []int{r, c}, d.RawMatrix().Data[:r*c])
	}}
}

// NPYStack returns a .npy file of count×steps×steps numbers, in C order, with what layer returns for 0, 1, ... one
// after the other, so that they need not be in memory together. Writing fails if an entry is not finite.
func NPYStack(name string, count, steps int, layer func(i int) (mat.Matrix, error)) File {
	return File{name, func(w io.Writer) error {
		if err := npy.WriteHeader(w, []int{count, steps, steps}); err != nil {
			return err
		}
		for i := range count {
			m, err := layer(i)
			if err != nil {
				return fmt.Errorf("layer %d: %w", i, err)
			}
			if err := finite(m); err != nil {
				return fmt.Errorf("layer %d: %w", i, err)
			}
			if err := npy.WriteNumbers(w, mat.DenseCopyOf(m).RawMatrix().Data); err != nil {
				return err
			}
		}
		return nil
	}}
}

// CSV returns a .csv file with a line a row of m, in 17 significant digits, which is every bit. Writing fails if an
// entry is not finite.
func CSV(name string, m mat.Matrix) File {
	return File{name, func(w io.Writer) error {
		if err := finite(m); err != nil {
			return err
		}
		bw := bufio.NewWriterSize(w, 1<<16)
		rows, cols := m.Dims()
		var buf []byte
		for i := range rows {
			buf = buf[:0]
			for j := range cols {
				if j > 0 {
					buf = append(buf, ',')
				}
				buf = strconv.AppendFloat(buf, m.At(i, j), 'g', 17, 64)
			}
			if _, err := bw.Write(append(buf, '\n')); err != nil {
				return err
			}
		}
		return bw.Flush()
	}}
}

// finite refuses matrices that no node could use.
func finite(m mat.Matrix) error {
	rows, cols := m.Dims()
	for i := range rows {
		for j := range cols {
			if v := m.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("entry (%d,%d) is %v", i, j, v)
			}
		}
	}
	return nil
}

// Format says in which files matrices are written.
type Format int

const (
	// FormatNPY is C.npy and C_inv.npy.
	FormatNPY Format = iota
	// FormatCSV is C.csv and C_inv.csv.
	FormatCSV
	// FormatBoth is all four of them.
	FormatBoth
)

var formats = enum.Of[Format]("format", "npy", "csv", "both")

// Formats returns the names that ParseFormat accepts.
func Formats() []string { return formats.All() }

// String returns "npy", "csv" or "both".
func (f Format) String() string { return formats.Name(f) }

// ParseFormat returns the format of this name. The error is a fault.Argument about Format.
func ParseFormat(name string) (Format, error) { return formats.ParseField("Format", name) }

// Matrices returns the files of a strategy C and of its inverse. It fails if C cannot be inverted.
func Matrices(s strategy.Strategy, f Format) ([]File, error) {
	var c, inverse mat.TriDense
	s.StrategyTo(&c)
	if err := s.NoisingTo(&inverse); err != nil {
		return nil, fmt.Errorf("inverting the strategy: %w", err)
	}
	var all []File
	if f != FormatCSV {
		all = append(all, NPY("C.npy", &c), NPY("C_inv.npy", &inverse))
	}
	if f != FormatNPY {
		all = append(all, CSV("C.csv", &c), CSV("C_inv.csv", &inverse))
	}
	return all, nil
}

// Layers returns the files of several strategies of as many steps, one array each.
func Layers(strategies []strategy.Strategy) []File {
	steps := strategies[0].Steps()
	return []File{
		NPYStack("C.npy", len(strategies), steps, func(i int) (mat.Matrix, error) {
			var c mat.TriDense
			strategies[i].StrategyTo(&c)
			return &c, nil
		}),
		NPYStack("C_inv.npy", len(strategies), steps, func(i int) (mat.Matrix, error) {
			var inverse mat.TriDense
			err := strategies[i].NoisingTo(&inverse)
			return &inverse, err
		}),
	}
}

// parseNPY reads a T×T matrix of finite numbers, or several if the manifest has strategies of single nodes, to the end
// of r, the file at path, which has size bytes.
func parseNPY(path string, r io.Reader, size int64, m *Manifest) ([]*mat.Dense, error) {
	a, err := npy.Read(r, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	shape := a.Shape
	if m.PerNode == nil {
		shape = append([]int{1}, shape...)
	}
	if len(shape) != 3 || shape[0] == 0 {
		return nil, fmt.Errorf("%s: shape %v", path, a.Shape)
	}
	layers := make([]*mat.Dense, shape[0])
	each := shape[1] * shape[2]
	for i := range layers {
		numbers := a.Data[i*each : (i+1)*each : (i+1)*each]
		if layers[i], err = square(path, shape[1], shape[2], m.Steps, numbers); err != nil {
			return nil, err
		}
	}
	return layers, nil
}

// parseCSV is parseNPY for text. Memory is bounded by size, whatever steps is: a number takes two bytes at least.
func parseCSV(path string, r io.Reader, size int64, steps int) (*mat.Dense, error) {
	br := bufio.NewReaderSize(r, 1<<16)
	data := make([]float64, 0, min(int64(steps)*int64(steps), size/2+1))
	for row := 1; ; row++ {
		line, err := br.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if line == "" {
			return square(path, row-1, steps, steps, data)
		}
		if row > steps {
			return nil, fmt.Errorf("%s:%d: more than %d lines", path, row, steps)
		}
		for field := range strings.SplitSeq(strings.TrimSpace(line), ",") {
			v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %.40q is not a number", path, row, field)
			}
			data = append(data, v)
		}
		if len(data) != row*steps {
			return nil, fmt.Errorf("%s:%d: not %d numbers", path, row, steps)
		}
	}
}

// square checks that data is a steps×steps matrix of finite numbers.
func square(path string, rows, cols, steps int, data []float64) (*mat.Dense, error) {
	if rows != steps || cols != steps {
		return nil, fmt.Errorf("%s: %d×%d numbers for %d steps", path, rows, cols, steps)
	}
	for i, v := range data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s: entry (%d,%d) is %v", path, i/steps, i%steps, v)
		}
	}
	return mat.NewDense(rows, cols, data), nil
}
