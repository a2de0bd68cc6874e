package factorize

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/parallel"
)

// dualMetric is about the inverse of -∇²D, pattern by pattern. With B such that Λ = BBᵀ and BᵀXB is diagonal on the
// pattern, the directions b_p b_qᵀ + b_q b_pᵀ are nearly eigenvectors, the more so the smoother time is:
//
//	⟨A, -∇²D A⟩ ≈ Σ_pq E_pq² c_pq,     A = BEBᵀ,     c_pq = Σ_ij (BᵀS)²_pi (BᵀS)²_qj/(d_i + d_j).
//
// That A has a constant diagonal takes one multiplier a step. O(T³) to make.
type dualMetric struct {
	search *dualSearch
	blocks []metricBlock
}

type metricBlock struct {
	at, size  int
	basis     *mat.Dense    // B
	curvature *mat.Dense    // c
	diagonals mat.Cholesky  // of K
	ones      *mat.VecDense // K⁻¹1
}

func newDualMetric(n *dualSearch, p *dualPoint) *dualMetric {
	m := &dualMetric{search: n}
	squares, weights, half := make([]float64, len(p.s)), make([]float64, len(p.s)), make([]float64, len(p.s))
	n.unknowns(func(pattern []int, at int) {
		m.blocks = append(m.blocks, metricBlock{at: at, size: len(pattern)})
	})
	rows := func(a []float64, i int) *mat.Dense { // of a pattern, in a matrix whose rows are sorted by it
		from := 0
		for _, pattern := range n.patterns[:i] {
			from += len(pattern)
		}
		k := len(n.patterns[i])
		return mat.NewDense(k, n.steps, a[from*n.steps:(from+k)*n.steps])
	}
	parallel.For(len(m.blocks), func(i int) {
		to := rows(squares, i)
		m.blocks[i].rotate(to, n, p, n.patterns[i], p.blocks[i])
		to.MulElem(to, to)
	})
	for i, di := range p.d {
		for j, dj := range p.d {
			weights[i*n.steps+j] = 1 / (di + dj)
		}
	}
	dense.MulTo(half, squares, weights, n.steps)
	parallel.For(len(m.blocks), func(i int) {
		b := &m.blocks[i]
		b.curvature = mat.NewDense(b.size, b.size, nil)
		b.curvature.Mul(rows(half, i), rows(squares, i).T())
		b.hold()
	})
	return m
}

// rotate finds B and writes BᵀS to dst.
func (b *metricBlock) rotate(dst *mat.Dense, n *dualSearch, p *dualPoint, pattern []int, factor *mat.TriDense) {
	for r, s := range pattern {
		dst.SetRow(r, p.s[s*n.steps:(s+1)*n.steps])
	}
	blas64.Trmm(blas.Left, blas.Trans, 1, factor.RawTriangular(), dst.RawMatrix()) // FᵀS
	var x mat.SymDense
	x.SymOuterK(1, dst)
	var eigen mat.EigenSym
	b.basis = mat.NewDense(b.size, b.size, nil)
	if eigen.Factorize(&x, true) {
		eigen.VectorsTo(b.basis)
	} else {
		for r := range b.size {
			b.basis.Set(r, r, 1)
		}
	}
	var rotated mat.Dense
	rotated.Mul(b.basis.T(), dst)
	dst.Copy(&rotated)
	blas64.Trmm(blas.Left, blas.NoTrans, 1, factor.RawTriangular(), b.basis.RawMatrix())
}

