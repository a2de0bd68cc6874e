// Package sampled attacks mechanisms whose batches are drawn in secret: Audit runs what nodes do, with and without a
// record, and holds the best test there is against an (ε, δ), or a whole curve, that is claimed. ClaimOf returns what
// the accountant says of such a mechanism.
//
// Messages come from the strategy's own filter and from draws of the samplers of package participation; the test is the
// exact likelihood ratio. A wrong test can only make the attack weaker, so that a claim that fails is wrong with the
// confidence that was asked for. docs/sampling-audit.md says what an audit can and cannot find.
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
