package factorize

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/series"
	"mafalda/participation"
)

// seriesObjective is log loss as a function of the family's parameters and, with scaled columns, of log δ: the scales
// are δ divided by the root of their pattern's sum of |X|, so that every pattern has the sensitivity one.
//
// With r = 1/c as power series, M = T(r)T(r)ᵀ (M[s,t] = M[s-1,t-1] + r_s r_t) and e = 1/d, the squared error is
// Σ e_s e_t H[s,t] M[s,t].
type seriesObjective struct {
	steps, bands int // c_j = 0 from bands on
	family       family
	h            *mat.SymDense
	patterns     [][]int
	scaled       bool

	c, d, delta []float64 // of the last Value
	r           []float64
	weighted    []float64 // Σ_t e_t H[s,t] M[s,t]: half the derivative of the error by e_s
	sums        []float64 // Σ |X| of each pattern, for unscaled d or δ
	worst       int       // pattern of the largest sum
	error       float64
}

// seriesPatterns returns the patterns whose sums of |X| the objective looks at: all of them where they can be listed.
// Of min-sep those whose steps are exactly b apart, which hold the worst one if the series is non-negative and
// decreasing; see seriesSearch.underMinSep.
func seriesPatterns(schema participation.Schema) [][]int {
	switch s := schema.(type) {
	case interface{ Patterns() [][]int }:
		return s.Patterns()
	case participation.MinSep:
		return s.Cyclic().Patterns()
	}
	return schema.Disjoint()
}

func newSeriesObjective(h *mat.SymDense, schema participation.Schema, f family, scaled bool) *seriesObjective {
	steps := schema.Steps()
	o := &seriesObjective{steps: steps, family: f, h: h, patterns: seriesPatterns(schema), scaled: scaled, bands: steps,
		c: make([]float64, steps), d: make([]float64, steps), delta: make([]float64, steps),
		weighted: make([]float64, steps)}
	if free, ok := f.(freeSeries); ok {
		o.bands = int(free)
	}
	o.sums = make([]float64, len(o.patterns))
	return o
}

func (o *seriesObjective) dimension() int {
	if o.scaled {
		return o.family.dimension() + o.steps
	}
	return o.family.dimension()
}

// Value returns the logarithm of the loss.
func (o *seriesObjective) Value(x []float64) float64 {
	if !o.family.seriesTo(o.c[:o.bands], x[:o.family.dimension()]) {
		return math.Inf(1)
	}
	for s := range o.delta {
		o.delta[s] = 1
		if o.scaled {
			o.delta[s] = math.Exp(x[o.family.dimension()+s])
		}
	}
	o.r = series.Invert(o.c[:o.bands], o.steps)
	for i, pattern := range o.patterns {
		o.sums[i] = o.sumOfMagnitudes(pattern, nil)
	}
	o.worst = floats.MaxIdx(o.sums)
	for i, pattern := range o.patterns {
		sum := o.sums[o.worst] // one scale for all columns, or one a pattern
		if o.scaled {
			sum = o.sums[i]
		}
		for _, s := range pattern {
			o.d[s] = o.delta[s] / math.Sqrt(sum)
		}
	}
	o.error = o.squaredError()
	if !(o.error > 0) || math.IsInf(o.error, 0) {
		return math.Inf(1)
	}
	return math.Log(o.error)
}

// squaredError returns Σ e_s e_t H M and fills weighted, walking the diagonals of M.
func (o *seriesObjective) squaredError() float64 {
	clear(o.weighted)
	var total float64
	h := o.h.RawSymmetric()
	for lag := range o.steps {
		var m float64
		for s := 0; s+lag < o.steps; s++ {
			t := s + lag
			m += o.r[s] * o.r[t]
			v := h.Data[s*h.Stride+t] * m
			o.weighted[s] += v / o.d[t]
			if lag > 0 {
				o.weighted[t] += v / o.d[s]
			}
		}
	}
	for s, w := range o.weighted {
		total += w / o.d[s]
	}
	return total
}

// sumOfMagnitudes returns Σ_{s,t∈π} δ_s δ_t |X[s,t]| for X of c, and adds weight times its gradient if that is wanted.
func (o *seriesObjective) sumOfMagnitudes(pattern []int, g *magnitudeGradient) float64 {
	var total float64
	for i, s := range pattern {
		for _, t := range pattern[i:] {
			lag := t - s
			length := min(o.bands-lag, o.steps-t) // rows that both columns have
			if length <= 0 {
				break
			}
			x := floats.Dot(o.c[:length], o.c[lag:lag+length])
			factor := o.delta[s] * o.delta[t]
			if lag > 0 {
				factor *= 2
			}
			total += factor * math.Abs(x)
			if g == nil || x == 0 {
				continue
			}
			sign := g.weight * factor * math.Copysign(1, x)
			floats.AddScaled(g.c[:length], sign, o.c[lag:lag+length])
			floats.AddScaled(g.c[lag:lag+length], sign, o.c[:length])
			g.delta[s] += g.weight * factor * math.Abs(x) // by log δ
			g.delta[t] += g.weight * factor * math.Abs(x)
		}
	}
	return total
}

type magnitudeGradient struct {
	weight   float64
	c, delta []float64
}

// GradientTo writes the gradient of Value at its last point.
func (o *seriesObjective) GradientTo(dst []float64) {
	gc, gd := make([]float64, o.bands), make([]float64, o.steps)
	o.errorGradient(gc)
	// d_s = δ_s/√S_i, so e_s = √S_i/δ_s: the error moves with S_i of its pattern like ½ Σ_s (e_s·∂error/∂e_s)/S_i
	part := make([]float64, o.steps) // e_s ∂error/∂e_s
	for s := range part {
		part[s] = 2 * o.weighted[s] / o.d[s]
		gd[s] -= part[s]
	}
	for i, pattern := range o.patterns {
		var share float64
		if o.scaled {
			for _, s := range pattern {
				share += part[s]
			}
		} else if i == o.worst {
			share = floats.Sum(part)
		}
		if share != 0 {
			o.sumOfMagnitudes(pattern, &magnitudeGradient{share / (2 * o.sums[i]), gc, gd})
		}
	}
	floats.Scale(1/o.error, gc)
	o.family.pullTo(dst[:o.family.dimension()], gc)
	if o.scaled {
		for s, v := range gd {
			dst[o.family.dimension()+s] = v / o.error
		}
	}
}

// errorGradient adds the derivative of the squared error by c at fixed d. With A = D⁻¹HD⁻¹ the error is
// Σ_j Σ_{p,q} r_p r_q A[j+p, j+q] = rᵀ G r; ∂/∂r = 2Gr, and dr = -r*r*dc as series.
func (o *seriesObjective) errorGradient(gc []float64) {
	n := o.steps
	gr := make([]float64, n) // G r
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
	rr := series.Square(o.r)
	for j := range gc {
		gc[j] -= 2 * floats.Dot(gr[j:], rr[:n-j])
	}
}
