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
	if err := s.Next(s.room()); err != nil {
		return err
	}
	return s.Single(dst, s.row)
}

// Single rounds numbers of a row to single precision. It is ErrNumbers, and dst is then zero, if the standard deviation
// or a number does not fit that, or if a grid would be left.
func (s *Stream) Single(dst []float32, row []float64) error {
	if !s.narrow(len(row), func(from, to int) (bool, bool) { return rows.NarrowTo(dst[from:to], row[from:to]) }) {
		clear(dst)
		return s.misfit(row)
	}
	return nil
}

// FitsSingle returns nil if Single can round these numbers of a row.
func (s *Stream) FitsSingle(row []float64) error {
	if !s.narrow(len(row), func(from, to int) (finite, exact bool) {
		var room [rows.Block]float32
		finite, exact = true, true
		for from < to {
			n := min(to-from, len(room))
			f, e := rows.NarrowTo(room[:n], row[from:from+n])
			finite, exact, from = finite && f, exact && e, from+n
		}
		return finite, exact
	}) {
		return s.misfit(row)
	}
	return nil
}

// narrow has all parts of n numbers rounded, and reports whether they fit.
func (s *Stream) narrow(n int, part func(from, to int) (finite, exact bool)) bool {
	if !s.singleLevel() {
		return false
	}
	var wrong atomic.Bool
	parallel.Chunks(n, func(_, from, to int) {
		if finite, exact := part(from, to); !finite || s.grid > 0 && !exact {
			wrong.Store(true)
		}
	})
	return !wrong.Load()
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
