// Package bins accounts for batches that are drawn once, in secret: every record is put into one of b bins,
// independently and uniformly, and the bins are visited in turn. New makes the Mechanism of a strategy without
// negative entries; its Delta, Epsilon and NoiseMultiplier say what it gives away.
//
// The numbers have two sources. WithoutSamples bounds δ by the distribution of a privacy loss on a grid, without chance. But for the
// grid this bound is exact where all patterns have the same norm and all pairs of them the same inner product, as orthogonal
// patterns have. Importance sampling gives an estimate of δ, and an upper bound that fails with the probability
// MonteCarlo.Failure, over seeds that were chosen before any result was seen. Epsilon and NoiseMultiplier take the answer of
// WithoutSamples wherever samples would ask for at most a percent less.
//
// Samples are drawn where the loss is large: each of them is then proven to be at most some multiple of δ, so that a bound for
// means of bounded variables applies. Rounding errors are added to the bounds. Mechanism says which paper proves domination, Delta
// what a bound costs.
//
// # Notation
//
//	b      bins
//	C, ν   strategy, and noise multiplier
//	m_j    sum of the columns of C that bin j takes part in
//	P, Q   (1/b) Σ_j N(m_j, ν²I), and N(0, ν²I): a removed record is P against Q, an added one Q against P
//
// Everything depends on the b×b Gram matrix of the m_j alone. The package does not know who draws the bins, nor how a
// strategy is found.
package bins
