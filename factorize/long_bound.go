package factorize

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/participation"
)

// LongBound returns a lower bound of the loss sens(C)²·tr(C⁻ᵀHC⁻¹) of every strategy C, for very many steps. The
// Gram matrix is given by the impulse responses of a time-invariant workload, T numbers each: H = Σ_j R_jᵀR_j with the
// lower-triangular Toeplitz matrices R_j[t,s] = responses[j][t-s]. Kernels that are left out make the bound smaller.
//
// As for LowerBound, for every Λ = FFᵀ that is block diagonal over the residue classes modulo b, with a diagonal of at
// most y_i on block i, and every U with ‖U‖ ≤ 1,
//
//	loss(C) ≥ ‖RF‖_*² / Σ_i y_i,    ‖RF‖_* ≥ ⟨RF, U⟩,    R = [R_0; R_1; …].
//
// A period of b steps is cut into c pieces of ℓ steps. All residues of piece i have the same k×k block F_i, so that F
// moves whole pieces. Let P be the polynomials of degree below p on each piece, and Q = I - P. Then
//
//	U = P A P + Q (V ⊗ B_i) Q,    ‖A‖, ‖V‖, ‖B_i‖ ≤ 1,
//
// has norm at most one, since its two parts have orthogonal ranges and orthogonal domains. The first sees what is slow,
// all pieces at once; the second, which is made of ℓ×ℓ matrices, what is fast, within a piece. With the best A and B_i
//
//	⟨RF, U⟩ = ‖PRP F‖_* + Σ_i ‖M F_i‖_*,    M[m,m'] = τ_{m-m'},    τ_e = ⟨Q R(eb) Q, V⟩,
//
// where R(eb) is the block of R that is e periods below the diagonal, and V the polar factor of Q R(0) Q. Both norms
// are of small matrices: kcp×kcp and k×k. For fixed A and B_i this is linear in F, and its rows the best F: the
// ascent is over after two steps.
//
// Of more than k periods every k ones have blocks of their own in F_i. The first pieces have a row more in F_i if the
// last period ends behind them; what is left are less steps than pieces have, and makes the bound smaller. The errors are
// ErrTooManyPeriods, responses of fewer than T numbers, and the context's.
//
// # Why
//
// For every x, ‖Ux‖² = ‖PAPx‖² + ‖Q(V⊗B_i)Qx‖² ≤ ‖Px‖² + ‖Qx‖². F commutes with P and Q. What is lost is what couples
// slow and fast, ⟨PRQ, ·⟩: integrals of a function that is orthogonal to p polynomials are orthogonal to p - 1 of
// them. For fixed A and B_i the bound is linear in F; with Z the derivative, the best rows of F_i have the directions
// of Z_i's rows, and norms Σ_m‖Z_i[m]‖. Steps whose noise costs nothing have rows of zeros in R, hence in Z: their
// rows of F_i stay zero, which no bound minds, Λ being anything positive semidefinite below y_i on its diagonal.
// Patterns of fewer than all periods, T > kb, do not overlap, and Σ y counts each.
//
// Rounding: eigenvalues count less the bound of their errors, V is shrunk by as much, and what the products behind V
// may have added to its length, ℓ2⁻²⁶/4√(R+4) of it for R responses, is left out of the bound. So is 2⁻⁴⁶T of it: an
// eigenvalue of the network near 1 that is 2⁻⁴⁷ too large makes the T-th power T2⁻⁴⁷ too large, and H twice that.
//
// # How near
//
// Over the certificate of the dense optimum, uniform gossip, b = 64 (measure.BenchmarkLongBoundOverCertificate; the
// last three certificates with momentum are from optimize --T 4096 -k 64 --optimizer momentum:0.9 with --tolerance
// 1e-2 or 1e-3):
//
//	                T = 1024  momentum 0.9  2048    momentum 0.9  4096    momentum 0.9
//	florentine      0.9929    0.9893        0.9936  0.9899        0.9948  0.9936
//	cycle of 100    0.9909    0.9939        0.9906  0.9947        0.9899  0.9958
//	grid, 10×10     0.9901    0.9932        0.9913  0.9935        0.9916  0.9952
//	erdos:100,0.1   0.9951    0.9901        0.9959  0.9903        0.9966  0.9938
//	barabasi:100,2  0.9926    0.9920        0.9937  0.9920        0.9944  0.9943
//	ego graph       0.9948    0.9917        0.9946  0.9921        0.9952  0.9948
//
// For T ≤ 640 pieces are single steps: 0.9998 on florentine at T = 380, k = 20. At T = 2048 p = 12; of what is then
// missing on florentine and the cycle 20 polynomials find a third to a half for plain SGD (0.9957, 0.9946), in four
// times the time of the eigenvalues, and with momentum nothing (0.9898). 6 polynomials have 0.9890, 0.9817 and, with
// momentum, 0.9881.
//
// 500 random workloads (seven graphs, three gossip matrices, momentum, decay, gradient tracking, two rounds of
// gossip, T ≤ 64, any k and b) against the dense optimum: none above it; where patterns are whole periods (286 of
// them) at least 0.9933 of its loss, in the median 1.000000; else 0.864 and 0.9993, and 0.856 and 0.937 where
// patterns overlap. Of 2,000 more (go test ./measure -run TestLongBoundIsBelow -rapid.checks=1000 -rapid.seed=0,
// twice) none is above it. Whole periods have least with gradient tracking where two nodes swap what they have
// (path:2, Laplacian gossip): 0.9543 at T = 63, b = 7. 52 of them with T ≤ 20 against a semidefinite program
// (Clarabel): none above it but for its accuracy of 1e-7. On 3,000 drawn problems with estimates (T ≤ 24, 4 probes, 2
// to 5 Lanczos steps) it was never above the dense optimum for Ĥ.
func LongBound(ctx context.Context, responses [][]float64, schema participation.Cyclic) (float64, error) {
	for _, r := range responses {
		if len(r) < schema.Steps() {
			return 0, errors.New("a response is shorter than the schema")
		}
	}
	p := newPieces(responses, schema.Steps(), schema.Separation())
	p.window = schema.Participations()
	if p.all() > largestCoarse {
		return 0, ErrTooManyPeriods
	}
	return p.bound(ctx, largestCoarse/p.all())
}

