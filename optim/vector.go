package optim

import (
	"runtime"
	"sync"

	"gonum.org/v1/gonum/floats"
)

// share is how many numbers a goroutine works on at a time: enough to be worth one, few enough for a cache.
const share = 1 << 14

// inParts calls f for parts of n numbers, on all processors if there are many. The parts do not depend on their number.
func inParts(n int, f func(part, from, to int)) {
	parts := (n + share - 1) / share
	workers := min(runtime.GOMAXPROCS(0), parts/2)
	work := func(w int) {
		for part := w * parts / workers; part < (w+1)*parts/workers; part++ {
			f(part, part*share, min((part+1)*share, n))
		}
	}
	if workers <= 1 {
		workers = 1
		work(0)
		return
	}
	var wg sync.WaitGroup
	for w := 1; w < workers; w++ {
		wg.Go(func() { work(w) })
	}
	work(0)
	wg.Wait()
}

// dot returns xᵀy, summed part by part.
func dot(x, y []float64) float64 {
	sums := make([]float64, (len(x)+share-1)/share)
	inParts(len(x), func(part, from, to int) { sums[part] = floats.Dot(x[from:to], y[from:to]) })
	return floats.Sum(sums)
}

// addScaled adds alpha·x to y.
func addScaled(y []float64, alpha float64, x []float64) {
	inParts(len(x), func(_, from, to int) { floats.AddScaled(y[from:to], alpha, x[from:to]) })
}
