// Package gaussian computes what accounting needs of the normal distribution: Mills' ratio, and the δ of Gaussian
// noise, in logarithms.
package gaussian

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"mafalda/internal/rounding"
)

// What the safe side pays for the error of log δ(μ, ε): an absolute and a relative part, beside what the rounding of
// x = ε/μ - μ/2 can do.
const (
	AbsoluteError = 1e-12
	RelativeError = 1e-14
)

// LogDelta returns log δ(μ, ε) of μ-GDP, to AbsoluteError and RelativeError: it is not rounded to either side. With x
// = ε/μ - μ/2, y = x + μ and Mills' ratio m,
//
//	δ = Φ(-x) - e^ε Φ(-y) = φ(x)(m(x) - m(y)),   1 - δ = φ(x)(m(-x) + m(y)),
//
// since e^ε φ(y) = φ(x).
func LogDelta(mu, epsilon float64) float64 {
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
