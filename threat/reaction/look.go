package reaction

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
)

// feedback is what the difference of two runs is steered with in one step, ρ = F·(ζ, μ), and what it costs.
type feedback struct {
	gate *gate
	f    []float64 // F, h×k
	q    []float64 // Q, n×n: a difference σ before noise costs σᵀQσ from here on
}

// precision is how exact a Q must be.
type precision int

const (
	rough  precision = iota // Q of an exact F: enough to make multipliers of
	proven                  // raised by what rounding may have taken from it
)

// look returns the best feedback before what costs P from the next step on, nil for nothing: the function of the
// theorem from P_{t+1} to Θ_t and Q_t. Q is a bound whatever F is, so that an inexact inverse makes it larger, never
// too small:
//
//	F = Z·[weight, −Y_ρμ],     Z = (weight + Y_ρρ)⁻¹,     Y = ontoᵀ P onto,
//	Q = paid + intoᵀ{weight·([1, 0] − F)ᵀ([1, 0] − F) + [F; 0, 1]ᵀ Y [F; 0, 1]}into.
//
// It returns nil if numbers are too large to go on.
func look(g *gate, m int, p []float64, how precision) *feedback {
	h, k, n := g.h, g.k, g.into.cols
	out := &feedback{gate: g, f: borrowZeros(h * k)}
	var cost []float64 // of (ζ, μ), k×k
	if p == nil {
		for i := range h {
			out.f[i*k+i] = 1
		}
		cost = borrowZeros(k * k)
	} else if k > 0 {
		y := g.onto.congruence(p)
		if h > 0 && !steer(out.f, y, h, k, g.weight) {
			return nil
		}
		cost = joseph(out.f, y, h, k, g.weight, how)
		release(y)
	}
	var q []float64
	if k > 0 && p != nil {
		q = g.into.congruence(cost)
	} else {
		q = borrowZeros(n * n)
	}
	for i := range m {
		add(q[i*n:i*n+m], 1, g.paid[i*m:(i+1)*m])
	}
	out.q = q
	if how == proven {
		out.makeUp(m, p, cost)
	}
	release(cost)
	return out
}

// inexact is how far bases of seen and unseen messages may be from orthogonal, and products of W with them from exact.
const inexact = 1e-14

// makeUp adds to Q what rounding may have taken from it. Where the basis is not made of unit vectors, what is seen
// would differ by up to inexact·|ρ|, and the next state by as much of what messages are: a second shift of that size
// hides it. With |c + c'|² ≤ (1 + η)|c|² + (1 + 1/η)|c'|², η = 1e-9, it costs 1e-19·(weight + the largest of P)·|ρ|².
func (f *feedback) makeUp(m int, p, cost []float64) {
	g, n := f.gate, f.gate.into.cols
	h, k := g.h, g.k
	weights := weightsOf(f.q, n)
	coordinates := g.into.abs().times(weights, 1)
	lost := absTimes(cost, k, k, coordinates)
	if h > 0 {
		rest := borrowZeros(h * k)
		defer release(rest)
		add(rest, -1, f.f)
		for i := range h {
			rest[i*k+i]++
		}
		add(lost, g.weight, absTransposeTimes(rest, h, k, absTimes(rest, h, k, coordinates)))
	}
	if p != nil && k > 0 {
		after := append(absTimes(f.f, h, k, coordinates), coordinates[h:]...)
		priced := g.onto.abs().transposeTimes(absTimes(p, n, n, g.onto.abs().times(after, 1)), 1)
		if h > 0 {
			add(lost, 1, absTransposeTimes(f.f, h, k, priced[:h]))
		}
		add(lost[h:], 1, priced[h:])
	}
	errors := g.into.abs().transposeTimes(lost, 1)
	add(errors[:m], 1, absTimes(g.paid, m, m, weights[:m]))
	raiseBy(f.q, n, scaled(errors, gamma(2*n+k)), weights)
	if g.exact {
		return
	}
	largest := g.weight
	for i := 0; i < len(p); i += n + 1 {
		largest = math.Max(largest, p[i])
	}
	scaled(f.q, 1+2e-9)
	for i := range n {
		f.q[i*n+i] += 2 * inexact * inexact * 1e9 * float64(n) * (g.weight + largest)
	}
}

