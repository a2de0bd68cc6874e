package simulate

import (
	"sync"
	"sync/atomic"
)

// parallel calls f for every i < n, from so many goroutines, each with a number of its own.
func parallel(workers, n int, f func(worker, i int)) {
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
