package span

import (
	"math"
	"math/big"
)

// number is the sum of two floating-point numbers, the second far below the first: 106 bits (Dekker 1971; Hida, Li &
// Bailey 2001), some thirty times faster than numbers of any precision. The zero value is 0.
type number struct{ Hi, Lo float64 }

// quick returns a + b without error, for |a| ≥ |b|.
func quick(a, b float64) number {
	s := a + b
	return number{s, b - (s - a)}
}

// sum returns a + b without error.
func sum(a, b float64) number {
	s := a + b
	t := s - a
	return number{s, (a - (s - t)) + (b - t)}
}

// Plus has an error of some 2⁻¹⁰⁴(|x| + |y|).
func (x number) Plus(y number) number {
	s := sum(x.Hi, y.Hi)
	return quick(s.Hi, s.Lo+(x.Lo+y.Lo))
}

// Times has a relative error of some 2⁻¹⁰⁴.
func (x number) Times(y number) number {
	p := x.Hi * y.Hi
	return quick(p, math.FMA(x.Hi, y.Hi, -p)+(x.Hi*y.Lo+x.Lo*y.Hi))
}

// Minus returns -x.
func (x number) Minus() number { return number{-x.Hi, -x.Lo} }

// Over returns x/y, by two steps of long division.
func (x number) Over(y number) number {
	first := x.Hi / y.Hi
	rest := x.Plus(y.Times(number{-first, 0}))
	second := rest.Hi / y.Hi
	rest = rest.Plus(y.Times(number{-second, 0}))
	return quick(first, second).Plus(number{rest.Hi / y.Hi, 0})
}

// Root returns √x, x > 0, by a step of Newton's.
func (x number) Root() number {
	r := math.Sqrt(x.Hi)
	rest := x.Plus(number{r, 0}.Times(number{r, 0}).Minus())
	return quick(r, rest.Hi/(2*r))
}

// ofBig rounds.
func ofBig(x *big.Float) number {
	hi, _ := x.Float64()
	lo, _ := new(big.Float).SetPrec(x.Prec()).Sub(x, new(big.Float).SetFloat64(hi)).Float64()
	return number{hi, lo}
}
