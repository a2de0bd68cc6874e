package rows

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// TestKernelsDrawTheSame: every kernel draws what the definition says, bit by bit, whatever the length, with memory
// fetched ahead or not.
func TestKernelsDrawTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range eachKernel {
		var s Sampler
		for _, n := range []int{0, 1, 2, 31, 32, 33, 123, 124, 125, Block - 1, Block, Block + 1, 4096, 2*Block + 5} {
			var seed [SeedSize]byte
			for i := range seed {
				seed[i] = byte(rng.Uint32())
			}
			got, source := make([]float64, n+1), rand.NewChaCha8(seed)
			got[n] = 7
			s.Start(seed[:])
			s.Soon(make([]float64, 3*n))
			s.RestTo(got[:n])
			for i, v := range got[:n] {
				if want := normal(source.Uint64()); math.Float64bits(want) != math.Float64bits(v) {
					t.Fatalf("%s: number %d of %d is %v, want %v", k.name, i, n, v, want)
				}
			}
			if got[n] != 7 {
				t.Fatalf("%s: writes beyond %d numbers", k.name, n)
			}
		}
	}
}

// checkNumbers compares the kernels with the definition on any bits, Block of them at most.
func checkNumbers(t *testing.T, bits []uint64) {
	t.Helper()
	for k := range eachKernel {
		if k.fill == nil {
			continue
		}
		var s Sampler
		copy(s.bits[:], bits)
		s.numbers((len(bits) + lanes - 1) / lanes * lanes)
		for i, b := range bits {
			if got, want := s.row[i], normal(b); math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("%s: bits %#x, number %d, give %v, want %v", k.name, b, i, got, want)
			}
		}
	}
}

// places of normal where something changes: the ends, the edge of the central numbers, powers of two and of √½ for the
// logarithm, and where the far ones begin, exp(-25).
func places() []uint64 {
	var all []uint64
	around := func(p float64) {
		k := int64(p*0x1p53 - 0.5)
		for d := int64(-3); d <= 3; d++ {
			if k+d >= 0 && k+d < 1<<52 {
				all = append(all, uint64(k+d), uint64(k+d)|1<<63, uint64(k+d)|(1<<11-1)<<52)
			}
		}
	}
	around(0)
	around(0.5)
	around(0.075)
	around(math.Exp(-25))
	for e := -1; e >= -53; e-- {
		around(math.Ldexp(1, e))
		around(math.Ldexp(math.Sqrt2, e))
	}
	return all
}

// TestKernelsAtTheEdges: the kernels do what the definition does where it changes, far tails included, which no test
// would draw.
func TestKernelsAtTheEdges(t *testing.T) {
	all := places()
	for len(all) > 0 {
		n := min(len(all), Block)
		checkNumbers(t, all[:n])
		all = all[n:]
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 { // as many tails as there can be, near and far
		bits := make([]uint64, Block)
		for i := range bits {
			bits[i] = rng.Uint64()&^(1<<52-1) | rng.Uint64()>>(12+rng.IntN(52))
		}
		checkNumbers(t, bits)
	}
}

func FuzzNumbers(f *testing.F) {
	var seed []byte
	for _, b := range places() {
		seed = binary.LittleEndian.AppendUint64(seed, b)
	}
	f.Add(seed[:8*8])
	f.Fuzz(func(t *testing.T, text []byte) {
		var bits []uint64
		for ; len(text) >= 8 && len(bits) < Block; text = text[8:] {
			bits = append(bits, binary.LittleEndian.Uint64(text))
		}
		checkNumbers(t, bits)
	})
}

func TestSeedOfAnotherLength(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a short seed is taken")
		}
	}()
	new(Sampler).Start(make([]byte, SeedSize-1))
}

func BenchmarkNormals(b *testing.B) {
	for k := range eachKernel {
		b.Run(k.name, func(b *testing.B) {
			var s Sampler
			dst, seed := make([]float64, 4096), make([]byte, SeedSize)
			b.SetBytes(8 * 4096)
			for b.Loop() {
				s.Start(seed)
				s.RestTo(dst)
			}
		})
	}
}
