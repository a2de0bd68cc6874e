package pld

import "math"

// A record that is replaced moves a round between two mixtures,
//
//	P = (1-q)N(0, s²I) + qN(u, s²I)     and     Q = (1-q)N(0, s²I) + qN(v, s²I),     |u|, |v| ≤ 1,
//
// and the pair of opposite contributions on a line, m(x) against m(-x), dominates all of these. For α ≥ 1
//
//	H_α(P, Q) = ∫ (P - αQ)₊ = E (q e^A - αq e^B - (α-1)(1-q))₊,
//
// A and B being jointly normal under N(0, s²I), with variances |u|²/s² and |v|²/s², means that give e^A and e^B a mean of
// 1, and some correlation. This is the value of an option on a spread. It grows
//   - with either variance: add independent noise to A, so that its e^A is the conditional expectation of a wider one given
//     A and B; the integrand is convex in e^A (Jensen). The same for B.
//   - as the correlation falls: the integrand is a convex function of a difference of functions that increase in A and
//     in B, hence submodular, and the mean of a submodular function falls in the correlation of normal numbers whose
//     marginals stay (Slepian; Müller & Scarsini 2000).
//
// So it is largest for |u| = |v| = 1, v = -u, where what is orthogonal to u says nothing. For α < 1 H_α(P, Q) is
// 1-α+α H_{1/α}(Q, P), the same with the roles exchanged. Dominating pairs compose, also adaptively (Zhu, Dong & Wang
// 2022). The pair is symmetric: one direction is as the other.
//
// With bands each round of a group has columns of its own, of norm at most one. Under random bins and random allocation opposite
// contributions are the worst, too, by the same argument step by step; but the loss of their pair is no sum of independent parts.
//
// Its loss L(x) - L(-x) increases with x, and has the inverse x = s²(l/2 + asinh(2κ sinh(l/2))), κ =
// (1-q)e^{1/2s²}/2q: a quadratic equation in e^{x/s²}.

// one is the pair of a removed record.
func (p lossPair) one() lossPair { return lossPair{q: p.q, s: p.s} }

// logBend returns log κ; -Inf for q = 1.
func (p lossPair) logBend() float64 { return math.Log((1-p.q)/(2*p.q)) + 1/(2*p.s*p.s) }

// replacedOutcome is the inverse of the loss.
func (p lossPair) replacedOutcome(l float64) float64 {
	if l < 0 {
		return -p.replacedOutcome(-l)
	}
	log := p.logBend() + logTwiceSinh(l/2) // of 2κ sinh(l/2)
	bent := log + math.Ln2                 // asinh of a large number
	if log < 20 {
		bent = math.Asinh(math.Exp(log))
	}
	return p.s * p.s * (l/2 + bent)
}

// replacedStretch returns dx/dl / s² = 1/2 + κ cosh(l/2)/√(1+4κ² sinh²(l/2)).
func (p lossPair) replacedStretch(l float64) float64 {
	l = math.Abs(l)
	if p.q == 1 {
		return 0.5
	}
	log := p.logBend() + logTwiceSinh(l/2)
	if log > 20 {
		return 0.5 + 0.5/math.Tanh(l/2)
	}
	v := math.Exp(log)
	return 0.5 + math.Exp(p.logBend()+l/2+math.Log1p(math.Exp(-l))-math.Ln2)/math.Sqrt(1+v*v)
}

// logTwiceSinh returns log(2 sinh(x)), x ≥ 0.
func logTwiceSinh(x float64) float64 { return x + math.Log(-math.Expm1(-2*x)) }
