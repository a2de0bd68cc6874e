package secrecy

import (
	"cmp"
	"math"

	"mafalda/accounting"
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
	err := cmp.Or(fault.CheckRange("Number", number, "[1,)"), parameter.Positive("epsilon", epsilon), parameter.Probability(delta))
	return Bins{number, accounting.Target{Epsilon: epsilon, Delta: delta}}, err
}

// MeanSquare returns R, rounded up, such that for every cut of the bins into cells c of at least smallest bins each
//
//	Σ_c (|c|/b) ā_c² ≤ R
//
// where ā_c = |Σ_{j∈c} m_j|/(|c|ν), if the contributions of different cells are orthogonal. It is +Inf if that is not
// proved for this ε and δ, or no bin can be the smallest.
//
// Let v_c be the unit direction of Σ_{j∈c} m_j and a_j = ⟨m_j, v_c⟩/ν, whose mean over the cell is ā_c; p_c = |c|/b. The
// attacker guesses that the record is there if ⟨x, v_c⟩ > τ_cν for any c. As Q of a union is at most the sum, and a bin's own
// test is part of the union (other bins only add to P(S)),
//
//	δ ≥ P(S) - e^ε Q(S) ≥ Σ_c p_c [ mean of Φ(a_j - τ_c) over j∈c - (e^ε/p_c) Φ(-τ_c) ].
//
// Let ε' = ε + log(b/smallest) and τ_c = ε'/ā_c + ā_c/2. If a_j ≤ τ_c for all j∈c, Φ(· - τ_c) is convex there, Jensen's
// inequality gives a mean of at least Φ(ā_c - τ_c), and
//
//	δ ≥ Σ_c p_c δ_Gauss(ε'; ā_c).
//
// That a_j ≤ τ_c is checked: a_j ≤ r by the bin's own test (cell), and ā_c ≤ M, δ_Gauss(ε'; M) = δ/min p_c, by this inequality
// for the cell alone, its contributions scaled down to just above M. τ_c falls with ā_c up to √(2ε'), so that r ≤ ε'/M + M/2
// and M ≤ √(2ε') are enough.
//
// u ↦ δ_Gauss(ε'; √u) has the derivative φ(ε'/√u - √u/2)/(2√u), which grows where 4ε'² - u² - 4u is positive: up to M² is
// checked. Then Jensen's inequality once more gives δ ≥ δ_Gauss(ε'; √(Σ_c p_c ā_c²)), and R = μ(ε', δ)².
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
	mu := accounting.LargestMu(whole.epsilon, b.Delta)
	return rounding.MulUp(mu, mu)
}

// cell is a test for a cell of bins.
type cell struct {
	epsilon float64 // ε + log(b/|c|), rounded up
	alone   float64 // the largest ā of a single cell, if the convexity that Jensen's inequality takes is given
}

// cell returns the test for one number of bins. An attacker who looks for the change of a single bin j sees it with
// P(S) ≥ Φ(|m_j|/ν - τ)/b where Q(S) = Φ(-τ), so that δ ≥ δ_Gauss(ε + log b; |m_j|/ν)/b for the best τ.
func (b Bins) cell(size int) cell {
	chance := float64(size) / float64(b.Number)
	c := cell{epsilon: b.Epsilon, alone: math.Inf(1)}
	if size < b.Number {
		c.epsilon = (b.Epsilon - math.Log(chance)) * (1 + 0x1p-50)
	}
	if share := b.Delta / chance * (1 + 0x1p-50); share < 1 {
		c.alone = accounting.LargestMu(c.epsilon, share)
	}
	return c
}

// convex reports whether δ_Gauss(ε'; √u) is convex in u up to alone²: its second derivative has the sign of
// 4ε'² - u² - 4u. Then alone² < 2ε', too.
func (c cell) convex() bool {
	u := c.alone * c.alone
	return (u*u+4*u)*(1+1e-12) <= 4*c.epsilon*c.epsilon
}
