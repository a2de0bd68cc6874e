package workload

import (
	"errors"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/combin"
)

// errStepWeights is the error of Columns where steps have weights.
var errStepWeights = errors.New("scaled columns of more steps than matrices have room for: not with weights of steps")

// Columns returns the matrix Q of the squared error eᵀQe of C⁻¹[t,s] = (e_0 + e_1 t/T + … )·r_(t-s), whose columns are
// scaled, for size coefficients e. With r⁽ⁱ⁾_j = (j/T)ⁱr_j and its responses F⁽ⁱ⁾ the noise of step s shows l steps
// later as
//
//	Σ_m e_m Σ_{i≤m} binom(m, i) (s/T)^(m-i) F⁽ⁱ⁾_l,
//
// since t = s + j; the products ⟨F⁽ⁱ⁾_l, F⁽ʲ⁾_l⟩ follow from the norms of sums. It fails where steps have weights.
func (r *Response) Columns(rs []float64, size int) (*mat.SymDense, error) {
	if !r.spec.CountsAll() {
		return nil, errStepWeights
	}
	steps := r.steps
	ones := slices.Repeat([]float64{1}, steps)
	series := make([][]float64, size) // r⁽ⁱ⁾
	norms := make([][][]float64, size)
	for i := range series {
		series[i], norms[i] = make([]float64, steps), make([][]float64, size)
		for j, v := range rs {
			if i > 0 {
				v = series[i-1][j] * float64(j) / float64(steps)
			}
			series[i][j] = v
		}
	}
	norm := func(x []float64) []float64 {
		each := make([]float64, steps)
		r.error(nil, x, ones, each)
		return each
	}
	for i := range series {
		norms[i][i] = norm(series[i])
		for j := range i {
			product := norm(floats.AddTo(make([]float64, steps), series[i], series[j]))
			for l := range product {
				product[l] = (product[l] - norms[i][i][l] - norms[j][j][l]) / 2
			}
			norms[i][j], norms[j][i] = product, product
		}
	}
	powers := make([]float64, 2*size-1) // Σ_{s<T-l} (s/T)^a
	q := mat.NewSymDense(size, nil)
	for l := steps - 1; l >= 0; l-- {
		p := 1.0
		for a := range powers {
			powers[a] += p
			p *= float64(steps-1-l) / float64(steps)
		}
		for m := range size {
			for n := m; n < size; n++ {
				sum := q.At(m, n)
				for i := range m + 1 {
					for j := range n + 1 {
						sum += float64(combin.Binomial(m, i)*combin.Binomial(n, j)) * norms[i][j][l] * powers[m-i+n-j]
					}
				}
				q.SetSym(m, n, sum)
			}
		}
	}
	return q, nil
}
