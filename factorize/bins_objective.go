package factorize

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
)

// binsObjective is f(θ) = log tr(C⁻ᵀHC⁻¹) + log ⟨V, G⟩ for C[t,s] = θ[t,s]² within the bands, so that no entry of C
// is negative, as a function of T² numbers; the numbers outside the bands stay zero. G is the b×b Gram matrix of
// the m_j, the sums of the columns j, j+b, ..., and V has no negative entry. The scale of C does not matter. Without
// V the largest G[j,j], to which all are scaled, decides the privacy: f = log tr(C⁻ᵀHC⁻¹) for C = θ² with column s
// divided by g = √G[j,j], j = s mod b. It is an optim.Objective.
type binsObjective struct {
	steps, bins, bands int
	h                  []float64     // T×T, all matrices row by row
	weights            *mat.SymDense // V; nil: the norms of columns count instead

	strategy *mat.TriDense // θ² of the last θ
	theta    []float64
	noising  *mat.TriDense
	inverse  []float64  // C⁻¹
	upper    []float64  // C⁻ᵀ
	half     []float64  // HC⁻¹
	work     []float64  // HC⁻¹C⁻ᵀ
	sums     *mat.Dense // T×b: m_j are the columns
	weighted *mat.Dense // sums·V
	squared  float64    // tr(C⁻ᵀHC⁻¹)
	privacy  float64    // ⟨V, G⟩; 1 without V
	norms    []float64  // g of every column; ones with V
	scaled   []float64  // g H g; not in use with V
}

func newBinsObjective(h *mat.SymDense, p Bins, weights *mat.SymDense) *binsObjective {
	n := h.SymmetricDim()
	square := func() []float64 { return make([]float64, n*n) }
	return &binsObjective{steps: n, bins: p.Number, bands: cmp.Or(p.Bandwidth, n), h: numbersOf(h),
		weights: weights, strategy: mat.NewTriDense(n, mat.Lower, nil), noising: mat.NewTriDense(n, mat.Lower, nil),
		theta: square(), inverse: square(), upper: square(), half: square(), work: square(),
		sums: mat.NewDense(n, p.Number, nil), weighted: mat.NewDense(n, p.Number, nil), norms: slices.Repeat([]float64{1}, n),
		scaled: square()}
}

// Value returns f, or +Inf if C has no inverse.
func (o *binsObjective) Value(theta []float64) float64 {
	n := o.steps
	copy(o.theta, theta)
	o.sums.Zero()
	for t := range n {
		row := o.sums.RawRowView(t)
		for s := max(0, t-o.bands+1); s <= t; s++ {
			v := theta[t*n+s] * theta[t*n+s]
			o.strategy.SetTri(t, s, v)
			row[s%o.bins] += v
		}
	}
	if dense.InverseTri(o.noising, o.strategy) != nil {
		return math.Inf(1)
	}
	copy(o.inverse, numbersOf(o.noising))
	copy(o.upper, o.inverse)
	dense.Transpose(o.upper, n)
	dense.MulTo(o.half, o.weigh(), o.upper, n)
	o.squared = floats.Dot(o.inverse, o.half)
	if f := math.Log(o.squared) + math.Log(o.privacy); !math.IsNaN(f) {
		return f
	}
	return math.Inf(1)
}

// weigh sets what privacy is, and returns H as the columns' scales leave it.
func (o *binsObjective) weigh() []float64 {
	n := o.steps
	if o.weights != nil {
		o.weighted.Mul(o.sums, o.weights)
		o.privacy = floats.Dot(o.weighted.RawMatrix().Data, o.sums.RawMatrix().Data)
		return o.h
	}
	o.privacy = 1
	for s := range o.bins {
		var square float64
		for t := range n {
			square += o.sums.At(t, s) * o.sums.At(t, s)
		}
		for column := s; column < n; column += o.bins {
			o.norms[column] = math.Sqrt(square)
		}
	}
	for s, g := range o.norms {
		for t, v := range o.h[s*n : (s+1)*n] {
			o.scaled[s*n+t] = g * o.norms[t] * v
		}
	}
	return o.scaled
}

// slopes sets weighted so that ⟨weighted, change of sums⟩ is half the change of privacy, or, without V, of the error
// by the norms, in parts of the error.
func (o *binsObjective) slopes() {
	n := o.steps
	dense.MulTo(o.work, o.inverse, o.inverse, n) // C⁻¹C⁻ᵀ
	o.weighted.Zero()
	for s, g := range o.norms { // ∂tr/∂log g of this column is 2 ⟨row of gHg, row of C⁻¹C⁻ᵀ⟩
		slope := floats.Dot(o.scaled[s*n:(s+1)*n], o.work[s*n:(s+1)*n]) / (o.squared * g * g)
		j := s % o.bins
		for t := range n {
			o.weighted.Set(t, j, o.weighted.At(t, j)+slope*o.sums.At(t, j))
		}
	}
}

// GradientTo writes 2θ ∘ (-2 C⁻ᵀHC⁻¹C⁻ᵀ/tr + 2 (MV)[t, s mod b]/⟨V, G⟩) to dst, where the columns of M are the m_j.
func (o *binsObjective) GradientTo(dst []float64) {
	n := o.steps
	if o.weights == nil {
		o.slopes()
	}
	dense.MulTo(o.work, o.half, o.inverse, n)
	dense.Transpose(o.work, n)
	dense.MulTo(dst, o.upper, o.work, n)
	for t := range n {
		row := dst[t*n : (t+1)*n]
		for s := range row {
			if s > t || s <= t-o.bands {
				row[s] = 0
				continue
			}
			row[s] = 4 * o.theta[t*n+s] * (o.weighted.At(t, s%o.bins)/o.privacy - row[s]/o.squared)
		}
	}
}

// matrix returns C of the last θ, scaled so that privacy is 1, and entries that are nothing beside the diagonal as 0.
func (o *binsObjective) matrix() *mat.TriDense {
	c := mat.NewTriDense(o.steps, mat.Lower, nil)
	for t := range o.steps {
		for s := range t + 1 {
			if v := o.strategy.At(t, s); v > 1e-9*o.strategy.At(s, s) {
				c.SetTri(t, s, v/(o.norms[s]*math.Sqrt(o.privacy)))
			}
		}
	}
	return c
}