// ErrTooManyPeriods is returned by LongBound for a schema of more than 640 periods, or pieces of 1,024 steps.
var ErrTooManyPeriods = errors.New("too many periods for a lower bound")

// What the dense matrices of LongBound are at most, ℓ×ℓ and kcp×kcp, and p; and kc at least.
const (
	largestPiece    = 1024
	largestCoarse   = 640
	mostPolynomials = 12
	fewestPieces    = 24   // of all periods: Λ changes with time
	longSlack       = 1e-9 // of bases that are orthonormal, and of sums of T numbers, but for rounding
	largestScale    = 1e12 // of a row of F: what is smaller beside the others is left out
)

// pieces are k periods of b steps, of c pieces of this length each, and some pieces more of one that is not whole; a
// period's remainder, less than c steps, is left out. A pattern has as many neighbouring periods as the window.
type pieces struct {
	responses       [][]float64
	k, b, c, length int
	more, window    int
}

// newPieces cuts small problems into single steps, others into few pieces with a short remainder.
func newPieces(responses [][]float64, steps, b int) pieces {
	k := steps / b
	if steps <= largestCoarse {
		return pieces{responses: responses, k: k, b: b, c: b, length: 1, more: steps - k*b}
	}
	least := max((b+largestPiece-1)/largestPiece, (fewestPieces+k-1)/k)
	best := least
	for c := least; c <= 2*least; c++ {
		if b%c < b%best {
			best = c
		}
	}
	length := b / best
	return pieces{responses: responses, k: k, b: b, c: best, length: length, more: min(best, (steps-k*b)/length)}
}

// all returns how many pieces there are.
func (p pieces) all() int { return p.k*p.c + p.more }

// periods returns how many periods have the piece.
func (p pieces) periods(piece int) int {
	if piece < p.more {
		return p.k + 1
	}
	return p.k
}

