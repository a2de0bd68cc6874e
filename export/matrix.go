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

	"mafalda/internal/npy"
)

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
