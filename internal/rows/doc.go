// Package rows has the kernels for rows of noise: standard normal numbers of a seed, and what filters do to rows of
// them.
//
// # The same bits everywhere
//
// Every number is what the Go code says: +, -, ×, ÷ and √ of IEEE 754, one at a time, in this order and rounded after
// each. Kernels in assembly do that for many numbers side by side, and nothing else; no product is fused with a sum. So the
// result does not depend on the machine, and noise that was begun on one can go on on another.
//
//	AVX-512   8 numbers a vector
//	AVX2      4
//	portable  1 (Go; what other processors run)
//
// The kernel is chosen when the program starts; GODEBUG=cpu.avx512f=off, or cpu.avx512f=off,cpu.avx2=off, chooses a
// lesser one.
//
// # Drawing
//
// A Sampler makes a block of numbers at a time, in three steps: the outputs of ChaCha8, 16 ChaCha blocks side by side;
// the quantiles of all of them as if they were central, as 85 of 100 are; and then the quantiles of the others, which
// were gathered. Far ones, one in 36 thousand million, are left to the portable form.
//
// Four vectors go through a polynomial together, since each has to wait for its own last product, and are divided one by
// one while the next four go through theirs. Quantiles cost 5 cycles a number, ChaCha8 two.
//
// # Going through memory
//
// Where rows do not fit a cache, what is kept for them has to come and go, and that takes as long as drawing. So it goes on
// at the same time: Soon has a half of what a block needs come while its numbers are drawn, and Cascade has the other half
// of the next block's come meanwhile; all sections of a filter take their turns with numbers that are in registers; rows
// that are done leave past the cache; and Make has many numbers lie in large pages.
//
// A row of a BLT with four buffers reads and writes these and writes the row, 72 bytes for each number. The bare way of as
// much through memory (reading, one product, writing in place) was 2.8 to 3.3 GB/s of rows of 10⁷ numbers on an Intel Xeon
// (Sapphire Rapids), and drawing is 3: one after the other they would give 1.5, overlapped as above 1.6 to 1.9. In the cache
// 2.3 is the most, so that 2.5 on one core takes a cheaper number, which would be another construction. Rows of 2²² numbers or more
// leave past the cache.
//
// Gigabytes of float64 a second of processor time on one core of that machine, in use by others, of a BLT with four buffers;
// float32 are the same numbers in single precision, counted as if they were not:
//
//	numbers in a row     AVX-512     float32  AVX2  portable  numbers alone  all but the numbers  copying
//	2¹⁵ (in the cache)   2.3         2.1      1.6   0.29      3.1            6.4                  29
//	10⁶                  1.9         1.5      1.4   0.25      3.0            3.7                  8.9
//	10⁷                  1.6 to 1.9  1.35     1.3   0.25      2.9            2.3 to 2.9           6.5 to 7.5
//
// go test ./noise -run xxx -bench LargeRow -cpu 1 measures it, go test ./internal/rows -run xxx -bench . the kernels. Two
// processors take half of the time while memory serves both.
//
// # How normal the numbers are
//
// A number is the quantile of one of 2⁵³ equally likely probabilities, mirrored, to within 8·10⁻¹⁶ of itself (5.6·10⁻¹⁶ is the
// worst found against 300 bits of precision, over all branches and their edges). The largest is 8.29, of probability 2⁻⁵⁴ on
// either side: a true normal number is beyond it once in 9·10¹⁵. The smallest is 1.4·10⁻¹⁶, never 0. Neighbours are 2⁻⁵³ over
// the density apart: 2.8·10⁻¹⁶ around zero, 0.13 at the end of the tails.
//
// The package knows nothing of keys, steps and strategies.
package rows
