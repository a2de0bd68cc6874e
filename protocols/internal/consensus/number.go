package consensus

import "math"

// Number is the sum of two floating-point numbers, the second far below the first: 106 bits (Dekker 1971; Hida, Li &
// Bailey 2001), some thirty times faster than numbers of any precision. The zero value is 0.
type Number struct{ Hi, Lo float64 }

// quick returns a + b without error, for |a| ≥ |b|.
func quick(a, b float64) Number {
	s := a + b
	return Number{s, b - (s - a)}
}

// sum returns a + b without error.
func sum(a, b float64) Number {
	s := a + b
	t := s - a
	return Number{s, (a - (s - t)) + (b - t)}
}

// Plus has an error of some 2⁻¹⁰⁴(|x| + |y|).
func (x Number) Plus(y Number) Number {
	s := sum(x.Hi, y.Hi)
	return quick(s.Hi, s.Lo+(x.Lo+y.Lo))
}

// Times has a relative error of some 2⁻¹⁰⁴.
func (x Number) Times(y Number) Number {
	p := x.Hi * y.Hi
	return quick(p, math.FMA(x.Hi, y.Hi, -p)+(x.Hi*y.Lo+x.Lo*y.Hi))
}

// Minus returns -x.
func (x Number) Minus() Number { return Number{-x.Hi, -x.Lo} }

// Over returns x/y, by two steps of long division.
func (x Number) Over(y Number) Number {
	first := x.Hi / y.Hi
	rest := x.Plus(y.Times(Number{-first, 0}))
	second := rest.Hi / y.Hi
	rest = rest.Plus(y.Times(Number{-second, 0}))
	return quick(first, second).Plus(Number{rest.Hi / y.Hi, 0})
}

// Root returns √x, x > 0, by a step of Newton's.
func (x Number) Root() Number {
	r := math.Sqrt(x.Hi)
	rest := x.Plus(Number{r, 0}.Times(Number{r, 0}).Minus())
	return quick(r, rest.Hi/(2*r))
}
