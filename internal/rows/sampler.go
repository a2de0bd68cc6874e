package rows

import (
	"encoding/binary"
	"math/rand/v2"
	"unsafe"
)

// SeedSize is the length of a seed in bytes.
const SeedSize = 32

// Block is how many numbers a Sampler makes at a time: few enough to stay in the first cache with all that is done to
// them.
const Block = refill * refills

const (
	refill  = 124 // numbers that ChaCha8rand makes of 16 ChaCha blocks
	reseed  = 4   // numbers that come with them, and are the seed of the next 16
	refills = 8
	apart   = 248 // brings row to half a page after bits, and to a multiple of 64 bytes: see Sampler
	lanes   = 32  // numbers that a kernel works on side by side: a divisor of Block
)

// Sampler draws the standard normal numbers of a seed: the quantiles (see normal) of the outputs of ChaCha8 (C2SP
// chacha8rand, as in math/rand/v2), one after the other. The zero value is ready for Start; it is for one goroutine at
// a time. It keeps random bits of what was drawn last.
type Sampler struct {
	bits [Block + 2*reseed]uint64 // outputs of the generator, the seed of the next ones, and nothing
	_    [apart]uint64            // gap, so that what is read of bits has other last digits than what is written of row
	//lint:ignore U1000 where nothing is: AVX-512 takes a first step as if there had been one before it
	before [lanes]float64
	row    [Block]float64         // numbers of the next outputs of bits
	tails  [Block + lanes]uint64  // outputs whose numbers are not central; bits 52 to 62 hold their places in row
	values [Block + lanes]float64 // numbers of tails

	//lint:ignore U1000 of numbers in s.row, or before it, that AVX-512 has still to divide
	divisors [lanes]float64

	//lint:ignore U1000 what AVX2 has no registers for: a seed, then four words of eight ChaCha blocks
	work [SeedSize + 4*32]byte

	soon                uintptr // address where Soon goes on
	perRefill, perLanes int     // pieces that Soon fetches in a quarter of a refill, and in half of lanes

	source rand.ChaCha8 // generator of the portable form
	form   []byte
}

// Start begins with the first number of a seed, SeedSize bytes.
func (s *Sampler) Start(seed []byte) {
	if len(seed) != SeedSize {
		panic("rows: a seed of another length")
	}
	if best.fill == nil {
		s.form = append(append(s.form[:0], "chacha8:\x00\x00\x00\x00\x00\x00\x00\x00"...), seed...)
		if err := s.source.UnmarshalBinary(s.form); err != nil {
			panic(err) // a Go with another binary form, which the tests would have found
		}
		return
	}
	for i := range reseed {
		s.bits[Block+i] = binary.LittleEndian.Uint64(seed[8*i:])
	}
}

// Next returns the next Block numbers or, as the last of a seed, n ≤ Block. They are good until something is called
// again, and the caller may change them.
func (s *Sampler) Next(n int) []float64 {
	row := s.row[:n]
	if best.fill == nil {
		for i := range row {
			row[i] = normal(s.source.Uint64())
		}
		return row
	}
	if n == 0 {
		return row
	}
	best.fill(s, (n+refill-1)/refill)
	s.numbers(n)
	s.perRefill, s.perLanes = 0, 0
	return row
}

// numbers turns the first n of s.bits, or some more, into normal numbers in s.row. It makes the central ones, which are
// most, in place; the others are gathered first and put into place afterwards.
func (s *Sampler) numbers(n int) {
	tails := best.central(s, (n+lanes-1)/lanes*lanes)
	for i := tails; i%lanes != 0; i++ {
		s.tails[i] = nearTail
	}
	if far := best.tail(s, tails); far {
		for i, bits := range s.tails[:tails] {
			s.values[i] = normal(bits)
		}
	}
	for i, bits := range s.tails[:tails] {
		s.row[bits>>52&(1<<11-1)] = s.values[i]
	}
}

// RestTo writes the next numbers to dst, the last of a seed.
func (s *Sampler) RestTo(dst []float64) {
	for len(dst) > 0 {
		dst = dst[copy(dst, s.Next(min(len(dst), Block))):]
	}
}

// nearTail are bits of a number that is not central, and not far from it.
const nearTail = 1 << 48

// Soon has Next, while it draws a block and needs no memory, bring numbers from there into the cache: they are what is
// needed next. The kernels do that a little at a time: more than ten lines at once, and they would have to wait.
func (s *Sampler) Soon(x []float64) {
	if len(x) == 0 {
		return
	}
	s.soon = uintptr(unsafe.Pointer(&x[0])) // fetching keeps nothing alive, and changes nothing
	const quarters, halves = 4 * refills, 2 * Block / lanes
	pieces := (len(x) + 31) / 32 // of four cache lines
	s.perRefill = (pieces/2 + quarters - 1) / quarters
	s.perLanes = max(0, (pieces-s.perRefill*quarters+halves-1)/halves)
}
