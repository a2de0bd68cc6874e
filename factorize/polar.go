package factorize

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/internal/lists"
	"mafalda/internal/parallel"
)

// polar is a matrix U = Σ w_i v_iᵀ that is about orthogonal, and about the polar factor of N = Σ d_i w_i v_iᵀ: the v_i
// are the eigenvectors of NᵀN, and N v_i = d_i w_i. All of it are products, but for the eigenvectors. Where N is
// graded, they are found level by level, and the w_i of the d_i that are rounding of the largest are zero: not known.
//
// The roots of the eigenvalues of NᵀN have half of the digits only. The d_i of at least 10⁻⁴ of the largest, and
// their v_i and w_i, are right to about 10⁻¹² of it. They are a level; the other columns of NV, less their shares of
// the level's w_i, are a matrix B whose largest singular value is 10⁴ times less, and whose rounding in BᵀB is 10⁸
// times less: its eigenvectors turn these columns of V, and of B, and so on. What is 10⁻¹³ of the largest or less is
// rounding. Sorting and turning keeps V orthogonal; what a v_i has of the vectors of another level is not taken out,
// being uσ₁²/σ_i² at most, u the rounding: an error of uσ₁²/σ_i ≤ 10⁻¹²σ₁ in (NᵀN)^½.
//
// # The bound
//
// With E = WᵀW - I
//
//	U = W(1 - E/2)Vᵀ,     ‖U‖ ≤ ‖V‖ ≤ √(1 + ‖VᵀV - 1‖_F)     where ‖E‖ ≤ 3,
//
// since the squares of the singular values of W(1 - E/2) are (1+e)(1 - e/2)² = 1 - e²(3-e)/4 ≤ 1. (Where w_i = 0,
// e_i = -1 counts as 0 in E, which changes nothing: row and column i of WᵀW are zero.) So ⟨N, U⟩/‖V‖ ≤ ‖N‖_*,
// whatever V, W and d are: whether the eigenvectors are good decides only how close it is. It is within ‖E‖², and the
// d_i left out, of ‖N‖_*.
//
// Of all that the rounding is subtracted. With γ = 1.01(T+2)u, E is known up to 2γ‖W‖_F², hence the norm up to
// 4γ(‖W‖_F²+1); the inner products ⟨w_i, Nv_i⟩ up to 2γ‖w_i‖‖N‖_F‖v_i‖ each, by Cauchy-Schwarz 4γT‖N‖_F with their
// sum; and N, computed from R and F, up to γ‖R‖_F‖F‖_F in Frobenius norm, times ‖U‖_F ≤ √T‖U‖. Where ‖E‖_F > 4e-5, or
// 1e-9 of ‖N‖_* is left out, the singular values are computed by the bidiagonal form instead.
type polar struct {
	steps   int
	scratch *scratch
	d       []float64
	w, v    []float64 // a vector each row
}

const (
	gramSteps  = 512   // up to which the bidiagonal form takes milliseconds, and its digits are kept
	gramGrade  = 1e-6  // of the least d_i, relative to the largest, for one level
	gramExcess = 4e-5  // of WᵀW - I in Frobenius norm, for U to be the polar factor up to 1e-9
	gramLoss   = 1e-9  // of the nuclear norm, which the d_i of unknown w_i may be, relatively
	levelGrade = 1e-4  // of a d_i, relative to the largest of its level, to belong to it
	leastGrade = 1e-13 // of a d_i, relative to the largest of all, to be more than rounding
)

// newPolar returns the polar factor of N, T×T row by row. Its matrices are from scratch, for release to give back. It
// is not ok, and nothing is to be released, where numbers are out of range.
func newPolar(n []float64, steps int, s *scratch) (p *polar, ok bool) {
	p = &polar{steps: steps, scratch: s, w: s.take(), v: s.take()}
	gram, more := s.take(), s.take()
	copy(p.w, n)
	dense.Transpose(p.w, steps)
	dense.MulSymTo(gram, p.w, p.w, steps)
	p.d, ok = dense.Eigen(p.v, gram, [2][]float64{p.w, more}, steps)
	s.giveBack(gram, more)
	if !ok {
		p.release()
		return nil, false
	}
	dense.MulTo(p.w, p.v, n, steps)
	p.measure(0)
	if floats.Min(p.d) > gramGrade*floats.Max(p.d) {
		if p.normalize(0, steps); p.orthogonal() {
			return p, true
		}
		dense.MulTo(p.w, p.v, n, steps)
	}
	if !p.grade() {
		p.release()
		return nil, false
	}
	return p, true
}

// measure sets the d_i of rows of W from some row on to their norms.
func (p *polar) measure(from int) {
	parallel.For(p.steps-from, func(i int) { p.d[from+i] = floats.Norm(p.row(p.w, from+i), 2) })
}

// normalize divides rows of W by their d_i.
func (p *polar) normalize(from, to int) {
	parallel.For(to-from, func(i int) { floats.Scale(1/p.d[from+i], p.row(p.w, from+i)) })
}

// grade turns the rows N v_i of W into the w_i of a graded N. The squares in NᵀN hide what is less than the root of an
// ulp of the largest d_i, but vectors whose d_i are not small beside it are right to 1e-12: these are a level. The
// other N v_i, less their shares of the level's w_i, are a matrix without the large numbers, to which turn does the
// same again. The v_i are sorted by their d_i then, and as orthogonal as before. It is not ok if numbers are out of
// range.
func (p *polar) grade() (ok bool) {
	p.sort(0)
	largest := p.d[0]
	for from := 0; from < p.steps; {
		if !(p.d[from] > leastGrade*largest) {
			clear(p.w[from*p.steps:])
			return true
		}
		to := from + 1
		for to < p.steps && p.d[to] > levelGrade*p.d[from] {
			to++
		}
		p.normalize(from, to)
		from = to
		if from < p.steps && !p.turn(from) {
			return false
		}
	}
	return true
}