// steer writes F.
func steer(f, y []float64, h, k int, weight float64) bool {
	z := borrow(h * h)
	defer release(z)
	for i := range h {
		copy(z[i*h:(i+1)*h], y[i*k:i*k+h])
		z[i*h+i] += weight
	}
	factor, ok := gemm.Potrf(blas64.Symmetric{N: h, Stride: h, Data: z, Uplo: blas.Lower})
	if !ok {
		return false
	}
	if _, ok = gemm.Potri(factor); !ok {
		return false
	}
	dense.Mirror(z, h)
	for i := range h {
		for j := range h {
			f[i*k+j] = weight * z[i*h+j]
		}
	}
	if k > h {
		across := blas64.General{Rows: h, Cols: k - h, Stride: k, Data: y[h:]}
		gemm.Gemm(blas.NoTrans, blas.NoTrans, -1, general(h, h, z), across, 0,
			blas64.General{Rows: h, Cols: k - h, Stride: k, Data: f[h:]})
	}
	return true
}

// joseph returns weight·([1, 0] − F)ᵀ([1, 0] − F) + [F; 0, 1]ᵀ Y [F; 0, 1], which for an exact F is Y [F; 0, 1].
func joseph(f, y []float64, h, k int, weight float64, how precision) []float64 {
	if h == 0 {
		cost := borrow(k * k)
		copy(cost, y)
		return cost
	}
	product := borrowZeros(k * k)
	for i := range k {
		copy(product[i*k+h:(i+1)*k], y[i*k+h:(i+1)*k])
	}
	left := blas64.General{Rows: k, Cols: h, Stride: k, Data: y}
	gemm.Gemm(blas.NoTrans, blas.NoTrans, 1, left, general(h, k, f), 1, general(k, k, product))
	if how == rough {
		symmetrize(product, k)
		return product
	}
	rest, cost := borrow(h*k), borrowZeros(k*k)
	defer release(rest, product)
	for i, v := range f {
		rest[i] = -v
	}
	for i := range h {
		rest[i*k+i]++
	}
	for i := h; i < k; i++ {
		copy(cost[i*k:(i+1)*k], product[i*k:(i+1)*k])
	}
	lower := blas64.Symmetric{N: k, Stride: k, Data: cost, Uplo: blas.Lower}
	if h == k { // F is symmetric: F·(YF) is the product with the rows of (YF)ᵀ, of which half will do
		dense.Transpose(product, k)
		dense.MulSymTo(cost, f, product, k)
	} else {
		gemm.Gemm(blas.Trans, blas.NoTrans, 1, general(h, k, f), general(h, k, product), 1, general(k, k, cost))
		symmetrize(cost, k)
	}
	gemm.Syrk(blas.Trans, weight, general(h, k, rest), 1, lower)
	dense.Mirror(cost, k)
	return cost
}

// next returns the difference χ' after a step that starts with σ, each of width columns.
func (f *feedback) next(sigma []float64, width int) []float64 {
	free := f.free(sigma, width)
	defer release(free)
	return f.gate.onto.times(free, width)
}

// free returns the coordinates (ρ, μ) behind noise of a step that starts with σ.
func (f *feedback) free(sigma []float64, width int) []float64 {
	g := f.gate
	free := g.into.times(sigma, width) // (ζ, μ)
	if g.h > 0 {
		steered := borrow(g.h * width)
		gemm.Gemm(blas.NoTrans, blas.NoTrans, 1, general(g.h, g.k, f.f), general(g.k, width, free), 0,
			general(g.h, width, steered))
		copy(free, steered)
		release(steered)
	}
	return free
}
