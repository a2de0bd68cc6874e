package accounting

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// ErrParameter is wrapped by every error about a number that cannot be a privacy parameter.
var ErrParameter = errors.New("not a privacy parameter")

// What the safe side pays for the error of log δ(μ, ε): an absolute and a relative part.
const (
	absoluteError = 1e-12
	relativeError = 1e-14
)

// Delta returns the smallest δ for which μ-GDP implies (ε, δ)-DP, rounded up; it is 0 only where δ underflows, below
// 1e-300 (see LogDelta). Parameters: μ > 0, ε ≥ 0, both finite.
func Delta(mu, epsilon float64) (float64, error) {
	l, err := LogDelta(mu, epsilon)
	if err != nil {
		return 0, err
	}
	return math.Min(math.Exp(l), 1), nil
}

// LogDelta returns the logarithm of Delta without underflow.
func LogDelta(mu, epsilon float64) (float64, error) {
	if err := errors.Join(positive("mu", mu), nonNegative("epsilon", epsilon)); err != nil {
		return 0, err
	}
	l := logDelta(mu, epsilon)
	return math.Min(l+absoluteError+relativeError*math.Abs(l), 0), nil
}

// logDelta computes log δ. With x = ε/μ - μ/2 and Mills' ratio m, δ = φ(x)(m(x) - m(x+μ)), since e^ε φ(x+μ) = φ(x).
func logDelta(mu, epsilon float64) float64 {
	x := epsilon/mu - mu/2
	if x < -5 { // δ is near 1: 1 - δ = Φ(x) + e^ε (1 - Φ(x+μ))
		return math.Log1p(-math.Exp(logTail(-x)) - math.Exp(epsilon+logTail(x+mu)))
	}
	logPhi := -x*x/2 - math.Log(2*math.Pi)/2
	if mu > 0.5 && x < 8 {
		return logPhi + math.Log(mills(x)-mills(x+mu))
	}
	// The difference cancels: integrate -m'(t) = 1 - t·m(t) over t = x + s, in pieces of s.
	var integral float64
	const piece = 0.5
	for from := 0.0; from < mu; from += piece {
		to := math.Min(from+piece, mu)
		integral += quad.Fixed(func(s float64) float64 { return millsSlope(x + s) }, from, to, 12, quad.Legendre{}, 0)
		if rest := mills(x+to) - mills(x+mu); x+from > 8 && rest < 1e-3*integral { // it does not cancel any more
			integral += rest
			break
		}
	}
	return logPhi + math.Log(integral)
}

// Epsilon returns the smallest ε ≥ 0 for which μ-GDP implies (ε, δ)-DP, rounded up. Parameters: μ > 0, 0 < δ < 1.
func Epsilon(mu, delta float64) (float64, error) {
	if err := errors.Join(positive("mu", mu), probability(delta)); err != nil {
		return 0, err
	}
	target := math.Log(delta)
	holds := func(epsilon float64) bool {
		l, err := LogDelta(mu, epsilon)
		return err == nil && l <= target
	}
	if holds(0) {
		return 0, nil
	}
	// Φ̄(x) ≤ exp(-x²/2) bounds ε by μ²/2 + μ√(-2 log δ)
	high := mu*mu/2 + mu*math.Sqrt(-2*target) + 1e-300
	for !holds(high) {
		high *= 1.001
		if math.IsInf(high, 0) {
			return 0, fmt.Errorf("%w: mu = %v and delta = %v leave no finite epsilon", ErrParameter, mu, delta)
		}
	}
	_, high = bisect(0, high, func(e float64) bool { return !holds(e) })
	return high, nil
}

// MuFromDP returns the largest μ for which μ-GDP implies (ε, δ)-DP, rounded down. Parameters: ε ≥ 0, 0 < δ < 1.
func MuFromDP(epsilon, delta float64) (float64, error) {
	if err := errors.Join(nonNegative("epsilon", epsilon), probability(delta)); err != nil {
		return 0, err
	}
	target := math.Log(delta)
	holds := func(mu float64) bool {
		l, err := LogDelta(mu, epsilon)
		return err == nil && l <= target
	}
	low, high := 1.0, 1.0
	for !holds(low) {
		if low /= 2; low < 1e-150 {
			return 0, fmt.Errorf("%w: epsilon = %v and delta = %v leave no mu", ErrParameter, epsilon, delta)
		}
	}
	for holds(high) {
		if high *= 2; high > 1e150 {
			return 0, fmt.Errorf("%w: epsilon = %v and delta = %v bound no mu", ErrParameter, epsilon, delta)
		}
	}
	low, _ = bisect(low, high, holds)
	return low, nil
}

// bisect narrows low < high with left(low) true and left(high) false down to neighbouring numbers.
func bisect(low, high float64, left func(float64) bool) (float64, float64) {
	for {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			return low, high
		}
		if left(middle) {
			low = middle
		} else {
			high = middle
		}
	}
}

// Compose returns √Σμ², the GDP parameter of mechanisms run one after the other, adaptively or not (Dong, Roth & Su 2022,
// Corollary 3.3), rounded up.
func Compose(mus ...float64) (float64, error) {
	var largest float64
	for _, mu := range mus {
		if err := nonNegative("mu", mu); err != nil {
			return 0, err
		}
		largest = math.Max(largest, mu)
	}
	if largest == 0 {
		return 0, nil
	}
	var sum float64
	for _, mu := range mus {
		sum += (mu / largest) * (mu / largest)
	}
	if len(mus) == 1 {
		return largest, nil
	}
	return largest * math.Sqrt(sum) * (1 + float64(len(mus)+4)*0x1p-52), nil
}

func positive(name string, v float64) error {
	if !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("%w: %s = %v must be positive and finite", ErrParameter, name, v)
	}
	return nil
}

func nonNegative(name string, v float64) error {
	if !(v >= 0) || math.IsInf(v, 1) {
		return fmt.Errorf("%w: %s = %v must be zero or more, and finite", ErrParameter, name, v)
	}
	return nil
}

func probability(delta float64) error {
	if !(delta > 0 && delta < 1) {
		return fmt.Errorf("%w: delta = %v must be above 0 and below 1", ErrParameter, delta)
	}
	return nil
}
