package workload

import (
	"math"
	"math/rand/v2"
	"slices"
)

// vectors makes the starting vectors D^½z of a sketch, a few at a time.
type vectors struct {
	l     *lanczos
	unit  bool // z = √n·e_i instead of random signs
	made  int
	signs *rand.Rand
	drawn int   // number of vectors drawn side by side: the signs depend on it
	hubs  []int // hubs, of which every four vectors have orthogonal signs
	flips *rand.Rand
	flip  uint64 // a bit for every hub
}

// hadamard holds rows of ±1 of length 4, orthogonal to each other: the bit p says that the entry p is -1.
var hadamard = [4]uint64{0b0000, 0b1010, 0b1100, 0b0110}

// newVectors returns random signs, drawn for a number of vectors side by side, or unit vectors.
//
// Where π is not uniform, few nodes that many others average over can make up all that random signs are wrong about:
// zᵀAz = trA + Σ 2A_ij z_i z_j. Two such hubs give it two values, and four samples are often the same one. The signs
// of the four nodes of the largest π are therefore made such that Σ z_i z_j over every four vectors is 0 for any two
// of them: then that part of the error is not there. Every single vector is as random as before.
func newVectors(l *lanczos, unit bool, drawn int, seed uint64) *vectors {
	v := &vectors{l: l, unit: unit, drawn: drawn, signs: rand.New(rand.NewPCG(seed, 0x6d6166616c6461))}
	if unit || l.symmetric {
		return v
	}
	v.flips = rand.New(rand.NewPCG(seed, 0x68756273))
	for i, d := range l.d {
		at, _ := slices.BinarySearchFunc(v.hubs, d, func(hub int, d float64) int {
			if l.d[hub] >= d {
				return -1
			}
			return 1
		})
		if at < len(hadamard) {
			v.hubs = slices.Insert(v.hubs[:min(len(v.hubs), len(hadamard)-1)], at, i)
		}
	}
	return v
}

// nextBlock returns width vectors side by side.
func (v *vectors) nextBlock(width int) []float64 {
	defer func() { v.made += width }()
	if v.unit {
		y := make([]float64, v.l.nodes*width)
		for c := range width {
			i := v.made + c
			y[i*width+c] = v.l.root[i] * math.Sqrt(float64(v.l.nodes)) // the vectors are averaged
		}
		return y
	}
	if width <= v.drawn {
		return v.draw(width)
	}
	y := make([]float64, v.l.nodes*width)
	for from := 0; from < width; from += v.drawn {
		part := min(v.drawn, width-from)
		for i, x := range v.draw(part) {
			y[i/part*width+from+i%part] = x
		}
		v.made += part
	}
	v.made -= width
	return y
}

// draw returns width vectors of random signs side by side, for the places after made.
func (v *vectors) draw(width int) []float64 {
	y := v.l.signs(v.signs, width)
	for c := range width {
		p := (v.made + c) % len(hadamard)
		if p == 0 && v.hubs != nil {
			v.flip = v.flips.Uint64()
		}
		for h, i := range v.hubs {
			y[i*width+c] = v.l.root[i]
			if (hadamard[h]>>p^v.flip>>h)&1 == 1 {
				y[i*width+c] = -y[i*width+c]
			}
		}
	}
	return y
}
