package dense

import (
	"math"

	"mafalda/internal/gemm"
)

// Eigen returns the eigenvalues of a symmetric n×n matrix, of which the upper triangle is used, in no order, and writes
// its eigenvectors to vectors, a row each: what gonum's mat.EigenSym computes, several times faster, with errors of
// some n ulps of the largest value. The matrix is overwritten, and so are two more for scratch. Not ok are numbers that
// are not finite, also among the results: of matrices that are nearly subnormal.
func Eigen(vectors, a []float64, scratch [2][]float64, n int) (values []float64, ok bool) {
	if n == 0 {
		return nil, true
	}
	for _, v := range a[:n*n] {
		if v-v != 0 {
			return nil, false
		}
	}
	d, e, tau := gemm.Tridiagonalize(a, n)
	if !diagonalizeByHalves(d, e, vectors, scratch[0], scratch[1]) {
		return nil, false
	}
	gemm.ReflectRows(vectors, a, n, tau)
	var sum float64 // which is not finite if one of the numbers is not: some are where reflectors are of subnormal length
	for _, v := range d {
		sum += v
	}
	for _, v := range vectors[:n*n] {
		sum += v
	}
	return d, sum-sum == 0
}

// tridiagonal has a diagonal and the numbers beside it, and what was done to its rows.
type tridiagonal struct {
	d, e   []float64
	sweeps []gemm.Sweep
}

// diagonalize replaces d by the eigenvalues, by the implicit QR iteration with Wilkinson's shift (Golub & Van Loan,
// Algorithm 8.3.3); errors are small relative to the largest. Not ok if it does not end.
func (t *tridiagonal) diagonalize() (ok bool) {
	d, e := t.d, t.e
	var largest float64
	for i, v := range d {
		largest = math.Max(largest, math.Abs(v))
		if i < len(e) {
			largest = math.Max(largest, math.Abs(e[i]))
		}
	}
	small := ulp * largest
	last := len(d) - 1
	for budget := bidiagonalSweeps * len(d); last > 0; budget-- {
		if budget == 0 {
			return false
		}
		first := last
		for first > 0 && math.Abs(e[first-1]) > small {
			first--
		}
		if first > 0 {
			e[first-1] = 0
		}
		if first == last {
			last--
			continue
		}
		t.sweeps = append(t.sweeps, gemm.Sweep{First: first, Turns: chaseSymmetric(d[first:last+1], e[first:last])})
	}
	return true
}

// chaseSymmetric is a step of QR. It returns the rotations of rows and columns.
func chaseSymmetric(d, e []float64) (turns []float64) {
	last := len(e)
	turns = make([]float64, 0, 2*last)
	half := (d[last-1] - d[last]) / 2
	shift := d[last] - e[last-1]*(e[last-1]/(half+math.Copysign(math.Hypot(half, e[last-1]), half)))
	f, g := d[0]-shift, e[0]
	for i := range last {
		c, s, r := turn(f, g)
		turns = append(turns, c, s)
		if i > 0 {
			e[i-1] = r
		}
		upper, off, lower := d[i], e[i], d[i+1]
		move := s * (s*(lower-upper) + 2*c*off)
		d[i], d[i+1] = upper+move, lower-move
		e[i] = c*(s*(lower-upper)+c*off) - s*s*off
		if i+1 < last {
			f, g = e[i], s*e[i+1]
			e[i+1] *= c
		}
	}
	return turns
}
