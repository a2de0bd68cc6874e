package threat

import (
	"mafalda/internal/rounding"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// evidence is the attacker's statistic in runs with the record and in ones without.
type evidence struct{ with, without []float64 }

// sampledShares are about the points of the claimed curve that are attacked, in parts of the claimed ε, which is one, too.
var sampledShares = [...]float64{0, 0.125, 0.25, 0.5, 0.75}

// points returns what is claimed for several ε, the claimed one last.
func (c SampledClaim) points() ([]SampledPoint, error) {
	var points []SampledPoint
	if c.Curve != nil {
		for _, share := range sampledShares {
			epsilon := rounding.Up(share*c.Epsilon, 4)
			delta, err := c.Curve(epsilon)
			if err != nil {
				return nil, err
			}
			points = append(points, SampledPoint{Epsilon: epsilon, Delta: delta})
		}
	}
	return append(points, SampledPoint{Epsilon: c.Epsilon, Delta: c.Delta}), nil
}

// judge holds the evidence against the points, each in both directions. All limits hold together with this confidence:
// each of two a test fails with an equal share of what is left.
func judge(claim SampledClaim, points []SampledPoint, e evidence, confidence float64) SampledResult {
	out := SampledResult{Epsilon: claim.Epsilon, Delta: claim.Delta, Runs: len(e.with), Passed: true}
	share := (1 - confidence) / float64(4*len(points))
	for _, direction := range []string{"remove", "add"} {
		p, q := e.with, e.without
		if direction == "add" {
			p, q = negated(e.without), negated(e.with)
		}
		half := len(p) / 2
		first, second := contest{slices.Clone(p[:half]), slices.Clone(q[:half])}, contest{p[half:], q[half:]}
		first.sort()
		for i, point := range points {
			point.Direction = direction
			measure := point.delta // large δ have more power
			if i == len(points)-1 {
				measure = point.epsilon
			}
			pLow, qHigh := second.limits(first.threshold(share, measure), share)
			point.DeltaLow, point.EpsilonLow = max(0, point.delta(pLow, qHigh)), max(0, point.epsilon(pLow, qHigh))
			point.Passed = point.DeltaLow <= point.Delta
			out.Passed = out.Passed && point.Passed
			out.Points = append(out.Points, point)
			if i == len(points)-1 {
				out.EpsilonLow = max(out.EpsilonLow, point.EpsilonLow)
			}
		}
	}
	return out
}

// delta returns the least δ at the point's ε with an event of these probabilities.
func (p SampledPoint) delta(under, other float64) float64 { return under - math.Exp(p.Epsilon)*other }

// epsilon returns the least ε at the point's δ, likewise; -Inf if any will do.
func (p SampledPoint) epsilon(under, other float64) float64 {
	return math.Log(max(0, under-p.Delta) / other)
}

func negated(all []float64) []float64 {
	out := make([]float64, len(all))
	for i, x := range all {
		out[i] = -x
	}
	return out
}

// contest has a statistic that is to be large under P and small under Q.
type contest struct{ p, q []float64 }

func (c contest) sort() {
	slices.Sort(c.p)
	slices.Sort(c.q)
}

// threshold returns the one whose event {statistic at least threshold} is likely to have the best of the limits by a
// measure, of a sorted contest: it estimates them by normal intervals (Wilson's), which only have to be about right.
func (c contest) threshold(share float64, measure func(pLow, qHigh float64) float64) float64 {
	z := distuv.UnitNormal.Quantile(1 - share)
	best, most := math.Inf(1), math.Inf(-1)
	j := 0 // of q are below p[i]
	for i, x := range c.p {
		for j < len(c.q) && c.q[j] < x {
			j++
		}
		if i > 0 && x == c.p[i-1] {
			continue
		}
		pLow, _ := wilson(len(c.p)-i, len(c.p), z)
		_, qHigh := wilson(len(c.q)-j, len(c.q), z)
		if value := measure(pLow, qHigh); value > most {
			best, most = x, value
		}
	}
	return best
}

// limits returns a lower limit of the event's probability under P and an upper one under Q, each of which fails with
// probability share.
func (c contest) limits(threshold, share float64) (pLow, qHigh float64) {
	count := func(all []float64) (n int) {
		for _, x := range all {
			if x >= threshold {
				n++
			}
		}
		return n
	}
	return binomialLow(count(c.p), len(c.p), share), binomialHigh(count(c.q), len(c.q), share)
}

// wilson returns the limits of a binomial probability by the normal approximation that holds at both ends, too.
func wilson(k, n int, z float64) (low, high float64) {
	N := float64(n)
	p := float64(k) / N
	middle := p + z*z/(2*N)
	margin := z * math.Sqrt(p*(1-p)/N+z*z/(4*N*N))
	return (middle - margin) / (1 + z*z/N), (middle + margin) / (1 + z*z/N)
}

// binomialLow returns the lower limit of Clopper and Pearson for the probability of what happened k times of n: it is
// above the true one with at most probability share.
func binomialLow(k, n int, share float64) float64 {
	if k == 0 {
		return 0
	}
	low, _ := bisect(func(p float64) bool { return mathext.RegIncBeta(float64(k), float64(n-k+1), p) <= share })
	return low
}

// binomialHigh returns the upper limit, likewise.
func binomialHigh(k, n int, share float64) float64 { return 1 - binomialLow(n-k, n, share) }

// bisect returns neighbours between which a condition that holds up to some p in [0,1] ends.
func bisect(holds func(p float64) bool) (in, out float64) {
	in, out = 0, 1
	for range 60 {
		if middle := in + (out-in)/2; holds(middle) {
			in = middle
		} else {
			out = middle
		}
	}
	return in, out
}
