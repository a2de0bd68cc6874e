// Package rounding gives numbers a proven side: a result that must never come out too small, such as a sensitivity,
// or too large, such as a lower bound, is rounded towards the safe side by what the arithmetic can have lost, and
// by nothing when it lost nothing. A Sum does so for sums and products of many numbers, MulUp, DivUp and SqrtUp for
// single operations, and Up and Down for decimals that are to be read.
//
// Sums are kept as two numbers by error-free transformations (Ogita, Rump & Oishi, "Accurate sum and dot product",
// SIAM J. Sci. Comput. 2005): the high part hi, and the sum lo of the exact errors of every operation. The error of
// lo is of second order and bounded. Overflow makes the result infinite or NaN; products that underflow (below
// 1e-290) are outside the bound.
package rounding

import "math"

const unit = 0x1p-53 // unit roundoff

// Sum accumulates numbers and products. The zero value is an empty sum.
type Sum struct {
	hi, lo float64
	err    float64 // Σ of the magnitudes added to lo
	terms  int     // count of the numbers added to lo
}

// Add adds x.
func (s *Sum) Add(x float64) {
	t := s.hi + x
	v := t - s.hi
	s.correct((s.hi - (t - v)) + (x - v))
	s.hi = t
}

// AddProduct adds x·y.
func (s *Sum) AddProduct(x, y float64) {
	p := x * y
	s.Add(p)
	s.correct(math.FMA(x, y, -p))
}

func (s *Sum) correct(e float64) {
	if e != 0 {
		s.lo += e
		s.err += math.Abs(e)
		s.terms++
	}
}

// Value returns the sum, nearly as accurate as if it had been computed in twice the precision and rounded once.
func (s *Sum) Value() float64 { return s.hi + s.lo }

// Up returns a value that is not below the exact sum, and is the exact sum if no operation rounded.
func (s *Sum) Up() float64 {
	if s.err == 0 {
		return s.hi
	}
	return math.Nextafter(s.Value()+s.slack(), math.Inf(1))
}

// Down returns a value that is not above the exact sum, and is the exact sum if no operation rounded.
func (s *Sum) Down() float64 {
	if s.err == 0 {
		return s.hi
	}
	return math.Nextafter(s.Value()-s.slack(), math.Inf(-1))
}

// slack bounds |exact - Value()|: the rounding of lo, of hi + lo, and twice the uncertainty of a magnitude whose
// sign was misjudged. Its factors cover its own rounding.
func (s *Sum) slack() float64 { return 4*float64(s.terms)*unit*s.err + 2*unit*math.Abs(s.Value()) }
