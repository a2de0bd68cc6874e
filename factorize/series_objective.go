package factorize

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/participation"
	"mafalda/strategy"
)

// Response is the squared error of Toeplitz strategies as a function of the T coefficients r of C⁻¹, and its
// derivative, such as workload.Response; and Q of strategies with scaled columns, for a number of scales: the squared error
// of C⁻¹[t,s] = (e_0 + e_1 t/T + …)·r_(t-s) is eᵀQe.
type Response interface {
	Error(grad, r []float64) float64
	Columns(r []float64, size int) (*mat.SymDense, error)
}

// Responses returns the response for a number of steps up to T. A rough one will do for a search: what is reported is
// measured with one that is not.
type Responses func(steps int, rough bool) (Response, error)

// gramResponse is the Response of a Gram matrix H: the squared error of r is rᵀGr, G[p,q] = Σ_{s≥p} H[s, s+q-p] for q ≥ p.
type gramResponse struct{ h, g *mat.SymDense }

func newGramResponse(h *mat.SymDense) gramResponse {
	steps := h.SymmetricDim()
	g := mat.NewSymDense(steps, nil)
	for lag := range steps {
		var sum float64
		for p := steps - 1 - lag; p >= 0; p-- {
			sum += h.At(p, p+lag)
			g.SetSym(p, p+lag, sum)
		}
	}
	return gramResponse{h, g}
}

// Error returns rᵀGr and writes 2Gr.
func (g gramResponse) Error(grad, r []float64) float64 {
	y, x := mat.NewVecDense(len(r), grad), mat.NewVecDense(len(r), r)
	y.MulVec(g.g, x)
	y.ScaleVec(2, y)
	return mat.Dot(x, y) / 2
}

// Columns returns the matrix Q for the Gram matrix.
func (g gramResponse) Columns(r []float64, size int) (*mat.SymDense, error) {
	return gramColumns(g.h, r, size), nil
}

// seriesObjective is the logarithm of a bound of sens² times squared error, as a function of a family's parameters.
type seriesObjective struct {
	family       family
	pull         pull
	response     Response
	sum          seriesSum
	c, r, gc, gr []float64 // series of the last Value, and derivatives of sens² by c and of the error by r
	support      []float64 // c without coefficients that are always zero
	sens, error  float64
}

// seriesSum is a bound of sens² of Toeplitz strategies.
type seriesSum interface {
	value(c []float64) float64 // c has no more coefficients than may differ from zero
	addGradient(gc []float64)  // at the last c
}

func newSeriesObjective(response Response, f family, sum seriesSum, steps int) *seriesObjective {
	o := &seriesObjective{family: f, response: response, sum: sum}
	for _, series := range []*[]float64{&o.c, &o.r, &o.gc, &o.gr} {
		*series = make([]float64, steps)
	}
	o.support = o.c
	if free, ok := f.(freeSeries); ok && !free.inverse {
		o.support = o.c[:free.bands]
	}
	return o
}

// Value returns the logarithm of the loss. The gradient by r comes with it.
func (o *seriesObjective) Value(x []float64) float64 {
	if o.pull = o.family.seriesTo(o.c, o.r, x); o.pull == nil {
		return math.Inf(1)
	}
	o.sens, o.error = o.sum.value(o.support), o.response.Error(o.gr, o.r)
	if !(o.error > 0) || !(o.sens > 0) || math.IsInf(o.error*o.sens, 1) {
		return math.Inf(1)
	}
	return math.Log(o.sens) + math.Log(o.error)
}

// GradientTo writes the gradient of Value at its last point.
func (o *seriesObjective) GradientTo(dst []float64) {
	clear(o.gc)
	o.sum.addGradient(o.gc[:len(o.support)])
	floats.Scale(1/o.sens, o.gc)
	floats.Scale(1/o.error, o.gr)
	o.pull(dst, o.gc, o.gr)
}

// mostSearchProducts is how many products of coefficients a step of a search is worth; for more it makes the majorant
// small.
const mostSearchProducts = 5e7

