// Package gaussian computes what accounting needs of the normal distribution: Mills' ratio, and the δ of Gaussian
// noise, in logarithms.
package gaussian

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"mafalda/internal/rounding"
)

// LogDelta returns bounds of log δ(μ, ε) of μ-GDP. The safe side pays for an absolute and a relative error, and for what
// the rounding of x = ε/μ - μ/2 can do.
func LogDelta(mu, epsilon float64) (low, high float64) {
	x, y := epsilon/mu-mu/2, epsilon/mu+mu/2
	l := logDelta(mu, epsilon)
	const absolute = 1e-12
	relative, rounding := 1e-14*math.Abs(l), 0x1p-51*y*(1+math.Abs(x))
	return l - (absolute + relative + rounding), l + absolute + relative + rounding
}

// logDelta returns log δ(μ, ε) within an absolute error of 1e-12 and a relative one of 1e-14. With x = ε/μ - μ/2,
// y = x + μ and Mills' ratio m,
//
//	δ = Φ(-x) - e^ε Φ(-y) = φ(x)(m(x) - m(y)),   1 - δ = φ(x)(m(-x) + m(y)),
//
// since e^ε φ(y) = φ(x).
func logDelta(mu, epsilon float64) float64 {
	x, y := epsilon/mu-mu/2, epsilon/mu+mu/2
	logPhi := -x*x/2 - math.Log(2*math.Pi)/2
	if x < -5 { // δ is near 1
		return math.Log1p(-math.Exp(logPhi) * (Mills(-x) + Mills(y)))
	}
	if mu > 0.1*math.Max(x, 5) {
		return logPhi + math.Log(Mills(x)-Mills(y))
	}
	// The difference cancels: integrate -m'(t), which is smooth on so short a way. Its mean and μ are kept apart, for
	// their product can underflow where φ(x) is far larger.
	slope := func(s float64) float64 { return MillsSlope(x + s*mu) }
	return logPhi + rounding.Log(mu) + rounding.Log(quad.Fixed(slope, 0, 1, 12, quad.Legendre{}, 0))
}
