package workload

import (
	"errors"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/dense"
	"mafalda/internal/lists"
)

// MaxSpectralNodes bounds dense eigenvalue problems: 32 MB and some ten seconds.
const MaxSpectralNodes = 2048

// addSpectral fills the kernel of a symmetric w (c×c, c = l.count): k[p,q] = tr(W^a) = Σ_i λ_i^a, a = (p+q)·stride +
// 2·first, depends on 2c moments alone, unless the rows are differences of powers.
func addSpectral(k []float64, w *graph.CSR, l lags) error {
	values, err := eigenvalues(w)
	if err != nil {
		return err
	}
	if l.before != nil {
		addFiltered(k, values, l)
		return nil
	}
	factors := l.stationary()
	moments := powerSums(values, l)
	for p := range l.count {
		for q := range p + 1 {
			k[p*l.count+q] = factors[p] * factors[q] * moments[p+q]
		}
	}
	return nil
}

// addFiltered makes the rows of the kernel for every eigenvalue.
func addFiltered(k, values []float64, l lags) {
	rows := mat.NewDense(l.count, len(values), nil)
	power := func(p int) []float64 { return lists.Map(values, func(v float64) float64 { return integerPower(v, p) }) }
	w, x := diagonal(power(l.stride)), power(l.first)
	l.first, l.stride = 0, 1
	l.rowsTo(rows.RawRowView, x, w)
	dense.Mul(mat.NewDense(l.count, l.count, k), rows, rows.T())
}

// eigenvalues returns the eigenvalues of a symmetric w.
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

// powerSums returns Σ_i λ_i^(2·first + stride·p) for p = 0 … 2·count-2.
func powerSums(lambda []float64, l lags) []float64 {
	step, power := make([]float64, len(lambda)), make([]float64, len(lambda))
	for i, v := range lambda {
		step[i], power[i] = integerPower(v, l.stride), integerPower(v, 2*l.first)
	}
	sums := make([]float64, 2*l.count-1)
	for p := range sums {
		for i, v := range step {
			sums[p] += power[i]
			power[i] *= v
		}
	}
	return sums
}

// integerPower returns x^p by p multiplications.
func integerPower(x float64, p int) float64 {
	power := 1.0
	for range p {
		power *= x
	}
	return power
}
