package strategy

import (
	"math"
	"slices"

	"mafalda/internal/lists"
	"mafalda/internal/rows"
	"mafalda/participation"
)

// Polynomial is e_t = e_0 + e_1 t/T + e_2 (t/T)² + …, one over the scales of columns.
type Polynomial []float64

// MaxColumns is the most coefficients that scales of columns have.
const MaxColumns = 8

// At returns e_t for T steps, rounded after every product and sum on every machine.
func (p Polynomial) At(t, steps int) float64 {
	u, v := float64(t)/float64(steps), 0.0
	for _, e := range slices.Backward(p) {
		v = float64(v*u) + e
	}
	return v
}

// Scales returns the scales 1/e of T columns.
func (p Polynomial) Scales(steps int) []float64 {
	return lists.Make(steps, func(t int) float64 { return 1 / p.At(t, steps) })
}

// ColumnsSum returns an upper bound of sens² of C[t,s] = c_(t-s)·d_s under cyclic participation with T ≤ kb, and the
// first step of the pattern that it comes from: the largest sum over a pattern of the magnitudes of X = CᵀC. With A of
// ToeplitzSum, X[t-lb, t] = d_(t-lb) d_t A_l(T-1-t). What rounding may have taken from it is added: a partial sum
// is wrong by less than T roundings of the sum of its magnitudes, and the sum over a pattern by as many of its own as it
// has terms. O(kT).
func ColumnsSum(c, d []float64, schema participation.Cyclic) (squared float64, first int) {
	steps, b := schema.Steps(), schema.Separation()
	rounding := 8 * float64(steps) * 0x1p-53
	sums := make([]float64, min(b, steps)) // by first step
	for l := range sharedLags(c, schema) {
		lag := l * b
		var sum, magnitudes float64
		for t := steps - 1; t >= lag; t-- {
			if j := steps - 1 - t; j+lag < len(c) {
				product := c[j] * c[j+lag]
				sum += product
				magnitudes += math.Abs(product)
			}
			sums[t%b] += pairWeight(l) * d[t-lag] * d[t] * (math.Abs(sum) + rounding*magnitudes)
		}
	}
	first = worst(sums)
	return sums[first] * (1 + columnsRounding(c, schema)), first
}

// columnsRounding bounds what ColumnsSum may lose to rounding, relatively: in partial sums, in their products, and in
// the sums over patterns.
func columnsRounding(c []float64, schema participation.Cyclic) float64 {
	terms := float64(sharedLags(c, schema)) * float64(schema.Steps()/schema.Separation()+1)
	return (8*float64(schema.Steps()) + 2*terms) * 0x1p-53
}

// scaledRows multiplies the rows of a filter with e.
type scaledRows struct {
	Filter
	e     Polynomial
	steps int
}

func (s scaledRows) Steps() int { return s.steps }

func (s scaledRows) StepTo(dst, z []float64, kept [][]float64, t int) {
	s.Filter.StepTo(dst, z, kept, t)
	rows.ScaleTo(dst, s.e.At(t, s.steps), dst)
}
