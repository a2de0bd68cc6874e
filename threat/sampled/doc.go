// Package sampled attacks mechanisms whose batches are drawn in secret: Audit runs what nodes do, with and without a
// record, and holds the best test there is against an (ε, δ), or a whole curve, that is claimed. ClaimOf returns what
// the accountant says of such a mechanism.
//
// Messages come from the strategy's own filter and from draws of the samplers of package participation; the test is the
// exact likelihood ratio. A wrong test can only make the attack weaker, so that a claim that fails is wrong with the
// confidence that was asked for. docs/sampling-audit.md says what an audit can and cannot find.
//
// # Statistics
//
// With m_s column s of C, y = C·messages and ℓ(m) = exp(m·y/ν² - |m|²/2ν²):
//
//	Poisson sampling, as many groups   Π_s (1 - q + q ℓ(m_s)) over the steps s of the record's group, the one that tells most; of
//	as bands or more; truncated        truncated batches the same: what is dropped makes the attack weaker
//	random bins                        (1/b) Σ_j ℓ(m_j), m_j the sum of the columns j, j+b, ...
//	random allocation                  Π over blocks of the mean of ℓ(m_s) over the steps s of the block
//	a permutation cut into batches     that of bins (or, shuffled anew for every block, of allocation) with contributions 2, over
//	                                   that with 1: the other records contribute the opposite, so that the batch of a record
//	                                   lacks one of them with and without it
//	a known seed                       ℓ(m), m the sum of the columns of the steps that were drawn
//	cyclic                             ℓ(m_i) of the batch i that tells most: nothing is secret
//
// Where a record is replaced by its opposite the statistic is the one at y over the one at -y.
//
// # Notation
//
//	T      steps
//	C      strategy; its columns are what a record adds to the sums that the noise protects
//	ν      noise multiplier: standard deviation of Z in clipping norms
//	P, Q   messages with and without the record
//
// It does not know the network: a node's own messages are all that is seen.
package sampled
