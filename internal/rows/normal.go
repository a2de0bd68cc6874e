package rows

import "math"

// normal maps 64 random bits to a standard normal number, the same one on every machine and in every language that has
// IEEE 754 arithmetic: it uses +, -, ×, ÷ and square roots alone, one at a time and in this order.
//
// Bit 63 is the sign. Bits 0 to 51 are k, and p = (k + 1/2)/2⁵³ is a probability in (0, 1/2), exactly. The number is
// the quantile of p by Wichura's algorithm AS 241 (1988), accurate to 1e-16, times the sign: from 1.4e-16 to 8.3, so
// that tails are right down to probabilities of 2⁻⁵⁴.
func normal(bits uint64) float64 {
	p := (float64(bits&(1<<52-1)) + 0.5) * 0x1p-53
	z := -quantile(p)
	if bits>>63 == 1 {
		return -z
	}
	return z
}

// Products are converted to float64 before they are added, which forbids fusing the two.

// polynomial evaluates c[0] + c[1] r + ... by Horner's rule.
func polynomial(c *[8]float64, r float64) float64 {
	v := float64(c[7]*r) + c[6]
	v = float64(v*r) + c[5]
	v = float64(v*r) + c[4]
	v = float64(v*r) + c[3]
	v = float64(v*r) + c[2]
	v = float64(v*r) + c[1]
	return float64(v*r) + c[0]
}

// quantile returns the normal quantile of p in (0, 1/2).
func quantile(p float64) float64 {
	q := p - 0.5
	if q >= -0.425 {
		r := 0.180625 - float64(q*q)
		return q * polynomial(&as241a, r) / polynomial(&as241b, r)
	}
	r := math.Sqrt(-logarithm(p))
	if r <= 5 {
		r -= 1.6
		return -(polynomial(&as241c, r) / polynomial(&as241d, r))
	}
	r -= 5
	return -(polynomial(&as241e, r) / polynomial(&as241f, r))
}

// logarithm returns log x for 0 < x < 1/2: with x = m 2^e and √½ ≤ m < √2, log m = 2 atanh((m-1)/(m+1)) by its series.
func logarithm(x float64) float64 {
	m, e := math.Frexp(x) // exact
	if m < 0.7071067811865476 {
		m *= 2
		e--
	}
	s := (m - 1) / (m + 1)
	w := s * s
	v := 1.0 / 25
	for _, c := range &atanhSeries {
		v = float64(v*w) + c
	}
	return float64(float64(e)*0.6931471805599453) + 2*float64(s*v)
}

// atanhSeries has the coefficients of atanh(s)/s before the last, 1/25, by powers of s² downwards.
var atanhSeries = [12]float64{1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7,
	1.0 / 5, 1.0 / 3, 1}

// The coefficients of AS 241, PPND16.
var (
	as241a = [8]float64{3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
		1.3731693765509461125e+4,
		4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3}
	as241b = [8]float64{1, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
		2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3}
	as241c = [8]float64{1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
		3.64784832476320460504e0,
		1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4}
	as241d = [8]float64{1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}
	as241e = [8]float64{6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
		2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7}
	as241f = [8]float64{1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}
)