// bound returns the bound with count polynomials, or as many as pieces have steps.
func (p pieces) bound(ctx context.Context, count int) (best float64, err error) {
	var f []*mat.Dense
	for i := range p.c {
		f = append(f, dense.Identity(p.periods(i)))
	}
	count = min(count, mostPolynomials, p.length)
	for _, count := range []int{min(2, count), count} { // the first finds F, cheaply
		coarse, err := p.coarsen(count)
		if err != nil {
			return 0, err
		}
		for range 3 {
			if ctx.Err() != nil {
				return 0, context.Cause(ctx)
			}
			bound, next, err := coarse.evaluate(f)
			if best > 0 && errors.Is(err, errEigen) {
				return best, nil
			}
			if err != nil {
				return 0, err
			}
			best, f = math.Max(best, bound), next
		}
	}
	return best, nil
}

// offset returns the first step of a piece.
func (p pieces) offset(piece int) int { return piece/p.c*p.b + piece%p.c*p.length }

// legendre returns an orthonormal basis of polynomials of degree below count on a piece, a column each.
func (p pieces) legendre(count int) *mat.Dense {
	basis := mat.NewDense(p.length, count, nil)
	for t := range p.length {
		x := float64(2*t+1)/float64(p.length) - 1
		before, value := 0.0, 1.0
		for q := range count {
			basis.Set(t, q, value)
			before, value = value, (float64(2*q+1)*x*value-float64(q)*before)/float64(q+1)
		}
	}
	var qr mat.QR
	qr.Factorize(basis)
	var full mat.Dense
	qr.QTo(&full)
	return mat.DenseCopyOf(full.Slice(0, p.length, 0, count))
}

// windows returns responses[j][lag+z] for |z| < ℓ, 0 before the response, a row each.
func (p pieces) windows(lag int) *mat.Dense {
	w := mat.NewDense(len(p.responses), 2*p.length-1, nil)
	for j, r := range p.responses {
		from := lag - p.length + 1
		copy(w.RawRowView(j)[max(0, -from):], r[max(0, from):max(0, min(len(r), from+2*p.length-1))])
	}
	return w
}

// coarse is what the bound depends on besides F.
type coarse struct {
	pieces
	count    int           // p
	low      *mat.SymDense // (PRP)ᵀ(PRP), kcp×kcp
	lowError float64       // bound of how much too large the eigenvalues of low may be
	high     *mat.Dense    // M
}

func (p pieces) coarsen(count int) (*coarse, error) {
	basis := p.legendre(count)
	c := &coarse{pieces: p, count: count}
	c.setLow(basis)
	return c, c.setHigh(basis)
}

// setLow computes PRP a response at a time: its p×p blocks depend on how far two pieces are from each other.
func (c *coarse) setLow(basis *mat.Dense) {
	all, n := c.all(), c.all()*c.count
	products := c.products(basis)
	blocks := map[int]*mat.Dense{} // by lag: a response a row, of p² numbers
	for to := range all {
		for from := range to + 1 {
			if lag := c.offset(to) - c.offset(from); blocks[lag] == nil {
				blocks[lag] = &mat.Dense{}
				dense.Mul(blocks[lag], c.windows(lag), products)
			}
		}
	}
	c.low = mat.NewSymDense(n, nil)
	part := mat.NewDense(n, n, nil)
	for j := range c.responses {
		for to := range all {
			for from := range to + 1 {
				block := blocks[c.offset(to)-c.offset(from)].RawRowView(j)
				for q := range c.count {
					copy(part.RawRowView(to*c.count + q)[from*c.count:], block[q*c.count:(q+1)*c.count])
				}
			}
		}
		gemm.Syrk(blas.Trans, 1, part.RawMatrix(), 1, c.low.RawSymmetric())
	}
	c.lowError = 16 * float64((len(c.responses)+4)*n+8*c.length*c.count) * 0x1p-53 * mat.Trace(c.low)
}

// products returns the sums Σ_x P[x,q] P[x-z,q'], |z| < ℓ, one z a row: a Toeplitz block in the basis is its window of
// the response times this.
func (c *coarse) products(basis *mat.Dense) *mat.Dense {
	s := mat.NewDense(2*c.length-1, c.count*c.count, nil)
	for z := 1 - c.length; z < c.length; z++ {
		row := s.RawRowView(z + c.length - 1)
		for x := max(0, z); x < min(c.length, c.length+z); x++ {
			left, right := basis.RawRowView(x), basis.RawRowView(x-z)
			for q, l := range left {
				for r, v := range right {
					row[q*c.count+r] += l * v
				}
			}
		}
	}
	return s
}

