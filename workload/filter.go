package workload

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// filter is what a node does with its own gradients before they move its model, F = D N (T×T): with D = diag(η),
//
//	N[t,s] = β^(t-s), t ≥ s,      or I + βN with Nesterov.
//
// It is local and linear, so that a workload with the Gram matrix G before it has FᵀGF.
type filter struct {
	rates    []float64 // η; nil: 1
	momentum float64
	nesterov bool
}

func (s Spec) filter(steps int) filter {
	f := filter{momentum: s.Momentum, nesterov: s.Nesterov}
	if !s.LearningRates.constant() && !s.GradientTracking { // tracking has the rates after the network
		f.rates = s.rates(steps)
	}
	return f
}

// congruence replaces h by FᵀhF.
func (f filter) congruence(h *mat.SymDense) {
	a := whole(h)
	f.scale(a)
	f.smoothAll(a, func(i int) int { return len(a) - 1 - i })
}

// spread returns FyFᵀ.
func (f filter) spread(y mat.Symmetric) *mat.SymDense {
	steps := y.SymmetricDim()
	out := mat.NewSymDense(steps, nil)
	out.CopySym(y)
	a := whole(out)
	f.smoothAll(a, func(i int) int { return i })
	f.scale(a)
	return out
}

// smoothAll applies N to rows and columns, whose i-th is at(i): backwards it is Nᵀ.
func (f filter) smoothAll(a [][]float64, at func(i int) int) {
	if f.momentum == 0 {
		return
	}
	sums := make([]float64, len(a))
	for i := range a {
		f.smoothRow(a[at(i)], sums)
	}
	for _, row := range a {
		var sum float64
		for i := range row {
			s := at(i)
			row[s] = f.smooth(row[s], &sum)
		}
	}
}

// smooth returns the next number of a series times N, in whichever direction; sum is Σ β^j of those so far.
func (f filter) smooth(v float64, sum *float64) float64 {
	*sum = v + f.momentum**sum
	if f.nesterov {
		return v + f.momentum**sum
	}
	return *sum
}

// smoothRow does what smooth does, with a row in the place of a number.
func (f filter) smoothRow(row, sum []float64) {
	floats.Scale(f.momentum, sum)
	floats.Add(sum, row)
	if f.nesterov {
		floats.AddScaled(row, f.momentum, sum)
	} else {
		copy(row, sum)
	}
}

// scale multiplies rows and columns with the rates.
func (f filter) scale(a [][]float64) {
	if f.rates == nil {
		return
	}
	for t, row := range a {
		floats.Mul(row, f.rates)
		floats.Scale(f.rates[t], row)
	}
}

// whole returns the rows of h, both triangles filled. Of what is written there, h has the upper one.
func whole(h *mat.SymDense) [][]float64 {
	raw := h.RawSymmetric()
	rows := make([][]float64, raw.N)
	for i := range rows {
		rows[i] = raw.Data[i*raw.Stride : i*raw.Stride+raw.N]
		for j := range i {
			rows[i][j] = rows[j][i]
		}
	}
	return rows
}

// series returns N times a series, which it keeps as it is. Rates are left out: they are for matrices.
func (f filter) series(x []float64) []float64 {
	if f.momentum == 0 {
		return x
	}
	out := make([]float64, len(x))
	var sum float64
	for t, v := range x {
		out[t] = f.smooth(v, &sum)
	}
	return out
}

// seriesBack replaces a series by Nᵀ times it.
func (f filter) seriesBack(x []float64) {
	if f.momentum == 0 {
		return
	}
	var sum float64
	for t := len(x) - 1; t >= 0; t-- {
		x[t] = f.smooth(x[t], &sum)
	}
}
