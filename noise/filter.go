package noise

import (
	"mafalda/internal/rows"
	"mafalda/strategy"
)

// mixer turns rows of Z into rows of C⁻¹Z, one after the other, by the filter of a strategy and the rows that it keeps.
type mixer struct {
	draw   drawer
	dim    int
	filter strategy.Filter
	kept   [][][]float64 // the rows kept, of every part
	pieces [][]float64   // the memory that the pieces of a part lie in

	fetches    bool                // the filter brings half of the next piece into the cache
	recombine  strategy.Recombiner // recombiner, if kept rows are rows of Z, of every chunk; else nil
	regenerate bool                // they are not kept, but drawn again
}

// newMixer returns the mixer of a strategy in the least memory. A dense strategy that is to regenerate keeps no rows of
// Z.
func newMixer(c strategy.Strategy, dim int, draw drawer, regenerate bool) (*mixer, error) {
	f, err := c.Filter()
	if err != nil {
		return nil, err
	}
	m := &mixer{draw: draw, dim: dim, filter: f}
	_, m.fetches = f.(strategy.Fetcher)
	chunks := (dim + chunk - 1) / chunk
	if r, ok := f.(strategy.Recombiner); ok { // rows of C⁻¹ as it was computed
		if err := checkInverse(c); err != nil {
			return nil, err
		}
		m.recombine, m.regenerate = r, regenerate
		if !regenerate {
			m.kept = make([][][]float64, chunks)
			for i := range m.kept {
				m.kept[i] = make([][]float64, f.Memory())
			}
		}
		return m, nil
	}
	m.keep(chunks)
	return m, nil
}

// keep makes the rows that are kept. Those of a part are one piece of memory.
func (m *mixer) keep(chunks int) {
	memory := m.filter.Memory()
	all := rows.Make(memory * m.dim)
	m.kept, m.pieces = make([][][]float64, chunks*parts), make([][]float64, chunks*parts)
	for i := range m.kept {
		from, end := i/parts*chunk+i%parts*rows.Block, min(m.dim, (i/parts+1)*chunk)
		n := max(0, min(rows.Block, end-from))
		m.pieces[i], all = all[:memory*n:memory*n], all[memory*n:]
		m.kept[i] = make([][]float64, memory)
		for j := range m.kept[i] {
			m.kept[i][j] = m.pieces[i][j*n : (j+1)*n : (j+1)*n]
		}
	}
}

// chunkTo makes chunk c of row t of C⁻¹Z, part by part, and calls done for each: where it belongs in dst, and where it
// is, which may be the same.
func (m *mixer) chunkTo(dst []float64, r *room, t, c int, done func(dst, part []float64)) {
	if m.recombine != nil {
		m.recombineTo(dst, r, t, c)
		done(dst, dst)
		return
	}
	m.draw(r, t, c, len(dst))
	fetched := 0 // of a piece, while the one before was worked on
	for i := c * parts; len(dst) > 0; i++ {
		n := min(rows.Block, len(dst))
		r.sampler.Soon(m.pieces[i][min(fetched, len(m.pieces[i])):])
		m.filter.StepTo(r.part[:n], r.nextPart(n), m.kept[i], t)
		done(dst[:n], r.part[:n])
		dst = dst[n:]
		if m.fetches {
			fetched = len(m.pieces[i]) / 2
		}
	}
}

// recombineTo writes chunk c of row t of C⁻¹Z to dst, of all rows of Z.
func (m *mixer) recombineTo(dst []float64, r *room, t, c int) {
	draw := func(t int) []float64 {
		m.draw(r, t, c, len(dst))
		return r.wholeChunk(len(dst))
	}
	if m.regenerate {
		m.recombine.RecombineTo(dst, draw(t), t, draw)
		return
	}
	m.filter.StepTo(dst, draw(t), m.kept[c], t)
}

// keepChunk keeps chunk c of row t of Z, n numbers, as recombineTo does, and makes no row of it.
func (m *mixer) keepChunk(r *room, t, c, n int) {
	m.draw(r, t, c, n)
	m.kept[c][t] = append(m.kept[c][t][:0], r.wholeChunk(n)...)
}