// setHigh computes V and M. The singular values of V are at most one whatever rounding did to the eigenvalues that
// it is made of.
func (c *coarse) setHigh(basis *mat.Dense) error {
	length := c.length
	gram := mat.NewSymDense(length, nil)
	fast := make([]*mat.Dense, len(c.responses)) // Q R_j(0) Q
	for j, r := range c.responses {
		fast[j] = mat.NewDense(length, length, nil)
		for t := range length {
			for s := range t + 1 {
				fast[j].Set(t, s, r[t-s])
			}
		}
		remove(fast[j], basis)
		gemm.Syrk(blas.Trans, 1, fast[j].RawMatrix(), 1, gram.RawSymmetric())
	}
	slack := 16 * float64((len(c.responses)+4)*length) * 0x1p-53 * mat.Trace(gram)
	values, vectors, err := eigen(gram)
	if err != nil {
		return err
	}
	for i, v := range values {
		values[i] = math.Max(v, 0) + slack
	}
	inverse := inverseRoot(values, vectors)
	sums := mat.NewDense(len(c.responses), 2*length-1, nil) // of the diagonals of Q V_j Q
	var v mat.Dense
	for j := range fast {
		dense.Mul(&v, fast[j], inverse)
		remove(&v, basis)
		for x := range length {
			for y, value := range v.RawRowView(x) {
				sums.RawRowView(j)[x-y+length-1] += value
			}
		}
		v.Reset()
	}
	most := c.periods(0)
	c.high = mat.NewDense(most, most, nil)
	for e := range most {
		var tau float64
		window := c.windows(e * c.b)
		for j := range c.responses {
			tau += mat.Dot(window.RowView(j), sums.RowView(j))
		}
		for m := e; m < most; m++ {
			c.high.Set(m, m-e, tau)
		}
	}
	return nil
}

// inverseRoot returns W diag(1/√values) Wᵀ for the vectors W.
func inverseRoot(values []float64, vectors *mat.Dense) *mat.Dense {
	var scaled, root mat.Dense
	scaled.Apply(func(_, i int, v float64) float64 {
		return v / math.Sqrt(values[i]+math.SmallestNonzeroFloat64)
	}, vectors)
	dense.Mul(&root, &scaled, vectors.T())
	return &root
}

// remove replaces a by QaQ.
func remove(a, basis *mat.Dense) {
	var left, right mat.Dense
	dense.Mul(&left, basis.T(), a)
	dense.Mul(&right, basis, &left)
	a.Sub(a, &right)
	left.Reset()
	right.Reset()
	dense.Mul(&left, a, basis)
	dense.Mul(&right, &left, basis.T())
	a.Sub(a, &right)
}

// eigen returns eigenvalues and vectors. It fails where numbers are out of range, or the squares of the values do not
// add up to the matrix's: entries from 1e-215 to 80, say, are nothing that an algorithm should be trusted with.
func eigen(a *mat.SymDense) ([]float64, *mat.Dense, error) {
	n, size := a.SymmetricDim(), mat.Norm(a, 2)
	vectors, scratch := make([]float64, n*n), [2][]float64{make([]float64, n*n), make([]float64, n*n)}
	values, ok := dense.Eigen(vectors, numbersOf(a), scratch, n)
	if !ok || !(math.Abs(floats.Norm(values, 2)-size) <= 1e-8*size) {
		return nil, nil, errEigen
	}
	dense.Transpose(vectors, n)
	return values, mat.NewDense(n, n, vectors), nil
}

