package rows

import (
	"encoding/binary"
	"math/rand/v2"
)

// SeedSize is the length of a seed in bytes.
const SeedSize = 32

// Kernels draw a block of numbers at a time, which stays in the first cache.
const (
	refill  = 124 // numbers that ChaCha8rand makes of 16 ChaCha blocks
	reseed  = 4   // numbers that come with them, and are the seed of the next 16
	refills = 16
	block   = refill * refills
	lanes   = 32 // what any kernel does at a time; a block is a multiple of it
)

// Sampler draws standard normal numbers. It is nothing but room to work in: what it draws depends on the seed alone. The
// zero value is ready, for one goroutine at a time. It keeps random bits of what was drawn last.
type Sampler struct {
	bits   [block + reseed]uint64 // outputs of the generator, and the seed of the next ones
	tails  [block + lanes]uint64  // those outputs whose numbers are not central; in bits 52 to 62 where these belong
	values [block + lanes]float64 // their numbers
	row    [block]float64         // room for the last numbers

	source rand.ChaCha8 // of the portable form
	form   []byte
}

// NormalsTo writes to dst the numbers of a seed of SeedSize bytes: normal of the outputs of ChaCha8 (C2SP chacha8rand, as
// in math/rand/v2), one after the other.
func (s *Sampler) NormalsTo(dst []float64, seed []byte) { s.normalsTo(best, dst, seed) }

func (s *Sampler) normalsTo(k *kernels, dst []float64, seed []byte) {
	if len(seed) != SeedSize {
		panic("rows: a seed of another length")
	}
	if k.fill == nil {
		s.portable(dst, seed)
		return
	}
	for i := range reseed {
		s.bits[block+i] = binary.LittleEndian.Uint64(seed[8*i:])
	}
	for len(dst) >= block {
		s.block(k, dst[:block])
		dst = dst[block:]
	}
	if whole := len(dst) / lanes * lanes; whole == len(dst) {
		s.block(k, dst)
	} else {
		s.block(k, s.row[:whole+lanes])
		copy(dst, s.row[:])
	}
}

// block draws a block or less, a multiple of lanes. Most numbers are central, and made where they belong; the others are
// gathered first and brought there after.
func (s *Sampler) block(k *kernels, dst []float64) {
	if len(dst) == 0 {
		return
	}
	k.fill(s, (len(dst)+refill-1)/refill)
	n := k.central(s, &dst[0], len(dst))
	for i := n; i%lanes != 0; i++ {
		s.tails[i] = nearTail
	}
	if far := k.tail(s, n); far {
		for i, bits := range s.tails[:n] {
			s.values[i] = normal(bits)
		}
	}
	for i, bits := range s.tails[:n] {
		dst[bits>>52&(1<<11-1)] = s.values[i]
	}
}

// nearTail are bits of a number that is not central, and not far from it.
const nearTail = 1 << 48

// portable draws as the definition says.
func (s *Sampler) portable(dst []float64, seed []byte) {
	s.form = append(append(s.form[:0], "chacha8:\x00\x00\x00\x00\x00\x00\x00\x00"...), seed...)
	if err := s.source.UnmarshalBinary(s.form); err != nil {
		panic(err) // a Go with another binary form, which the tests would have found
	}
	for i := range dst {
		dst[i] = normal(s.source.Uint64())
	}
}
