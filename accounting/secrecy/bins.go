package secrecy

import (
	"cmp"
	"math"

	"mafalda/accounting"
	"mafalda/accounting/internal/gaussian"
	"mafalda/accounting/internal/parameter"
	"mafalda/internal/fault"
	"mafalda/internal/rounding"
)

// Bins is a mechanism with random bins that is (ε, δ)-DP: a record is in one of Number bins, uniformly.
type Bins struct {
	Number int
	accounting.Target
}

// NewBins returns the mechanism. The errors are a fault.Argument of Number, and accounting.ErrParameter for an ε or a
// δ out of range.
func NewBins(number int, epsilon, delta float64) (Bins, error) {
	if number < 1 {
		return Bins{}, fault.New("Number", number, "must be at least 1")
	}
	err := cmp.Or(parameter.Positive("epsilon", epsilon), parameter.Probability(delta))
	return Bins{number, accounting.Target{Epsilon: epsilon, Delta: delta}}, err
}

// MeanSquare returns R, rounded up, such that for every cut of the bins into cells c of at least smallest bins each
//
//	Σ_c (|c|/b) ā_c² ≤ R
//
// where ā_c = |Σ_{j∈c} m_j|/(|c|ν), if the contributions of different cells are orthogonal. It is +Inf if that is not
// proved for this ε and δ, or no bin can be the smallest.
//
// The attacker looks for the mean change of each cell, and guesses the record if one of the tests succeeds: tests that
// have a bin's chance |c|/b to be the right one. With ε' = ε + log(b/smallest), and a_j ≤ τ_c where Φ(a_j - τ_c) is
// convex,
//
//	δ ≥ Σ_c (|c|/b) (mean of Φ(a_j - τ_c) over j∈c) - e^ε Σ_c Φ(-τ_c) ≥ Σ_c (|c|/b) δ_Gauss(ε'; ā_c),
//
// and δ_Gauss(ε'; √u) is convex in u as far as u can go: then Jensen's inequality bounds the mean of the ā_c².
func (b Bins) MeanSquare(smallest int) float64 {
	if smallest < 1 || smallest > b.Number {
		return math.Inf(1)
	}
	single, whole := b.cell(1), b.cell(smallest)
	// Where ā ≤ alone, the best threshold of a cell, ε'/ā + ā/2, is at least this, as alone ≤ √(2ε').
	threshold := whole.epsilon/whole.alone + whole.alone/2
	if smallest > 1 && !(threshold*(1-1e-12) >= single.alone) || !whole.convex() {
		return math.Inf(1)
	}
	mu := largestMu(whole.epsilon, b.Delta)
	return rounding.MulUp(mu, mu)
}

// cell is a test for a cell of bins.
type cell struct {
	epsilon float64 // ε + log(b/|c|), rounded up
	alone   float64 // the largest ā of a single cell, if the convexity that Jensen's inequality takes is given
}

// cell returns the test for so many bins. An attacker who looks for the change of a single bin j sees it with
// P(S) ≥ Φ(|m_j|/ν - τ)/b where Q(S) = Φ(-τ), so that δ ≥ δ_Gauss(ε + log b; |m_j|/ν)/b for the best τ.
func (b Bins) cell(size int) cell {
	chance := float64(size) / float64(b.Number)
	c := cell{epsilon: b.Epsilon, alone: math.Inf(1)}
	if size < b.Number {
		c.epsilon = (b.Epsilon - math.Log(chance)) * (1 + 0x1p-50)
	}
	if share := b.Delta / chance * (1 + 0x1p-50); share < 1 {
		c.alone = largestMu(c.epsilon, share)
	}
	return c
}

// convex reports whether δ_Gauss(ε'; √u) is convex in u up to alone²: its second derivative has the sign of
// 4ε'² - u² - 4u. Then alone² < 2ε', too.
func (c cell) convex() bool {
	u := c.alone * c.alone
	return (u*u+4*u)*(1+1e-12) <= 4*c.epsilon*c.epsilon
}

// largestMu returns a μ, above which μ-GDP is not (ε, δ)-DP: rounded up.
func largestMu(epsilon, delta float64) float64 {
	target := rounding.Log(delta)
	exceeds := func(mu float64) bool {
		x, y := epsilon/mu-mu/2, epsilon/mu+mu/2
		l := gaussian.LogDelta(mu, epsilon)
		return l-(gaussian.AbsoluteError+gaussian.RelativeError*math.Abs(l)+0x1p-51*y*(1+math.Abs(x))) > target
	}
	low, high := 0.0, 1.0
	for !exceeds(high) {
		if low, high = high, 2*high; high > 1e150 {
			return math.Inf(1)
		}
	}
	_, high = rounding.Bisect(low, high, func(mu float64) bool { return !exceeds(mu) })
	return high
}
