package noise

import (
	"fmt"
	"math"
)

// NextFloat32 is Next for models of single precision: the numbers of Next, rounded, if they fit (see Single).
func (s *Stream) NextFloat32(dst []float32) error {
	if len(dst) != s.dim {
		return s.lengthError(len(dst))
	}
	if err := s.advance(s.room()); err != nil {
		return err
	}
	return s.Single(dst, s.row)
}

// Single rounds numbers of a row to single precision. It is ErrNumbers, and dst is as it was, if the standard deviation
// or a number does not fit that, or if a grid would be left.
func (s *Stream) Single(dst []float32, row []float64) error {
	if err := s.FitsSingle(row); err != nil {
		return err
	}
	toSingle(dst, row)
	return nil
}

func toSingle(dst []float32, row []float64) {
	for i, v := range row {
		dst[i] = float32(v)
	}
}

// FitsSingle returns nil if Single can round these numbers of a row.
func (s *Stream) FitsSingle(row []float64) error {
	if s.std < 0x1p-80 || s.std > 0x1p100 {
		return fmt.Errorf("%w: of single precision, with the standard deviation %v", ErrNumbers, s.std)
	}
	for _, v := range row {
		single := float64(float32(v))
		if math.IsInf(single, 0) || s.grid > 0 && single != v {
			return fmt.Errorf("%w: %v in single precision, on the grid %v", ErrNumbers, v, s.grid)
		}
	}
	return nil
}
