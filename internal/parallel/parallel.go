// Package parallel divides work between processors in ways that do not change results, and leaves behind what cannot be
// stopped.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// For calls f for every i < n, on as many goroutines as there are processors.
func For(n int, f func(i int)) {
	Workers(runtime.GOMAXPROCS(0), n, func(_, i int) { f(i) })
}

// Part is how many numbers are worked on at a time: enough to be worth a goroutine, few enough for a cache.
const Part = 1 << 14

// Chunks calls f for chunks of n numbers. The chunks do not depend on the number of processors.
func Chunks(n int, f func(chunk, from, to int)) {
	if 0 < n && n <= Part {
		f(0, 0, n)
		return
	}
	For((n+Part-1)/Part, func(i int) { f(i, i*Part, min((i+1)*Part, n)) })
}

// Sum adds what f returns for chunks of n numbers, in their order.
func Sum(n int, f func(from, to int) float64) float64 {
	sums := make([]float64, (n+Part-1)/Part)
	Chunks(n, func(chunk, from, to int) { sums[chunk] = f(from, to) })
	var total float64
	for _, v := range sums {
		total += v
	}
	return total
}

// Workers calls f for every i < n, from a number of goroutines, each with a number of its own.
func Workers(workers, n int, f func(worker, i int)) {
	if workers = min(workers, n); workers <= 1 {
		for i := range n {
			f(0, i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(w, i)
			}
		})
	}
	wg.Wait()
}
