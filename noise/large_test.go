package noise

import (
	"fmt"
	"testing"
	"time"

	"mafalda/strategy"
)

// BenchmarkLargeRow measures rows of BLT with 4 buffers against copying as many numbers, a row and a copy in turns: with
// -cpu 1 on one processor. Machines that others use, too, have good and bad moments: the fastest of each is what counts.
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
	s, err := newStream(c, gaussian{"node", SeededKey(seed, "node"), 1}, dim, Options{Seed: &seed})
	if err != nil {
		b.Fatal(err)
	}
	row, other := make([]float64, dim), make([]float64, dim)
	if err := s.Next(row); err != nil { // its memory is fresh
		b.Fatal(err)
	}
	copy(other, row)
	draw, copied := time.Hour, time.Hour
	fastest := func(d *time.Duration, f func()) {
		start := time.Now()
		f()
		*d = min(*d, time.Since(start))
	}
	for b.Loop() {
		fastest(&draw, func() { err = s.Next(row) })
		if err != nil {
			b.Fatal(err)
		}
		fastest(&copied, func() { copy(other, row) })
	}
	gigabytes := 8e-9 * float64(dim)
	b.ReportMetric(gigabytes/draw.Seconds(), "row-GB/s")
	b.ReportMetric(gigabytes/copied.Seconds(), "copy-GB/s")
	b.ReportMetric(copied.Seconds()/draw.Seconds(), "row/copy")
}