// hold computes what multipliers of diagonal entries do to the diagonal,
//
//	K[s,t] = Σ_pq B_sp B_sq B_tp B_tq / c_pq = Σ_l σ_l M_l[s,t]²,     M_l = B diag(g u_l) Bᵀ,
//
// with g_p = c_pp^(-½) and the few eigenvalues σ_l of 1/(g_p c_pq g_q), which is smooth, that matter.
func (b *metricBlock) hold() {
	k := b.size
	g, smooth := make([]float64, k), mat.NewSymDense(k, nil)
	for p := range k {
		g[p] = 1 / math.Sqrt(b.curvature.At(p, p))
	}
	for p := range k {
		for q := p; q < k; q++ {
			smooth.SetSym(p, q, 2/(g[p]*g[q]*(b.curvature.At(p, q)+b.curvature.At(q, p))))
		}
	}
	if !b.diagonals.Factorize(b.multipliers(g, smooth)) { // out of range: none of these numbers is of use
		identity := mat.NewSymDense(k, nil)
		for s := range k {
			identity.SetSym(s, s, 1)
		}
		b.diagonals.Factorize(identity)
	}
	one := mat.NewVecDense(k, nil)
	for s := range k {
		one.SetVec(s, 1)
	}
	b.ones = mat.NewVecDense(k, nil)
	b.solve(b.ones, one)
}

// multipliers returns K, with so much on its diagonal that it is positive definite if its numbers are in range.
func (b *metricBlock) multipliers(g []float64, smooth *mat.SymDense) *mat.SymDense {
	k := b.size
	all := mat.NewSymDense(k, nil)
	if norm := mat.Norm(smooth, 1); norm-norm != 0 {
		return all
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(smooth, true) {
		return all
	}
	var u, scaled, m mat.Dense
	eigen.VectorsTo(&u)
	for l, sigma := range eigen.Values(nil) {
		if math.Abs(sigma) < negligible*float64(k) {
			continue
		}
		scaled.Apply(func(_, p int, v float64) float64 { return v * g[p] * u.At(p, l) }, b.basis)
		m.Mul(&scaled, b.basis.T())
		m.MulElem(&m, &m)
		for s := range k {
			for t := s; t < k; t++ {
				all.SetSym(s, t, all.At(s, t)+sigma*m.At(s, t))
			}
		}
	}
	var chol mat.Cholesky
	for shift := 1e-12; shift < 1 && !chol.Factorize(all); shift *= 8 {
		for s := range k {
			all.SetSym(s, s, all.At(s, s)*(1+shift))
		}
	}
	return all
}

// negligible is what eigenvalues may be left out by, relatively.
const negligible = 1e-10

// solve applies the inverse of K, whose condition is no matter: it is about right.
func (b *metricBlock) solve(dst, a *mat.VecDense) {
	if err := b.diagonals.SolveVecTo(dst, a); err != nil {
		var ill mat.Condition
		if !errors.As(err, &ill) {
			panic(err) // of shapes
		}
	}
}

// solveTo writes about the Newton step for a gradient to dst.
func (m *dualMetric) solveTo(dst, g []float64) {
	parallel.For(len(m.blocks), func(i int) { m.blocks[i].solveTo(dst, g) })
}

func (b *metricBlock) solveTo(dst, g []float64) {
	k := b.size
	a := mat.NewDense(k, k, nil)
	next := b.at + 1
	for r := range k {
		a.Set(r, r, g[b.at]/float64(k))
		for j := range r {
			a.Set(r, j, g[next]/2)
			a.Set(j, r, g[next]/2)
			next++
		}
	}
	b.invert(a)
	diagonal, held := mat.NewVecDense(k, nil), mat.NewVecDense(k, nil)
	for r := range k {
		diagonal.SetVec(r, a.At(r, r))
	}
	b.solve(held, diagonal)
	level := mat.Sum(held) / mat.Sum(b.ones)
	held.AddScaledVec(held, -level, b.ones)
	hold := mat.NewDense(k, k, nil)
	for r := range k {
		hold.Set(r, r, held.AtVec(r))
	}
	b.invert(hold)
	dst[b.at] = level
	next = b.at + 1
	for r := range k {
		for j := range r {
			dst[next] = (a.At(r, j) + a.At(j, r) - hold.At(r, j) - hold.At(j, r)) / 2
			next++
		}
	}
}

// invert makes B((BᵀaB)/c)Bᵀ of a.
func (b *metricBlock) invert(a *mat.Dense) {
	var half mat.Dense
	half.Mul(b.basis.T(), a)
	a.Mul(&half, b.basis)
	a.DivElem(a, b.curvature)
	half.Mul(b.basis, a)
	a.Mul(&half, b.basis.T())
}
