package workload

import (
	"errors"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
)

// maxSpectralNodes bounds the dense eigenvalue problem of spectralGram: 32 MB and some ten seconds.
const maxSpectralNodes = 2048

// spectralGram is Gram for symmetric w: K[a,b] = tr(W^(a+b)) = Σ_i λ_i^(a+b) depends on the 2T moments alone.
func spectralGram(w *graph.CSR, steps int, kind Kind) (*mat.SymDense, error) {
	n, _ := w.Dims()
	dense := mat.NewSymDense(n, nil)
	w.DoNonZero(func(i, j int, v float64) {
		if j >= i {
			dense.SetSym(i, j, v)
		}
	})
	var eigen mat.EigenSym
	if !eigen.Factorize(dense, false) {
		return nil, errors.New("eigenvalues of the gossip matrix did not converge")
	}
	moments := powerSums(eigen.Values(nil), 2*kind.firstPower(), 2*steps-1)
	h := mat.NewSymDense(steps, nil)
	for lag := range steps {
		var sum float64
		for s := steps - 1 - lag; s >= 0; s-- {
			sum += moments[2*(steps-1-s)-lag]
			h.SetSym(s, s+lag, sum)
		}
	}
	return h, nil
}

// powerSums returns Σ_i λ_i^(first+p) for p = 0..count-1.
func powerSums(lambda []float64, first, count int) []float64 {
	power := make([]float64, len(lambda)) // λ^(first+p)
	for i, l := range lambda {
		power[i] = 1
		for range first {
			power[i] *= l
		}
	}
	sums := make([]float64, count)
	for p := range sums {
		for i, l := range lambda {
			sums[p] += power[i]
			power[i] *= l
		}
	}
	return sums
}
