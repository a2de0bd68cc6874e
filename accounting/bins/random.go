package bins

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// stream names independent random numbers.
type stream struct {
	seed    uint64
	purpose uint64
	round   uint64
}

// What random numbers are for.
const (
	forAdaptation uint64 = iota + 1
	forRemoval
	forAddition
	forProposedRemoval
	forProposedAddition
)

// chunk returns the generator of the i-th chunk of samples: ChaCha8 with all of that as key.
func (s stream) chunk(i int) *normals {
	var key [32]byte
	for at, v := range []uint64{s.seed, s.purpose, s.round, uint64(i)} {
		binary.LittleEndian.PutUint64(key[8*at:], v)
	}
	return &normals{source: rand.NewChaCha8(key)}
}

// normals draws uniform and normal numbers to full precision: normal ones by the formula of Box and Muller, from
// uniform ones of 52 bits. (The tables of rand.NormFloat64 have 24.) None is beyond 8.6, where 2⁻⁵² is left.
type normals struct {
	source *rand.ChaCha8
}

// uniform returns a number above 0 and below 1.
func (r *normals) uniform() float64 { return (float64(r.source.Uint64()>>12) + 0.5) * 0x1p-52 }

// fill writes independent standard normal numbers to dst.
func (r *normals) fill(dst []float64) {
	for i := 0; i < len(dst); i += 2 {
		radius := math.Sqrt(-2 * math.Log(r.uniform()))
		sin, cos := math.Sincos(2 * math.Pi * r.uniform())
		dst[i] = radius * cos
		if i+1 < len(dst) {
			dst[i+1] = radius * sin
		}
	}
}
