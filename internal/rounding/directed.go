package rounding

import "math"

// MulUp returns the smallest float64 that is not below x·y, so x·y itself if that is one. Overflow gives +Inf or
// the smallest finite number; what is not finite to begin with is multiplied as usual.
func MulUp(x, y float64) float64 {
	p := x * y
	if !finite(x) || !finite(y) {
		return p
	}
	// Mantissas are multiplied, so that what the rounding of p left out does not underflow.
	fx, ex := math.Frexp(x)
	fy, ey := math.Frexp(y)
	high := fx * fy
	low := math.FMA(fx, fy, -high)
	return orAbove(p, (high-math.Ldexp(p, -ex-ey))+low)
}

// DivUp returns the smallest float64 that is not below x/y, so x/y itself if that is one. Overflow gives +Inf or
// the smallest finite number; what is not finite or no quotient is divided as usual.
func DivUp(x, y float64) float64 {
	q := x / y
	if !finite(x) || !finite(y) || y == 0 {
		return q
	}
	fx, ex := math.Frexp(x)
	fy, ey := math.Frexp(y)
	rest := math.FMA(-math.Ldexp(q, ey-ex), fy, fx)
	if y < 0 {
		rest = -rest
	}
	return orAbove(q, rest)
}

// SqrtUp returns the smallest float64 that is not below √x, so √x itself if that is one.
func SqrtUp(x float64) float64 {
	s := math.Sqrt(x)
	if !finite(s) || s == 0 {
		return s
	}
	f, e := math.Frexp(x)
	if e%2 != 0 {
		f, e = 2*f, e-1
	}
	root := math.Ldexp(s, -e/2)
	return orAbove(s, math.FMA(-root, root, f))
}

// orAbove returns v, or the next number if v is below the exact result by something positive.
func orAbove(v, rest float64) float64 {
	if rest > 0 {
		return math.Nextafter(v, math.Inf(1))
	}
	return v
}

func finite(v float64) bool { return v-v == 0 }
