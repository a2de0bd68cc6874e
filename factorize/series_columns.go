package factorize

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/participation"
)

// columnsObjective is log loss as a function of a family's parameters and of log δ: the scales d of columns are δ divided
// by the root of their pattern's sum of |X|, so that every pattern has the sensitivity one.
//
// With M = T(r)T(r)ᵀ (M[s,t] = M[s-1,t-1] + r_s r_t) and e = 1/d, the squared error is Σ e_s e_t H[s,t] M[s,t].
type columnsObjective struct {
	family   family
	pull     pull
	h        *mat.SymDense
	patterns *patternSums

	c, r, d []float64 // series, inverse series and scales of the last Value
	part    []float64 // e_s ∂error/∂e_s, which sum to twice the error
	error   float64
}

func newColumnsObjective(h *mat.SymDense, schema participation.Schema, f family) *columnsObjective {
	o := &columnsObjective{family: f, h: h, patterns: newPatternSums(schema)}
	for _, series := range []*[]float64{&o.c, &o.r, &o.d, &o.part} {
		*series = make([]float64, schema.Steps())
	}
	return o
}

// Value returns the logarithm of the loss.
func (o *columnsObjective) Value(x []float64) float64 {
	own := x[:o.family.dimension()]
	if o.pull = o.family.seriesTo(o.c, o.r, own); o.pull == nil {
		return math.Inf(1)
	}
	for s, v := range x[len(own):] {
		o.patterns.delta[s] = math.Exp(v)
	}
	o.patterns.value(o.c[:len(own)+1]) // of free series
	for i, pattern := range o.patterns.patterns {
		for _, s := range pattern {
			o.d[s] = o.patterns.delta[s] / math.Sqrt(o.patterns.sums[i])
		}
	}
	o.squaredError()
	if !(o.error > 0) || math.IsInf(o.error, 0) {
		return math.Inf(1)
	}
	return math.Log(o.error)
}

// squaredError walks the diagonals of M: part[s] is 2 e_s Σ_t e_t H[s,t] M[s,t].
func (o *columnsObjective) squaredError() {
	clear(o.part)
	h := o.h.RawSymmetric()
	for lag := range o.r {
		var m float64
		for s := 0; s+lag < len(o.r); s++ {
			t := s + lag
			m += o.r[s] * o.r[t]
			v := h.Data[s*h.Stride+t] * m / (o.d[s] * o.d[t])
			if lag > 0 {
				v *= 2
			}
			o.part[s] += v
			o.part[t] += v
		}
	}
	o.error = floats.Sum(o.part) / 2
}

// GradientTo writes the gradient of Value at its last point.
func (o *columnsObjective) GradientTo(dst []float64) {
	own := o.family.dimension()
	gc, gd := make([]float64, len(o.c)), dst[own:]
	// d_s = δ_s/√S_i, so e_s = √S_i/δ_s: the error moves with S_i of its pattern like ½ Σ_s (e_s·∂error/∂e_s)/S_i
	for s, v := range o.part {
		gd[s] = -v
	}
	for i, pattern := range o.patterns.patterns {
		var share float64
		for _, s := range pattern {
			share += o.part[s]
		}
		o.patterns.sum(pattern, &magnitudeGradient{share / (2 * o.patterns.sums[i]), gc, gd})
	}
	floats.Scale(1/o.error, gc)
	floats.Scale(1/o.error, gd)
	gr := o.response()
	floats.Scale(2/o.error, gr)
	o.pull(dst[:own], gc, gr)
}

// response returns G r, walking the diagonals of A = D⁻¹HD⁻¹.
func (o *columnsObjective) response() []float64 {
	n := len(o.r)
	gr := make([]float64, n)
	h := o.h.RawSymmetric()
	for lag := range n {
		var g float64 // G[p, p+lag] = Σ_{s ≥ p} A[s, s+lag]
		for p := n - 1 - lag; p >= 0; p-- {
			q := p + lag
			g += h.Data[p*h.Stride+q] / (o.d[p] * o.d[q])
			gr[p] += g * o.r[q]
			if lag > 0 {
				gr[q] += g * o.r[p]
			}
		}
	}
	return gr
}
