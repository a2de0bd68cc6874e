package noise

import (
	"mafalda/internal/rows"
)

// A row is made in chunks, each of a generator of its own (see Key.normalsOf), by several goroutines, and a chunk in
// parts of rows.Block numbers: what is done to one stays in the first cache.
const (
	chunk = 4096
	parts = (chunk + rows.Block - 1) / rows.Block
)

// room is what a goroutine works with. It holds a chunk of a row of Z: in sum, or still to be drawn by the sampler.
type room struct {
	z       [chunk]float64
	part    [rows.Block]float64
	sampler rows.Sampler
	sum     []float64 // sum of z, what is left of it; nil: the sampler has it
}

// drawer fills a room with chunk c of row t of Z, n numbers.
type drawer func(r *room, t, c, n int)

// nextPart returns the next part of the chunk, n numbers. They are good until the next call.
func (r *room) nextPart(n int) []float64 {
	if r.sum == nil {
		return r.sampler.Next(n)
	}
	part := r.sum[:n]
	r.sum = r.sum[n:]
	return part
}

// wholeChunk returns a chunk of n numbers that was not begun. They are good until the next chunk.
func (r *room) wholeChunk(n int) []float64 {
	if r.sum == nil {
		r.sampler.RestTo(r.z[:n])
	}
	return r.z[:n]
}
