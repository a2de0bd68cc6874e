package noise

import (
	"sync"

	"mafalda/internal/rows"
	"mafalda/strategy"
)

// A row is made in chunks, each by one goroutine at a time, and those in parts: what is done to a part stays in the first
// cache.
const (
	chunk = 4096 // coordinates that come from one generator: see Key.normalsOf
	part  = 1024
)

// room is what a goroutine works with.
type room struct {
	sampler  rows.Sampler
	z, again [chunk]float64
}

// newRooms returns a pool of rooms.
func newRooms() *sync.Pool { return &sync.Pool{New: func() any { return new(room) }} }

// drawer writes chunk c of row t of Z to dst, as long as the chunk.
type drawer func(r *room, dst []float64, t, c int)

// mixer turns rows of Z into rows of C⁻¹Z, one after the other, by the filter of a strategy and the rows that it keeps.
type mixer struct {
	draw   drawer
	filter strategy.Filter
	kept   [][][]float64 // the rows kept of every part

	recombine strategy.Recombiner // not nil: earlier rows of Z are made again
}

// newMixer returns the mixer of a strategy in the least memory. A dense strategy that is to regenerate does not keep
// rows of Z, but draws them again.
func newMixer(c strategy.Strategy, dim int, draw drawer, regenerate bool) (*mixer, error) {
	f, err := c.Filter()
	if err != nil {
		return nil, err
	}
	m := &mixer{draw: draw, filter: f, kept: make([][][]float64, (dim+part-1)/part)}
	r, all := f.(strategy.Recombiner)
	if all { // rows of C⁻¹ as it was computed
		if err := checkInverse(c); err != nil {
			return nil, err
		}
		if regenerate {
			return &mixer{draw: draw, recombine: r}, nil
		}
	}
	memory := f.Memory()
	var numbers []float64
	if !all {
		numbers = make([]float64, memory*dim)
	}
	for i := range m.kept {
		m.kept[i] = make([][]float64, memory)
		for j := range m.kept[i] {
			if n := min(part, dim-i*part); !all { // the rows of a part are one piece of memory
				m.kept[i][j], numbers = numbers[:n:n], numbers[n:]
			}
		}
	}
	return m, nil
}

// chunkTo writes chunk c of row t of C⁻¹Z to dst, and calls done for every part of it.
func (m *mixer) chunkTo(dst []float64, r *room, t, c int, done func(part []float64)) {
	z := r.z[:len(dst)]
	m.draw(r, z, t, c)
	if m.recombine != nil {
		m.recombine.RecombineTo(dst, z, t, func(s int) []float64 {
			m.draw(r, r.again[:len(dst)], s, c)
			return r.again[:len(dst)]
		})
		done(dst)
		return
	}
	for from := 0; from < len(dst); from += part {
		to := min(from+part, len(dst))
		m.filter.StepTo(dst[from:to], z[from:to], m.kept[(c*chunk+from)/part], t)
		done(dst[from:to])
	}
}

// floats returns how many numbers are kept for each coordinate.
func (m *mixer) floats() int {
	if m.recombine != nil {
		return 0
	}
	return m.filter.Memory()
}
