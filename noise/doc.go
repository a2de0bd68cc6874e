// Package noise is what a node runs: it reads an export and hands out the noise of one step after the other.
//
// # What is drawn
//
// A node adds row t of C⁻¹Z to the sum of its clipped gradients in step t, where Z has T rows of independent normal
// numbers, one for each parameter of its model, with the standard deviation clip/μ, or 2·clip/μ where a record is
// replaced by another. Structured strategies make that row from a few kept rows, in this order of operations, the newest
// kept row first, and multiply by the standard deviation at the end:
//
//	class             row t                                                          kept
//	dense             C⁻¹[t,t] z_t, then + C⁻¹[t,s] z_s for s = 0, 1, …, t-1         all z, or none if they are made again
//	banded, toeplitz  ξ_t = (z_t + Σ_{j=1}^{w-1} (-C[t,t-j]) ξ_{t-j})·(1/C[t,t])     w-1 rows ξ
//	banded-inverse    r_0 z_t + Σ_{j=1}^{w-1} r_j z_{t-j}                            w-1 rows z
//	blt               u = z_t/scale; for each section y = u + s₁,                    two buffers a section
//	                  s₁ ← (p y - a u) + s₂, s₂ ← b u - q y, u ← y
//	comb              u as blt; y = u + s_l, then s_{j+1} ← s_j,                     the blt's, and l rows s
//	                  s_1 ← a s_l + (p - a) y
//
// With column_scales e the row of a comb is v·y, v from 0 by v ← v·(t/T) + e_i, the last coefficient first; the s are of
// y. The letters are those of strategy.Parameters.
//
// # Randomness
//
// Every number of Z is a function of a secret key, its step and its coordinate:
//
//	key       32 random bytes from the operating system,
//	          or for a seed: SHA-256("mafalda noise 1" ‖ seed, 8 bytes little-endian ‖ node label)
//	seed      SHA-256(key ‖ t ‖ c), t and c 8 bytes each, little-endian, for step t and coordinates 4096c, …, 4096c + 4095
//	bits      the outputs of ChaCha8 with that seed (C2SP chacha8rand, as in Go's math/rand/v2), 64 bits a coordinate
//	p         (k + ½)/2⁵³ with k = bits 0…51; exact, in (0, ½)
//	Z[t,i]    -Φ⁻¹(p), negated if bit 63 is set
//
// Φ⁻¹ is Wichura's AS 241, log by its series; +, -, ×, ÷ and √ one at a time, none fused: the same bits on every machine
// and number of workers (package internal/rows). A seed in the place of a key makes noise reproducible, for tests and
// simulations, and protects nothing.
//
// # Noise that is shared
//
// Where nodes share secrets in pairs, row t of Z is a sum: the node's own row, and a row of each neighbour that both
// make of the pair's key, with opposite signs. Both depend on step and coordinate alone, so a node that lags draws what
// its neighbours have drawn. A state gets the keys of its pairs when it is made (State.Join, package keys) and keeps
// them; there is no row without the shared part.
//
// # Which row for which batch
//
// The guarantee is for records that take part as the export's schema says. For (k,b)-participation a node cuts its
// records into b·⌈T/kb⌉ batches once, never shuffles them again, and uses batch (t mod b) + b·⌊t/kb⌋ and row t in step t:
// batch t mod b if T ≤ k·b; in a longer run every batch is in k steps and then in no other. A step that is missed takes
// its batch with it: no other step uses it instead. Its row is carried, or lost (see Once only). An export for batches drawn in secret is private
// with these alone, and far less with batches in turn: Stream.Condition says how they are drawn.
//
// # Once only
//
// If the noise of one step goes out with two different gradients, their difference is bare. A Stream hands out every
// row once; OpenDurable keeps its place on disk, written before the row is handed out, so that this survives a crash.
// The state is written in place and locked itself, whatever it is called, and looked at before every row. What a
// process cannot see is that a copy of the state was put back, or runs elsewhere: State.Counter finds that out, from a
// second file that is not copied with it.
//
// A trainer that may crash asks an Issuer: it hands out the row of a step that is named, and the same one again until
// the next is asked for. What was certainly never sent is carried: Skip, and Issuer.Unsent, add the row of a step to that
// of the next one. Package serve is an Issuer behind a socket.
//
// # What is spent
//
// An Odometer says what is given away from row to row, of the leading block of C, and a Stream what its rows have given away
// (Spent). Options.Limit is a budget of the node's own, smaller than the plan's: the row that would pass it is not drawn.
//
// # Where rows go
//
// A Drawing writes rows to a file, which appears when all of them are safe, or one by one to a stream of bytes; to a Pipe
// when its reader has taken the one before.
//
// # What floating point does not give
//
// The guarantee is for real numbers. Noise and sums in floating point have gaps that depend on what was added, from
// which an attacker can in principle learn more than μ says (Mironov, CCS 2012). Options.Grid rounds noise to multiples
// of a power of two, which is post-processing if every record's clipped gradient was rounded to the same grid, towards
// zero so that its norm does not grow, and sums stay below 2⁵³ times the grid, so that they are exact. Then the
// guarantee is the continuous noise's. It is no discrete Gaussian mechanism. Without such gradients a grid does
// harm: the digits of the sum below the grid go out without noise. Rounding a row to single precision, for a sum in
// single precision, is another such rounding of noise alone, and has the gaps that floating point has.
package noise
