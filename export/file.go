package export

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/npy"
)

// File is a file to be written: its name, and what writes it.
type File struct {
	Name  string
	Write func(w io.Writer) error
}

// NPY returns a .npy file with the entries of m, in C order.
func NPY(name string, m mat.Matrix) File {
	return File{name, func(w io.Writer) error {
		d := mat.DenseCopyOf(m)
		r, c := d.Dims()
		return npy.Write(w, []int{r, c}, d.RawMatrix().Data)
	}}
}

// CSV returns a .csv file with a line a row of m, in 17 significant digits, which is every bit.
func CSV(name string, m mat.Matrix) File {
	return File{name, func(w io.Writer) error {
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

// WriteFile writes a single file atomically: into a temporary file beside it, flushed to the disk and renamed. It replaces
// an existing file only with force.
func WriteFile(path string, write func(io.Writer) error, force bool) (err error) {
	if info, err := os.Stat(path); err == nil {
		switch {
		case info.IsDir():
			return fmt.Errorf("%s is a folder, not a file", path)
		case !force:
			return fmt.Errorf("%s: %w (use --force to replace it)", path, ErrExists)
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".mafalda-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err = writeAndSync(f, write); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// writeAndSync fills f, makes it readable by all, flushes it and closes it.
func writeAndSync(f *os.File, write func(io.Writer) error) error {
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}
