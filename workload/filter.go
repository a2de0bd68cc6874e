package workload

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// filter is what a node does with its own gradients before they move its model, F = D N (T×T): D = diag(η), and column s
// of N is the update of every step that a gradient in step s makes. With momentum
//
//	N[t,s] = β^(t-s), t ≥ s,      or I + βN with Nesterov.
//
// It is local and linear, so that a workload with the Gram matrix G before it has FᵀGF.
type filter struct {
	rates  []float64 // η; nil: 1
	update Optimizer // what N is made of
}

func (s Spec) filter(steps int) filter {
	f := filter{update: s.update()}
	if !s.LearningRates.constant() && !s.GradientTracking { // tracking has the rates after the network
		f.rates = s.rates(steps)
	}
	return f
}

// congruence replaces h by FᵀhF.
func (f filter) congruence(h *mat.SymDense) {
	a := whole(h)
	f.scale(a)
	f.smooth(a, func(t int) []float64 { return a[len(a)-1-t] })
}

// spread returns FyFᵀ.
func (f filter) spread(y mat.Symmetric) *mat.SymDense {
	out := mat.NewSymDense(y.SymmetricDim(), nil)
	out.CopySym(y)
	a := whole(out)
	f.smooth(a, func(t int) []float64 { return a[t] })
	f.scale(a)
	return out
}

// smooth applies N to the columns and then to the rows of a square matrix, of which step t has the row that at returns.
func (f filter) smooth(a [][]float64, at func(t int) []float64) {
	for range 2 {
		f.run(len(a), at)
		for i, row := range a {
			for j := range i {
				row[j], a[j][i] = a[j][i], row[j]
			}
		}
	}
}

// run replaces the gradients of the steps by their updates: N times them, or backwards, from the last step on, Nᵀ.
func (f filter) run(steps int, at func(t int) []float64) {
	if f.update.isZero() {
		return
	}
	node := f.update.Lone(1, len(at(0)))
	for t := range steps {
		row := at(t)
		clear(node.models)
		node.update(row, 0, len(row))
		for i, v := range node.models {
			row[i] = 0 - v
		}
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
	out := slices.Clone(x)
	f.run(len(x), func(t int) []float64 { return out[t : t+1] })
	return out
}

// seriesBack replaces a series by Nᵀ times it.
func (f filter) seriesBack(x []float64) {
	f.run(len(x), func(t int) []float64 { return x[len(x)-1-t : len(x)-t] })
}
