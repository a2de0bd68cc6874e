// Package bins accounts for batches that are drawn once, in secret: every record is put into one of b bins,
// independently and uniformly, and the bins are visited in turn. New makes the Mechanism of a strategy without
// negative entries; its Delta, Epsilon and NoiseMultiplier say what it gives away.
//
// WithoutSamples is a bound by the distribution of a privacy loss, exact but for its grid where all patterns have the same
// norm and the same inner products, as orthogonal ones have; calibrations take its noise wherever samples would ask for at
// most a percent less. Else the numbers are by importance sampling: an estimate, and an upper bound with the probability that it fails
// (MonteCarlo.Failure), over seeds that were chosen before any result was seen. Samples are drawn where the loss is
// large, so that each is proven to be at most some multiple of δ, and a bound for means of bounded variables applies.
// Rounding is added. What the bounds cost, and which source proves domination, is said at Mechanism and at Delta.
//
// # Notation
//
//	b      bins
//	C, ν   strategy, and noise multiplier
//	m_j    sum of the columns of C that bin j takes part in
//	P, Q   (1/b) Σ_j N(m_j, ν²I), and N(0, ν²I): a removed record is P against Q, an added one Q against P
//
// Everything depends on the b×b Gram matrix of the m_j alone. It does not know who draws the bins, nor how a strategy
// is found.
package bins
