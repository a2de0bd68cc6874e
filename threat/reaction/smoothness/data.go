package smoothness

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"mafalda/internal/files"
	"mafalda/internal/npy"
)

// ErrData is wrapped by errors about files that hold no rows of numbers.
var ErrData = errors.New("not rows of numbers")

// ReadNorms returns the Euclidean norm of every row of a file: a two-dimensional .npy array, or text with a row a line and
// commas, semicolons or white space between numbers, whose first line may be a heading. The column target, counted from 1, or
// from the end if it is negative, is no input and left out; 0 leaves out none. The errors wrap ErrData, the reader's own, or
// an error of the file system.
func ReadNorms(path string, target int) (norms []float64, err error) {
	defer func() {
		if err == nil && len(norms) == 0 {
			err = fmt.Errorf("%s: %w: it is empty", path, ErrData)
		}
	}()
	if strings.EqualFold(filepath.Ext(path), ".npy") {
		a, err := npy.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if len(a.Shape) != 2 {
			return nil, fmt.Errorf("%s: %w: an array of shape %v", path, ErrData, a.Shape)
		}
		norms = make([]float64, a.Shape[0])
		for i := range norms {
			if norms[i], err = rowNorm(a.Data[i*a.Shape[1]:(i+1)*a.Shape[1]], target); err != nil {
				return nil, fmt.Errorf("%s: row %d: %w", path, i+1, err)
			}
		}
		return norms, nil
	}
	f, _, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	columns := 0
	_, err = files.Lines(f, path, func(line string, at int) error {
		fields := strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(",; \t\r", c) })
		var row []float64
		for _, field := range fields {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil && at > 1 {
				return fmt.Errorf("%w: %.40q", ErrData, field)
			}
			if err == nil {
				row = append(row, v)
			}
		}
		columns = cmp.Or(columns, len(fields))
		switch {
		case len(fields) == 0 || len(row) < len(fields): // a heading
			return nil
		case len(row) != columns:
			return fmt.Errorf("%w: %d numbers, not %d", ErrData, len(row), columns)
		}
		norm, err := rowNorm(row, target)
		norms = append(norms, norm)
		return err
	})
	return norms, err
}

// rowNorm returns the norm of a row without a column, not below what it is.
func rowNorm(row []float64, target int) (float64, error) {
	drop := target - 1 // -1: none
	if target < 0 {
		drop = len(row) + target
	}
	if target != 0 && (drop < 0 || drop >= len(row)) {
		return 0, fmt.Errorf("%w: no column %d of %d", ErrData, target, len(row))
	}
	norm := 0.0
	for i, v := range row {
		if v-v != 0 {
			return 0, fmt.Errorf("%w: number %d is %v", ErrData, i+1, v)
		}
		if i != drop {
			norm = math.Hypot(norm, v)
		}
	}
	return norm * (1 + 1e-15*float64(len(row)+1)), nil
}