// evaluate returns the bound of F, and the F that is best for the A and B_i that are best for this one: with Z the
// derivative of ⟨RF, U⟩, a row of F_i has the direction of the row of Z_i, and its norm √y_i is Σ_m ‖Z_i[m]‖ but for
// scale.
func (c *coarse) evaluate(f []*mat.Dense) (bound float64, next []*mat.Dense, err error) {
	n := c.all() * c.count
	whole := mat.NewDense(n, n, nil)
	c.spread(func(row, column, i, m, o int) { whole.Set(row, column, f[i].At(m, o)) })
	var moved, square mat.Dense // H F and FᵀHF
	dense.Mul(&moved, c.low, whole)
	dense.Mul(&square, whole.T(), &moved)
	values, vectors, err := eigen(symmetricOf(&square))
	if err != nil {
		return 0, nil, err
	}
	var total, budget float64
	slack := c.lowError * mat.Norm(whole, 1) * mat.Norm(whole, math.Inf(1))
	for i, v := range values {
		total += math.Sqrt(math.Max(v-slack, 0))
		values[i] = math.Max(v, slack)
	}
	var z mat.Dense
	dense.Mul(&z, &moved, inverseRoot(values, vectors)) // (FᵀHF)^(-½)
	for i := range c.c {
		next = append(next, mat.NewDense(c.periods(i), c.periods(i), nil))
	}
	c.spread(func(row, column, i, m, o int) { next[i].Set(m, o, next[i].At(m, o)+z.At(row, column)) })
	for i, own := range f {
		nuclear, gradient, err := c.fast(own)
		if err != nil {
			return 0, nil, err
		}
		total += nuclear
		next[i].Add(next[i], gradient)
		for from := 0; from < c.periods(i); from += c.window {
			budget += scaleRows(own, next[i], from, min(from+c.window, c.periods(i)))
		}
	}
	bound, err = finiteBound(total, budget*float64(c.length), c.slack())
	rescale(next)
	return bound, next, err
}

// scaleRows gives the rows of a block of F_i the norms √y that they should have, and returns y of the block that was.
// Rows without a direction are steps whose noise costs nothing: they stay zero.
func scaleRows(own, next *mat.Dense, from, to int) float64 {
	var largest, sum float64
	for m := from; m < to; m++ {
		row := next.RawRowView(m)
		clear(row[:from])
		clear(row[to:])
		largest = math.Max(largest, floats.Norm(own.RawRowView(m), 2))
		sum += floats.Norm(row, 2)
	}
	for m := from; m < to; m++ {
		row := next.RawRowView(m)
		if scale := sum / floats.Norm(row, 2); scale < largestScale {
			floats.Scale(scale, row)
		} else {
			clear(row)
		}
	}
	return largest * largest
}

// spread calls visit for every entry of F ⊗ I_p on whose place F has one: row and column of F ⊗ I_p, and F_i[m,o].
func (c *coarse) spread(visit func(row, column, i, m, o int)) {
	for i := range c.c {
		for m := range c.periods(i) {
			for o := range c.periods(i) {
				for q := range c.count {
					visit((m*c.c+i)*c.count+q, (o*c.c+i)*c.count+q, i, m, o)
				}
			}
		}
	}
}

// slack returns what is left out of a bound, which is a square, for V that are longer than 1 by rounding: entries of
// the inverse root are at most 1/√slack of setHigh, and so are errors of its products in units of ℓ·2⁻⁵³·√(ℓ·trace).
// And what responses of T steps are too large for, if their eigenvalues are known to 2⁻⁴⁷: their squares, by 2⁻⁴⁶T.
func (c *coarse) slack() float64 {
	products := float64(c.length) * 0x1p-26 / (2 * math.Sqrt(float64(len(c.responses)+4)))
	return longSlack + 0x1p-46*float64(len(c.responses[0])) + products
}

// fast returns ‖M F_i‖_*, rounded down, and its derivative by F_i.
func (c *coarse) fast(f *mat.Dense) (float64, *mat.Dense, error) {
	var product, polar, gradient mat.Dense
	size, _ := f.Dims()
	high := c.high.Slice(0, size, 0, size)
	product.Mul(high, f)
	var svd mat.SVD
	if !svd.Factorize(&product, mat.SVDThin) {
		return 0, nil, errSVD
	}
	values := svd.Values(nil)
	var nuclear float64
	for _, v := range values {
		nuclear += math.Max(v-64*float64(size)*0x1p-53*values[0], 0)
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	polar.Mul(&u, v.T())
	gradient.Mul(high.T(), &polar)
	return nuclear, &gradient, nil
}

// rescale divides all F_i by the largest norm: scale means nothing.
func rescale(f []*mat.Dense) {
	var largest float64
	for _, m := range f {
		largest = math.Max(largest, mat.Norm(m, 2))
	}
	if !(largest > 0) {
		return
	}
	for _, m := range f {
		m.Scale(1/largest, m)
	}
}
