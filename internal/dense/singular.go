package dense

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/lapack/gonum"

	"mafalda/internal/gemm"
	"mafalda/internal/lists"
)

// Singular returns the singular values of an n×n matrix, largest first, and writes its right singular vectors to
// vectors, a row each: what gonum's mat.SVD computes with SVDThinV, in 40 ms of CPU time instead of 105 for n = 380. It is
// gonum's reduction to a bidiagonal, a QR iteration that only writes down its rotations, and a kernel that applies all of
// them to 32 columns at a time, which stay in the cache (gemm.Rotate). Both have errors of some n ulps of the largest value. The matrix is overwritten. Not ok are numbers that are not finite.
func Singular(vectors, a []float64, n int) (values []float64, ok bool) {
	if n == 0 {
		return nil, true
	}
	if !finite(a[:n*n]) {
		return nil, false
	}
	d, e := make([]float64, n), make([]float64, n-1)
	tauQ, tauP := make([]float64, n), make([]float64, n)
	size := make([]float64, 1)
	lapack := gonum.Implementation{}
	lapack.Dgebrd(n, n, a, n, d, e, tauQ, tauP, size, -1)
	work := make([]float64, int(size[0]))
	lapack.Dgebrd(n, n, a, n, d, e, tauQ, tauP, work, len(work))
	sweeps, ok := bidiagonal(d, e)
	if !ok {
		return nil, false
	}
	rows := gemm.Reflected(a, n, tauP)
	Transpose(rows, n)
	gemm.Rotate(rows, n, sweeps)
	order := lists.UpTo(n)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(math.Abs(d[j]), math.Abs(d[i])) })
	values = make([]float64, n)
	for to, from := range order {
		values[to] = math.Abs(d[from])
		copy(vectors[to*n:(to+1)*n], rows[from*n:(from+1)*n])
	}
	return values, true
}

// bidiagonal replaces the diagonal d of an upper bidiagonal matrix, e above it, by its singular values, of either sign,
// in no order, and e by zeros. What it does to the columns are the sweeps, which make of the rows of the identity the
// right singular vectors. This is the QR iteration of Golub & Kahan (1965), with the shift of zero as Demmel & Kahan
// (1990) do it; errors are small relative to the largest value. Not ok if it does not end.
func bidiagonal(d, e []float64) (sweeps []gemm.Sweep, ok bool) {
	return iterate(d, e, func(d, e []float64, small float64) []float64 {
		singular := slices.ContainsFunc(d, func(v float64) bool { return math.Abs(v) <= small })
		shift := lastSingularValue(d, e)
		if singular || shift*shift <= 4*ulp*d[0]*d[0] {
			return chaseZero(d, e)
		}
		return chase(d, e, shift)
	})
}

// lastSingularValue returns the smaller singular value of the last two columns' upper triangle.
func lastSingularValue(d, e []float64) float64 {
	last := len(e)
	smaller, _ := gonum.Implementation{}.Dlas2(d[last-1], e[last-1], d[last])
	return smaller
}

// chase is a step of QR with such a shift: of BᵀB - σ². It returns the rotations of B's columns.
func chase(d, e []float64, shift float64) (turns []float64) {
	last := len(e)
	f := (math.Abs(d[0]) - shift) * (math.Copysign(1, d[0]) + shift/d[0])
	g := e[0]
	for i := range last {
		c, s, r := turn(f, g)
		turns = append(turns, c, s)
		if i > 0 {
			e[i-1] = r
		}
		f = c*d[i] + s*e[i]
		e[i] = c*e[i] - s*d[i]
		g = s * d[i+1]
		d[i+1] *= c
		c, s, d[i] = turn(f, g)
		f = c*e[i] + s*d[i+1]
		d[i+1] = c*d[i+1] - s*e[i]
		if i+1 < last {
			g = s * e[i+1]
			e[i+1] *= c
		}
	}
	e[last-1] = f
	return turns
}

// chaseZero is chase with a shift of zero. It makes the last of e zero if one of d is.
func chaseZero(d, e []float64) (turns []float64) {
	last := len(e)
	c, oldC, oldS := 1.0, 1.0, 0.0
	for i := range last {
		var s, r float64
		c, s, r = turn(d[i]*c, e[i])
		turns = append(turns, c, s)
		if i > 0 {
			e[i-1] = oldS * r
		}
		oldC, oldS, d[i] = turn(oldC*r, d[i+1]*s)
	}
	h := d[last] * c
	d[last], e[last-1] = h*oldC, h*oldS
	return turns
}

// turn returns the rotation with cf + sg = r and cg - sf = 0.
func turn(f, g float64) (c, s, r float64) {
	switch {
	case g == 0:
		return 1, 0, f
	case f == 0:
		return 0, 1, g
	}
	if r = math.Sqrt(f*f + g*g); !(r > 0x1p-500 && r < 0x1p500) {
		r = math.Hypot(f, g)
	}
	return f / r, g / r, r
}
