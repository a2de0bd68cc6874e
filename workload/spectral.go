package workload

import (
	"errors"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
)

// MaxSpectralNodes bounds dense eigenvalue problems: 32 MB and some ten seconds.
const MaxSpectralNodes = 2048

// addSpectral fills the kernel of a symmetric w: k[p,q] = tr(W^(p+q+2e)) = Σ_i λ_i^(p+q+2e) depends on the 2T moments
// alone.
func (k *Kernel) addSpectral(w *graph.CSR, kind Kind) error {
	values, err := eigenvalues(w)
	if err != nil {
		return err
	}
	moments := powerSums(values, 2*kind.firstPower(), 2*k.steps-1)
	for p := range k.steps {
		for q := range p + 1 {
			k.k[p*k.steps+q] = moments[p+q]
		}
	}
	return nil
}

// eigenvalues returns those of a symmetric w.
func eigenvalues(w *graph.CSR) ([]float64, error) {
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
	return eigen.Values(nil), nil
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
