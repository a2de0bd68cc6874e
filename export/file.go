package export

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/npy"
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
