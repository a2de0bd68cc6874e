package secrecy

import (
	"cmp"
	"math"

	"mafalda/accounting"
	"mafalda/accounting/internal/gaussian"
	"mafalda/internal/fault"
	"mafalda/internal/rounding"
)

// Poisson is a mechanism with Poisson sampling that is (ε, δ)-DP: a record takes part in each of some steps, the
// rounds, with a probability of its own, and attackers know which steps these are, but not which of them it is in.
type Poisson struct {
	Probability float64
	Rounds      int
	accounting.Target
}

// NewPoisson returns the mechanism. The errors are a fault.Argument of Probability or Rounds, and as of NewBins.
func NewPoisson(probability float64, rounds int, epsilon, delta float64) (Poisson, error) {
	if err := cmp.Or(fault.CheckRange("Probability", probability, "(0,1]"), fault.CheckRange("Rounds", rounds, "[1,)")); err != nil {
		return Poisson{}, err
	}
	b, err := NewBins(1, epsilon, delta)
	return Poisson{probability, rounds, b.Target}, err
}

// leastSecret is the least δ that limits are proved for: with less of it, probabilities underflow.
const leastSecret = 1e-250

// margin is what all roundings of a probability are less than, relatively.
const margin = 1e-8

// SquaredSum returns A², rounded up, such that |Σ_t m_t|² ≤ A²ν², where m_t is what the record changes in round t, for
// all contributions: so sens(C)² ≤ A²ν² for a record that takes part in all of the rounds. It is +Inf if that is not
// proved for this ε and δ.
//
// The attacker looks in the direction v of Σ m_t. With a_t = ⟨m_t, v⟩/ν, Σ a_t = A, and J_t = 1 if the record is in
// round t, P(S) = E Φ(Σ J_t a_t - τ) and Q(S) = Φ(-τ). Of Φ(· - τ) only a convex function f below it counts: the same
// up to some point, and its tangent from there on. Then E f(Σ J_t a_t) is convex and symmetric in the a_t, so that it is
// least where they are all equal, J_1 + J_2 + ... is binomial, and
//
//	δ ≥ E f(A·Binomial(n, q)/n) - e^ε Φ(-τ).
//
// The least A for which some τ breaks this is the limit: a larger sum can be scaled down to one that a test tells. f need be
// below Φ(· - τ) only up to the largest sum there can be, n·r, r what a single round leaves to a_t: δ_Gauss(ε - log q; r) = δ/q.
// Φ less the tangent is not negative where Φ is convex, and concave beyond: the ends are checked. Groups of fewer steps have
// a smaller limit, since Binomial(n, q)/n is smaller in convex order the larger n is.
func (p Poisson) SquaredSum() float64 {
	q, n := p.Probability, float64(p.Rounds)
	if p.Delta < leastSecret {
		return math.Inf(1)
	}
	if q == 1 {
		mu := accounting.LargestMu(p.Epsilon, p.Delta)
		return rounding.MulUp(mu, mu)
	}
	share := p.Delta / q * (1 + 0x1p-50)
	if !(share < 1) {
		return math.Inf(1)
	}
	single := accounting.LargestMu((p.Epsilon-math.Log(q))*(1+0x1p-50), share)
	d := p.draws()
	low := accounting.LargestMu(p.Epsilon, p.Delta) / (4 * q) // where the number of draws is known, 4·low is what privacy leaves
	high := low
	for !p.tells(d, high, n*single) {
		if low, high = high, 1.1*high; high > n*single {
			return math.Inf(1)
		}
	}
	_, high = rounding.Narrow(low, high, 1e-6, func(a float64) bool { return !p.tells(d, a, n*single) })
	return rounding.MulUp(high, high)
}

// draws are numbers of rounds that the record may be in, and their probabilities.
type draws struct{ share, chance []float64 }

// draws leaves out what is less likely than the last bit of δ: what is left out adds to no test.
func (p Poisson) draws() draws {
	var d draws
	q, n := p.Probability, float64(p.Rounds)
	least := rounding.Log(p.Delta) - 40
	for j := 0.0; j <= n; j++ {
		if log, _ := gaussian.LogBinomial(n, j, q); log > least {
			d.share, d.chance = append(d.share, j/n), append(d.chance, math.Exp(log))
		} else if j > n*q {
			break
		}
	}
	return d
}

// tells reports whether a test proves that the rounds are not (ε, δ)-DP where the sum of the shifts is a, and no sum is
// larger than most.
func (p Poisson) tells(d draws, a, most float64) bool {
	mean := p.Probability * a
	best := p.Epsilon/mean + mean/2
	for i := -30; i <= 30; i++ {
		if p.excess(d, a, most, best*(1+float64(i)/50)) > 0 {
			return true
		}
	}
	return false
}

// excess is how much more than δ the test with a threshold proves, rounded down.
func (p Poisson) excess(d draws, a, most, threshold float64) float64 {
	f := minorant(threshold, math.Max(most, a))
	var seen float64
	for i, share := range d.share {
		seen += d.chance[i] * f(a*share)
	}
	wrong := math.Exp(p.Epsilon + rounding.Log(math.Erfc(threshold/math.Sqrt2)/2))
	return seen*(1-margin) - (wrong+p.Delta)*(1+margin)
}

// minorant returns a convex function that is nowhere above Φ(x - τ) for x ≤ most.
func minorant(threshold, most float64) func(x float64) float64 {
	phi := func(x float64) float64 { return math.Erfc((threshold-x)/math.Sqrt2) / 2 }
	slope := func(x float64) float64 { return math.Exp(-(x-threshold)*(x-threshold)/2) / math.Sqrt(2*math.Pi) }
	bend := math.Min(most, threshold)
	// Φ less its tangent is concave where Φ is: if it is not negative at the threshold and at most, it is so between.
	if ends := phi(most) * (1 - margin); phi(bend)+slope(bend)*(most-bend) > ends {
		low := threshold - 40
		for range 60 {
			if middle := (low + bend) / 2; phi(middle)+slope(middle)*(most-middle) > ends {
				bend = middle
			} else {
				low = middle
			}
		}
		bend = low
	}
	level, rise := phi(bend), slope(bend)
	return func(x float64) float64 {
		if x <= bend {
			return phi(x)
		}
		return level + rise*(x-bend)
	}
}
