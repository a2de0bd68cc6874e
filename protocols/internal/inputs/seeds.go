package inputs

import "math/rand/v2"

// Purpose is what random numbers of a simulated protocol are for: one seed makes a stream for every purpose.
type Purpose uint64

// The purposes. Sweeps over several settings use Sweep, Sweep+1, ….
const (
	Values Purpose = iota + 1
	Choice
	Noise
	Sweep
)

// Random returns the stream of a purpose.
func (p Purpose) Random(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x6176657261676500+uint64(p)))
}
