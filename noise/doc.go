// Package noise is what a node runs: it reads an export and hands out the noise of one step after the other.
//
// # What is drawn
//
// A node adds row t of C⁻¹Z to the sum of its clipped gradients in step t, where Z has T rows of independent normal
// numbers, one for each parameter of its model, with the standard deviation clip/μ, or 2·clip/μ where a record is
// replaced by another. Structured strategies make that row from a few kept rows:
//
//	dense           all earlier rows of Z, or none if they are made again
//	banded, w       w-1 rows of noise
//	toeplitz, w     w-1 rows of noise
//	blt, d          d buffers
//	banded-inverse  w-1 rows of Z
//
// # Randomness
//
// Every number of Z is a function of a secret key, its step and its coordinate: ChaCha8 seeded with SHA-256(key, step,
// block of 4096 coordinates), then the normal quantile function in arithmetic that is the same everywhere. The key
// comes from the operating system. A seed in its place makes noise reproducible, for tests and simulations, and
// protects nothing.
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
// batch t mod b if T ≤ k·b; in a longer run every batch is in k steps and then in no other. A step that is missed, or whose
// row is lost, takes batch and row with it: nothing moves to another step. An export for batches drawn in secret is private
// with these alone, and far less with batches in turn: Stream.Condition says how they are drawn.
//
// # Once only
//
// If the noise of one step goes out with two different gradients, their difference is bare. A Stream hands out every
// row once; a Durable one keeps its place on disk, written before the row is handed out, so that this survives a crash.
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
