package noise

import (
	"fmt"

	"sync/atomic"

	"mafalda/internal/parallel"
	"mafalda/internal/rows"
)

// NextFloat32 is Next for models of single precision: the numbers of Next, rounded, if they fit (see Single).
func (s *Stream) NextFloat32(dst []float32) error {
	if len(dst) != s.dim {
		return s.lengthError(len(dst))
	}
	if err := s.draw(s.room()); err != nil {
		return err
	}
	if s.err = s.Single(dst, s.row); s.err == nil && s.issue(1) != nil {
		clear(dst)
	}
	return s.err
}

// Single rounds numbers of a row to single precision. It is ErrNumbers, and dst is then zero, if the standard deviation
// or a number does not fit that, or if a grid would be left.
func (s *Stream) Single(dst []float32, row []float64) error {
	var wrong atomic.Bool
	parallel.Chunks(len(row), func(_, from, to int) {
		if finite, exact := rows.NarrowTo(dst[from:to], row[from:to]); !finite || s.grid > 0 && !exact {
			wrong.Store(true)
		}
	})
	if wrong.Load() || !s.singleLevel() {
		clear(dst)
		return s.misfit(row)
	}
	return nil
}

// singleLevel reports whether the standard deviation is one for single precision.
func (s *Stream) singleLevel() bool { return s.std >= 0x1p-80 && s.std <= 0x1p100 }

// misfit says why numbers of a row do not fit single precision.
func (s *Stream) misfit(row []float64) error {
	if s.singleLevel() {
		for _, v := range row {
			if single := float64(float32(v)); single-single != 0 || s.grid > 0 && single != v {
				return fmt.Errorf("%w: %v in single precision, on the grid %v", ErrNumbers, v, s.grid)
			}
		}
	}
	return fmt.Errorf("%w: of single precision, with the standard deviation %v", ErrNumbers, s.std)
}