// turn takes the rows of W from some row on to what the rows before them, which are orthonormal, leave of them, and
// turns these rows of W and V to the singular vectors of that.
func (p *polar) turn(from int) (ok bool) {
	left := p.steps - from
	a, b, c, e := p.scratch.take(), p.scratch.take(), p.scratch.take(), p.scratch.take()
	defer p.scratch.giveBack(a, b, c, e)
	known, rest := rowsOf(p.w, from, p.steps), rowsOf(p.w[from*p.steps:], left, p.steps)
	shares, gram, turned := rowsOf(a, left, from), rowsOf(a, left, left), rowsOf(a, left, p.steps)
	gemm.Gemm(blas.NoTrans, blas.Trans, 1, rest, known, 0, shares)
	gemm.Gemm(blas.NoTrans, blas.NoTrans, -1, shares, known, 1, rest)
	gemm.Gemm(blas.NoTrans, blas.Trans, 1, rest, rest, 0, gram)
	if _, ok := dense.Eigen(b, a, [2][]float64{c, e}, left); !ok {
		return false
	}
	for _, m := range []blas64.General{rest, rowsOf(p.v[from*p.steps:], left, p.steps)} {
		gemm.Gemm(blas.NoTrans, blas.NoTrans, 1, rowsOf(b, left, left), m, 0, turned)
		copy(m.Data, a)
	}
	p.measure(from)
	p.sort(from)
	return true
}

// sort puts the rows of W and V from some row on in the order of their d_i, largest first.
func (p *polar) sort(from int) {
	order := lists.UpTo(p.steps - from)
	d := slices.Clone(p.d[from:])
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(d[j], d[i]) })
	sorted := p.scratch.take()
	defer p.scratch.giveBack(sorted)
	for _, m := range [][]float64{p.w[from*p.steps:], p.v[from*p.steps:]} {
		for to, i := range order {
			copy(p.row(sorted, to), p.row(m, i))
		}
		copy(m, sorted)
	}
	for to, i := range order {
		p.d[from+to] = d[i]
	}
}

func (p *polar) release() { p.scratch.giveBack(p.w, p.v) }

func (p *polar) row(m []float64, i int) []float64 { return m[i*p.steps : (i+1)*p.steps] }

// excess writes E = MMᵀ - I for the rows of M, W or V, that are not zero, and returns ‖E‖_F, rounded up, and how far E
// may be off by the rounding γ‖M‖_F² of the product.
func (p *polar) excess(e, m []float64) (norm, wrong float64) {
	dense.MulSymTo(e, m, m, p.steps)
	var trace float64
	for i := range p.steps {
		if d := &e[i*p.steps+i]; *d != 0 {
			trace += *d
			*d--
		}
	}
	wrong = 2 * roundingError(p.steps) * trace
	return 1.001*floats.Norm(e, 2) + wrong, wrong
}

// orthogonal reports whether the w_i that are known are orthogonal enough for U to be the polar factor.
func (p *polar) orthogonal() bool {
	e := p.scratch.take()
	defer p.scratch.giveBack(e)
	norm, _ := p.excess(e, p.w)
	return norm <= gramExcess/4
}

// roundingError returns more than the relative error of a sum of products, for each of the terms.
func roundingError(terms int) float64 { return 1.01 * float64(terms+2) * 0x1p-53 }

// nuclear returns a number that the nuclear norm of N is not below, by ‖N‖_* ≥ ⟨N, U⟩/‖U‖, which holds for every U: for
// W(I - E/2)Vᵀ, in columns, with E = WᵀW - I. As (1+e)(1 - e/2)² = 1 - e²(3-e)/4, its norm is at most that of V where
// ‖E‖ ≤ 3, and where E is small it is the polar factor up to second order. n is N but for an error of such a Frobenius
// norm. The bound is tight if all of the polar factor is known.
func (p *polar) nuclear(n []float64, wrong float64) (nuclear float64, tight bool) {
	e, near := p.scratch.take(), p.scratch.take()
	defer p.scratch.giveBack(e, near)
	v, _ := p.excess(e, p.v)
	w, off := p.excess(e, p.w)
	if !(w <= 3) {
		return 0, false
	}
	norm := (1 + 4*(off+roundingError(p.steps))) * math.Sqrt(1+v)
	square := func(m []float64) blas64.General { return rowsOf(m, p.steps, p.steps) }
	copy(near, p.w)
	gemm.Gemm(blas.NoTrans, blas.NoTrans, -0.5, square(e), square(p.w), 1, square(near))
	dense.MulTo(e, p.v, n, p.steps) // NV
	inner := make([]float64, p.steps)
	parallel.For(p.steps, func(i int) { inner[i] = floats.Dot(p.row(near, i), p.row(e, i)) })
	// γ‖w_i‖‖N‖_F‖v_i‖ is the rounding of each, twice, and of their sum
	sum := floats.Sum(inner)
	sum -= norm * (4*roundingError(p.steps)*float64(p.steps)*floats.Norm(n, 2) + math.Sqrt(float64(p.steps))*wrong)
	var unknown, all float64
	for i, d := range p.d {
		if all += d; floats.Norm(p.row(p.w, i), 2) == 0 {
			unknown += d
		}
	}
	return math.Max(sum/norm, 0) * (1 - 1e-15), w <= gramExcess && v <= gramLoss && unknown <= gramLoss*all
}
