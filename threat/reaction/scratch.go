package reaction

import "sync"

// spare has matrices that are no longer used, by how many numbers they have: a pass would otherwise make and forget a
// dozen of them a step.
var spare sync.Map // of int: *sync.Pool of *[]float64

// borrow returns a slice of n numbers of any value.
func borrow(n int) []float64 {
	pool, ok := spare.Load(n)
	if !ok {
		pool, _ = spare.LoadOrStore(n, &sync.Pool{})
	}
	if x, ok := pool.(*sync.Pool).Get().(*[]float64); ok {
		return *x
	}
	return make([]float64, n)
}

// borrowZeros returns a slice of n zeros.
func borrowZeros(n int) []float64 {
	x := borrow(n)
	clear(x)
	return x
}

// release gives slices back that are no longer used. Nil is nothing to give back.
func release(all ...[]float64) {
	for _, x := range all {
		if x == nil {
			continue
		}
		if pool, ok := spare.Load(len(x)); ok {
			pool.(*sync.Pool).Put(&x)
		}
	}
}
