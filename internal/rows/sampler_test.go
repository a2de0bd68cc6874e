package rows

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Every kernel draws what the definition says, whatever the length.
func TestKernelsDrawTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, k := range available() {
		var s Sampler
		for _, n := range []int{0, 1, 2, 7, 8, 9, 123, 124, 125, Block - 1, Block, Block + 1, 4096, 2*Block + 5} {
			var seed [SeedSize]byte
			for i := range seed {
				seed[i] = byte(rng.Uint32())
			}
			got, source := make([]float64, n+1), rand.NewChaCha8(seed)
			got[n] = 7
			s.start(k, seed[:])
			s.restTo(k, got[:n])
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

func BenchmarkNormals(b *testing.B) {
	for _, k := range available() {
		b.Run(k.name, func(b *testing.B) {
			var s Sampler
			dst, seed := make([]float64, 4096), make([]byte, SeedSize)
			b.SetBytes(8 * 4096)
			for b.Loop() {
				s.start(k, seed)
				s.restTo(k, dst)
			}
		})
	}
}
