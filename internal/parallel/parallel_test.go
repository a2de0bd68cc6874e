package parallel

import (
	"runtime"
	"sync/atomic"
	"testing"
)

func TestEverythingOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(procs)
		for _, n := range []int{0, 1, 2, 7, 3*Part + 5} {
			calls := make([]atomic.Int32, n)
			For(n, func(i int) { calls[i].Add(1) })
			Chunks(n, func(chunk, from, to int) {
				if from != chunk*Part || to > n || to <= from {
					t.Errorf("chunk %d of %d is %d to %d", chunk, n, from, to)
				}
				for i := from; i < to; i++ {
					calls[i].Add(1)
				}
			})
			for i := range calls {
				if calls[i].Load() != 2 {
					t.Fatalf("%d of %d was visited %d times", i, n, calls[i].Load())
				}
			}
			sum := Sum(n, func(from, to int) float64 { return float64(to - from) })
			if sum != float64(n) {
				t.Errorf("sum of %d ones is %v", n, sum)
			}
		}
	}
}

// Every number is worked on once, and no two goroutines have the same place.
func TestWorkers(t *testing.T) {
	for _, workers := range []int{0, 1, 3, 20} {
		count, busy := make([]int, 10), make([]atomic.Int32, 20)
		Workers(workers, len(count), func(worker, i int) {
			if busy[worker].Add(1) > 1 {
				t.Errorf("two at place %d", worker)
			}
			count[i]++
			busy[worker].Add(-1)
		})
		for i, n := range count {
			if n != 1 {
				t.Errorf("%d workers: %d was worked on %d times", workers, i, n)
			}
		}
	}
}
