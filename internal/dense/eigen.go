package dense

import (
	"math"

	"gonum.org/v1/gonum/mat"

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
	if !finite(a[:n*n]) {
		return nil, false
	}
	d, e, tau := gemm.Tridiagonalize(a, n)
	if !diagonalizeByHalves(d, e, vectors, scratch[0], scratch[1]) {
		return nil, false
	}
	gemm.ReflectRows(vectors, a, n, tau)
	return d, finite(d) && finite(vectors[:n*n]) // not so where reflectors are of subnormal length
}

// Spectrum returns the eigenvalues of a symmetric matrix, ascending, and its eigenvectors, a column each, as gonum's
// mat.EigenSym computes them. Not ok if that does not converge.
func Spectrum(a mat.Symmetric) (values []float64, vectors *mat.Dense, ok bool) {
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		return nil, nil, false
	}
	vectors = &mat.Dense{}
	eigen.VectorsTo(vectors)
	return eigen.Values(nil), vectors, true
}

// finite reports whether all numbers are finite.
func finite(x []float64) bool {
	for _, v := range x {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// largest returns the largest magnitude of a diagonal d and the numbers e beside it.
func largest(d, e []float64) (most float64) {
	for i, v := range d {
		most = math.Max(most, math.Abs(v))
		if i < len(e) {
			most = math.Max(most, math.Abs(e[i]))
		}
	}
	return most
}

// mostSweeps is how many sweeps are made for a number of the diagonal, at most.
const mostSweeps = 40

// iterate makes steps of QR until the numbers e beside the diagonal d are zeros, relative to the largest. A step,
// chase, is for a block without zeros in e, and returns its rotations; small is what counts as zero. Not ok if it does
// not end.
func iterate(d, e []float64, chase func(d, e []float64, small float64) []float64) (sweeps []gemm.Sweep, ok bool) {
	small := ulp * largest(d, e)
	last := len(d) - 1
	for budget := mostSweeps * len(d); last > 0; budget-- {
		if budget == 0 {
			return nil, false
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
		sweeps = append(sweeps, gemm.Sweep{First: first, Turns: chase(d[first:last+1], e[first:last], small)})
	}
	return sweeps, true
}

// chaseSymmetric is a step of QR with Wilkinson's shift for a symmetric tridiagonal matrix, whose diagonal becomes its
// eigenvalues (Golub & Van Loan, Algorithm 8.3.3). It returns the rotations of rows and columns.
func chaseSymmetric(d, e []float64, _ float64) (turns []float64) {
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
