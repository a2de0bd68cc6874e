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
	if f.momentum > 0 {
		steps := len(a)
		sum := make([]float64, steps)
		for s := steps - 1; s >= 0; s-- {
			f.smoothRow(a[s], sum)
		}
		for _, row := range a {
			var sum float64
			for s := steps - 1; s >= 0; s-- {
				row[s] = f.smooth(row[s], &sum)
			}
		}
	}
}

// spread returns FyFᵀ.
func (f filter) spread(y mat.Symmetric) *mat.SymDense {
	steps := y.SymmetricDim()
	out := mat.NewSymDense(steps, nil)
	out.CopySym(y)
	a := whole(out)
	if f.momentum > 0 {
		sum := make([]float64, steps)
		for _, row := range a {
			f.smoothRow(row, sum)
		}
		for _, row := range a {
			var sum float64
			for s, v := range row {
				row[s] = f.smooth(v, &sum)
			}
		}
	}
	f.scale(a)
	return out
}

// smooth returns the next number of a series times N, in whichever direction; sum is Σ β^j of those so far.
func (f filter) smooth(v float64, sum *float64) float64 {
	*sum = v + f.momentum**sum
	if f.nesterov {
		return v + f.momentum**sum
	}
	return *sum
}

// smoothRow is smooth for rows.
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
