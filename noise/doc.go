// Package noise is what a node runs: it reads an export and hands out the noise of one step after the other.
//
// # What is drawn
//
// A node adds row t of C⁻¹Z to the sum of its clipped gradients in step t, where Z has T rows of independent normal numbers,
// one for each parameter of its model, with the standard deviation clip/μ, or 2·clip/μ where a record is replaced by another.
// Structured strategies make that row from a few kept rows:
//
//	dense           all earlier rows of Z, or none if they are made again
//	banded, w       w-1 rows of noise
//	toeplitz, w     w-1 rows of noise
//	blt, d          d buffers
//	banded-inverse  w-1 rows of Z
//
// # Randomness
//
// Every number of Z is a function of a secret key, its step and its coordinate: ChaCha8 seeded with SHA-256(key, step, block of
// 4096 coordinates), then the normal quantile function in arithmetic that is the same everywhere. The key comes from the
// operating system. A seed in its place makes noise reproducible, for tests and simulations, and protects nothing.
//
// # Once only
//
// If the noise of one step goes out with two different gradients, their difference is bare. A Stream hands out every row once;
// a Durable one keeps its place on disk, written before the row is handed out, so that this survives a crash.
//
// # What floating point does not give
//
// The guarantee is for real numbers. Noise and sums in floating point have gaps that depend on what was added, from which an
// attacker can in principle learn more than μ says (Mironov, CCS 2012). Options.Grid rounds noise to multiples of a step, which
// makes the gaps of the noise itself independent of the data; it is no discrete Gaussian mechanism, and its guarantee is still that
// of the continuous one if gradients are rounded to the same grid before noise is added and the grid is far below the noise.
package noise
