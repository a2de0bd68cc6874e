package accounting

import (
	"cmp"
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"mafalda/internal/rounding"
)

// What the safe side pays for the error of log δ(μ, ε): an absolute and a relative part, beside what the rounding of
// x = ε/μ - μ/2 can do.
const (
	absoluteError = 1e-12
	relativeError = 1e-14
)

// Delta returns the smallest δ for which μ-GDP implies (ε, δ)-DP, rounded up: where δ underflows it is the
// smallest positive number (see LogDelta). Parameters: μ > 0, ε ≥ 0, both finite.
func Delta(mu, epsilon float64) (float64, error) {
	l, err := LogDelta(mu, epsilon)
	if err != nil {
		return 0, err
	}
	return probabilityOf(l), nil
}

// LogDelta returns the logarithm of Delta without underflow.
func LogDelta(mu, epsilon float64) (float64, error) {
	if err := cmp.Or(positive("mu", mu), nonNegative("epsilon", epsilon)); err != nil {
		return 0, err
	}
	l := logDelta(mu, epsilon)
	if math.IsInf(l, -1) {
		return -math.MaxFloat64, nil
	}
	x, y := epsilon/mu-mu/2, epsilon/mu+mu/2
	return math.Min(l+absoluteError+relativeError*math.Abs(l)+0x1p-51*y*(1+math.Abs(x)), 0), nil
}

// probabilityOf returns e^l, at most 1, rounded up, so that it is positive.
func probabilityOf(l float64) float64 { return math.Min(math.Nextafter(math.Exp(l), 2), 1) }

// logDelta computes log δ, to absoluteError and relativeError. With x = ε/μ - μ/2, y = x + μ and Mills' ratio m,
//
//	δ = Φ(-x) - e^ε Φ(-y) = φ(x)(m(x) - m(y)),   1 - δ = φ(x)(m(-x) + m(y)),
//
// since e^ε φ(y) = φ(x).
func logDelta(mu, epsilon float64) float64 {
	x, y := epsilon/mu-mu/2, epsilon/mu+mu/2
	logPhi := -x*x/2 - math.Log(2*math.Pi)/2
	if x < -5 { // δ is near 1
		return math.Log1p(-math.Exp(logPhi) * (mills(-x) + mills(y)))
	}
	if mu > 0.1*math.Max(x, 5) {
		return logPhi + math.Log(mills(x)-mills(y))
	}
	// The difference cancels: integrate -m'(t), which is smooth on so short a way. Its mean and μ are kept apart, for
	// their product can underflow where φ(x) is far larger.
	slope := func(s float64) float64 { return millsSlope(x + s*mu) }
	return logPhi + rounding.Log(mu) + rounding.Log(quad.Fixed(slope, 0, 1, 12, quad.Legendre{}, 0))
}