// cyclicSum is the largest sum of magnitudes of a pattern under cyclic participation or, where that takes long, its
// majorant.
type cyclicSum struct {
	schema participation.Cyclic
	c      []float64
	first  int // step of the pattern; -1: it is the majorant
}

func (s *cyclicSum) value(c []float64) (sum float64) {
	s.c, s.first = c, -1
	if strategy.SumProducts(c, s.schema) > mostSearchProducts {
		return strategy.ToeplitzMajorant(c, s.schema, nil)
	}
	sum, s.first = strategy.ToeplitzSum(c, s.schema)
	return sum
}

func (s *cyclicSum) addGradient(gc []float64) {
	if s.first < 0 {
		strategy.ToeplitzMajorant(s.c, s.schema, gc)
		return
	}
	strategy.ToeplitzSumGradient(s.c, s.schema, s.first, gc)
}

// patternSums are the sums Σ_{s,t∈π} δ_s δ_t |X[s,t]| of patterns, for δ of one unless delta is changed.
type patternSums struct {
	steps    int
	patterns [][]int
	products [][]float64 // sums Σ_{j<i} c_j c_(j+lag) of each lag, empty where they were not asked for
	delta    []float64

	c     []float64 // the series of the last value
	sums  []float64
	worst int // pattern of the largest sum
}

// newPatternSums returns the sums of all patterns where they can be listed. Of min-sep they are of those whose steps are
// exactly b apart, which hold the worst one if the series is non-negative and decreasing; see seriesSearch.minimizeMinSep.
func newPatternSums(schema participation.Schema) *patternSums {
	p := &patternSums{steps: schema.Steps(), patterns: schema.Disjoint(), delta: slices.Repeat([]float64{1}, schema.Steps())}
	switch s := schema.(type) {
	case interface{ Patterns() [][]int }:
		p.patterns = s.Patterns()
	case participation.MinSep:
		p.patterns = s.Cyclic().Patterns()
	}
	p.sums, p.products = make([]float64, len(p.patterns)), make([][]float64, p.steps)
	return p
}

// value returns the largest sum.
func (p *patternSums) value(c []float64) float64 {
	p.c = c
	for lag := range p.products {
		p.products[lag] = p.products[lag][:0]
	}
	for i, pattern := range p.patterns {
		p.sums[i] = p.sum(pattern, nil)
	}
	p.worst = floats.MaxIdx(p.sums)
	return p.sums[p.worst]
}

func (p *patternSums) addGradient(gc []float64) {
	p.sum(p.patterns[p.worst], &magnitudeGradient{1, gc, make([]float64, p.steps)})
}

// product returns Σ_{j<length} c_j c_(j+lag).
func (p *patternSums) product(lag, length int) float64 {
	if len(p.products[lag]) == 0 {
		sums := append(p.products[lag], 0)
		for j := 0; j+lag < len(p.c); j++ {
			sums = append(sums, sums[j]+p.c[j]*p.c[j+lag])
		}
		p.products[lag] = sums
	}
	return p.products[lag][length]
}

// sum returns the sum of a pattern, and adds weight times its gradient if that is wanted.
func (p *patternSums) sum(pattern []int, g *magnitudeGradient) float64 {
	var total float64
	for i, s := range pattern {
		for _, t := range pattern[i:] {
			lag := t - s
			length := min(len(p.c)-lag, p.steps-t) // rows that both columns have
			if length <= 0 {
				break
			}
			x := p.product(lag, length)
			factor := p.delta[s] * p.delta[t]
			if lag > 0 {
				factor *= 2
			}
			total += factor * math.Abs(x)
			if g == nil || x == 0 {
				continue
			}
			sign := g.weight * factor * math.Copysign(1, x)
			floats.AddScaled(g.c[:length], sign, p.c[lag:lag+length])
			floats.AddScaled(g.c[lag:lag+length], sign, p.c[:length])
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
