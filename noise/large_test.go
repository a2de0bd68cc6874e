package noise

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"mafalda/internal/parallel"
	"mafalda/internal/rows"
	"mafalda/strategy"
)

// BenchmarkLargeRow measures rows of BLT with 4 buffers, in double and in single precision, beside three things that
// bound them: their numbers alone; everything else, that is the way of four buffers and the row between memory and
// processor; and copying as many numbers. They take turns; with -cpu 1 on one processor. Machines that others use, too,
// have good and bad moments: the least processor time of each is what counts.
func BenchmarkLargeRow(b *testing.B) {
	c, err := strategy.NewBLT(1<<20, 1.25, []strategy.Section{{P: 0.9, Q: 0.3, A: 1.7, B: 0.8}, {P: 0.2, Q: 0.1, A: 0.5, B: 0.2}})
	if err != nil {
		b.Fatal(err)
	}
	for _, dim := range []int{1 << 15, 1_000_000, 10_000_000} {
		b.Run(fmt.Sprint(dim), func(b *testing.B) { benchmarkRow(b, c, dim) })
	}
}

func benchmarkRow(b *testing.B, c strategy.Strategy, dim int) {
	seed := uint64(1)
	s, err := streamWith(c, gaussian{"node", SeededKey(seed, "node"), 1}, dim, Options{Seed: &seed})
	if err != nil {
		b.Fatal(err)
	}
	row, other, single := rows.Make(dim), rows.Make(dim), make([]float32, dim)
	turns := []struct {
		name string
		once func()
	}{
		{"row", func() { err = errors.Join(err, s.Next(row)) }},
		{"float32", func() { err = errors.Join(err, s.NextFloat32(single)) }},
		{"numbers", func() { drawOnly(s) }},
		{"memory", func() { mixOnly(s, row) }},
		{"copy", func() { copy(other, row) }},
	}
	fastest := make([]time.Duration, len(turns))
	for i, turn := range turns { // their memory is fresh
		turn.once()
		fastest[i] = time.Hour
	}
	for b.Loop() {
		for i, turn := range turns {
			start := processorTime()
			turn.once()
			fastest[i] = min(fastest[i], processorTime()-start)
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	for i, turn := range turns {
		b.ReportMetric(8e-9*float64(dim)/fastest[i].Seconds(), turn.name+"-GB/s")
	}
}

// drawOnly draws the numbers of a row, and does nothing with them.
func drawOnly(s *Stream) {
	parallel.For((s.dim+chunk-1)/chunk, func(c int) {
		r := s.rooms.Get().(*room)
		defer s.rooms.Put(r)
		left := min(chunk, s.dim-c*chunk)
		for s.normals(r, 0, c, left); left > 0; left -= rows.Block {
			r.nextPart(min(left, rows.Block))
		}
	})
}

// mixOnly does to a row what Next does, but for drawing its numbers: they are zero.
func mixOnly(s *Stream, row []float64) {
	zeros, zero := make([]float64, chunk), *s.mix
	zero.draw = func(r *room, _, _, n int) {
		r.sum = zeros[:n]
	}
	parallel.For((s.dim+chunk-1)/chunk, func(c int) {
		r := s.rooms.Get().(*room)
		defer s.rooms.Put(r)
		zero.chunkTo(row[c*chunk:min((c+1)*chunk, s.dim)], r, s.next, c, func(dst, part []float64) { s.levelTo(dst, part) })
		rows.Settle()
		r.sum = nil
	})
}
