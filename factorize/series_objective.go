package factorize

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/series"
	"mafalda/participation"
)

// seriesObjective is log loss as a function of the family's parameters and, with scaled columns, of log δ: the scales
// are δ divided by the root of their pattern's sum of |X|, so that every pattern has the sensitivity one.
//
// With r = 1/c as power series, M = T(r)T(r)ᵀ (M[s,t] = M[s-1,t-1] + r_s r_t) and e = 1/d, the squared error is
// Σ e_s e_t H[s,t] M[s,t]. Where all columns have the same scale that is e² rᵀGr, with a response G of H alone.
type seriesObjective struct {
	steps, bands int // c_j = 0 from bands on
	family       family
	h            *mat.SymDense
	patterns     [][]int
	scaled       bool

	response *mat.SymDense // G, T×T, where it is known; nil: the error is summed by the diagonals of M
	lags     []int         // of pairs of steps in a pattern: the place in products, plus 1; nil: there are many
	products [][]float64   // for each such lag, Σ_{j<i} c_j c_(j+lag) of the last Value

	c, d, delta []float64 // of the last Value
	r           []float64
	gr          []float64 // G r
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
	o.listLags()
	o.sums = make([]float64, len(o.patterns))
	return o
}

// withResponse returns the objective with the response of h, from seriesResponse; it is not for scaled columns.
func (o *seriesObjective) withResponse(response *mat.SymDense) *seriesObjective {
	o.response, o.gr = response, make([]float64, o.steps)
	return o
}

// seriesResponse returns G[p,q] = Σ_{s≥p} H[s, s+q-p] for q ≥ p: the squared error of r = 1/c is rᵀGr.
func seriesResponse(h *mat.SymDense) *mat.SymDense {
	steps := h.SymmetricDim()
	g := mat.NewSymDense(steps, nil)
	for lag := range steps {
		var sum float64
		for p := steps - 1 - lag; p >= 0; p-- {
			sum += h.At(p, p+lag)
			g.SetSym(p, p+lag, sum)
		}
	}
	return g
}

// listLags finds the lags whose products are worth being summed once for all patterns.
func (o *seriesObjective) listLags() {
	lags, pairs, distinct := make([]int, o.steps), 0, 0
	for _, pattern := range o.patterns {
		for i, s := range pattern {
			for _, t := range pattern[i:] {
				if pairs++; lags[t-s] == 0 {
					distinct++
					lags[t-s] = distinct
				}
			}
		}
	}
	if 4*distinct > pairs {
		return
	}
	o.lags, o.products = lags, make([][]float64, distinct)
	for lag, place := range lags {
		if place > 0 {
			o.products[place-1] = make([]float64, max(o.bands-lag, 0)+1)
		}
	}
}

// multiply fills in products.
func (o *seriesObjective) multiply() {
	for lag, place := range o.lags {
		if place == 0 {
			continue
		}
		sums := o.products[place-1]
		for i := 1; i < len(sums); i++ {
			sums[i] = sums[i-1] + o.c[i-1]*o.c[i-1+lag]
		}
	}
}

// product returns Σ_{j<length} c_j c_(j+lag).
func (o *seriesObjective) product(lag, length int) float64 {
	if o.lags == nil {
		return floats.Dot(o.c[:length], o.c[lag:lag+length])
	}
	return o.products[o.lags[lag]-1][length]
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
	o.invert()
	o.multiply()
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

// invert sets r of c.
func (o *seriesObjective) invert() {
	if f, ok := o.family.(inverter); ok {
		o.r = slices.Grow(o.r[:0], o.steps)[:o.steps]
		f.inverseTo(o.r)
		return
	}
	o.r = series.Invert(o.c[:o.bands], o.steps)
}

// squaredError returns Σ e_s e_t H M. With a response that is a product with G; else it walks the diagonals of M, and
// fills weighted.
func (o *seriesObjective) squaredError() float64 {
	if o.response != nil {
		y := mat.NewVecDense(o.steps, o.gr)
		y.MulVec(o.response, mat.NewVecDense(o.steps, o.r))
		scale := 1 / (o.d[0] * o.d[0])
		floats.Scale(scale, o.gr)
		return floats.Dot(o.r, o.gr)
	}
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
			x := o.product(lag, length)
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
	part := make([]float64, o.steps) // e_s ∂error/∂e_s, which sum to twice the error
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
			share = 2 * o.error
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
	gr := o.gr // G r, with e²
	if o.response == nil {
		gr = o.walkedResponse()
	}
	rr := series.Square(o.r)
	for j := range gc {
		gc[j] -= 2 * floats.Dot(gr[j:], rr[:o.steps-j])
	}
}

// walkedResponse returns G r, walking the diagonals of A.
func (o *seriesObjective) walkedResponse() []float64 {
	n := o.steps
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
