package factorize

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/internal/lists"
	"mafalda/internal/parallel"
)

// dualSearch maximizes the dual by Newton's method, where the patterns are a partition:
//
//	D(Λ) = 2 tr (FᵀHF)^(1/2) - Σ_i y_i,     Λ = FFᵀ block diagonal over the patterns, with y_i on block i's diagonal.
//
// D is concave, its gradient is the block-diagonal part of X(Λ) = Λ⁻¹ # H (the X with XΛX = H) less one unit of trace a
// block, and where that vanishes X is the optimum within the mask. What makes the primal hard, an H or an X that is far
// from stationary in time and graded over many powers of ten, does not matter here: with S and d such that X = SSᵀ and
// SᵀΛS = diag(d),
//
//	-∇²D: A ↦ the blocks of S W Sᵀ,   W[i,j] = (SᵀAS)[i,j]/(d_i + d_j),
//
// two products of T×T matrices an application (dualCurvature); the Newton step is found by conjugate gradients in the
// metric of dualMetric. Every iteration takes the singular values and vectors of RF, so that this is for the problems
// for which descent in the primal is slow. Ego graph, T = 380, momentum 0.9, warm-up and cosine: 6 steps of 3 to 16 products
// with ∇²D, which are 24 to 400 each without the metric.
//
// The unknowns are, pattern by pattern, y_i and the entries of the block below its diagonal.
type dualSearch struct {
	*maskedObjective
	patterns   [][]int
	starts     []int // place of every pattern's first unknown
	size       int   // unknowns
	bidiagonal bool  // singular values are by that form: of few steps, and where newPolar is not good enough

	point dualPoint
}

// dualPoint is what is known at a Λ.
type dualPoint struct {
	theta    []float64
	factors  []*mat.TriDense // F, block by block
	value    float64
	s        []float64 // S
	d        []float64
	gradient []float64
}

const (
	newtonSteps     = 60
	newtonSolves    = 400   // conjugate gradients for a step, at most
	newtonPrecision = 0.03  // relative precision of these,
	newtonRough     = 3     // factor by which these may be rougher
	newtonFar       = 1e-4  // where D may still increase by this, relatively
	newtonIncrease  = 1e-4  // Armijo's constant
	newtonShortest  = 1e-10 // of a step
)

func newDualSearch(o *maskedObjective) *dualSearch {
	n := &dualSearch{maskedObjective: o, patterns: o.mask.schema.Disjoint(), bidiagonal: o.steps <= gramSteps}
	for _, p := range n.patterns {
		n.starts = append(n.starts, n.size)
		n.size += 1 + len(p)*(len(p)-1)/2
	}
	return n
}

// search looks for an X within the mask whose error is within a relative gap of D, from start(near). It calls step
// before every iteration and returns the best X, row by row; nil if it found none.
func (n *dualSearch) search(ctx context.Context, near []float64, gap float64, step func()) []float64 {
	var best []float64
	var ok bool
	if n.point, ok = n.start(near); !ok {
		return nil
	}
	least := math.Inf(1)
	for range newtonSteps {
		if ctx.Err() != nil {
			return best
		}
		step()
		predicted, ok := n.advance()
		if predicted > 1e-3*math.Abs(n.point.value) && ok {
			continue
		}
		x := make([]float64, n.steps*n.steps)
		dense.MulSymTo(x, n.point.s, n.point.s, n.steps)
		n.mask.feasible(x)
		if value := n.Value(x); value < least {
			best, least = x, value
		}
		if !ok || least-n.point.value <= gap*n.point.value {
			return best
		}
	}
	return best
}

// start returns the Λ that is optimal for what is stationary, or the given Λ = X⁻¹HX⁻¹, for an X that is close to
// optimal, if D is larger there; ok is false if the numbers are out of range.
func (n *dualSearch) start(given []float64) (p dualPoint, ok bool) {
	dual := newStationary(mat.NewSymDense(n.steps, n.h), n.mask.schema.Separation()).dual
	p, ok = n.evaluate(n.unknownsOf(func(s, t int) float64 { return dual[max(s-t, t-s)] }))
	if given == nil {
		return p, ok
	}
	entry := func(s, t int) float64 { return given[s*n.steps+t] }
	theta := n.unknownsOf(func(s, t int) float64 { return entry(s, t) / math.Sqrt(entry(s, s)*entry(t, t)) })
	for i, pattern := range n.patterns { // of the same trace
		var mean float64
		for _, s := range pattern {
			mean += entry(s, s) / float64(len(pattern))
		}
		floats.Scale(mean, theta[n.starts[i]:n.starts[i]+1+len(pattern)*(len(pattern)-1)/2])
	}
	if near, positive := n.evaluate(theta); positive && (!ok || near.value > p.value) {
		return near, true
	}
	return p, ok
}

// advance makes a step that increases D, and returns by how much a quadratic model would; not ok if it found none.
func (n *dualSearch) advance() (predicted float64, ok bool) {
	step := n.direction(&n.point)
	slope := floats.Dot(step, n.point.gradient)
	for length := 1.0; length > newtonShortest; length /= 2 {
		theta, ok := n.stepTo(step, length)
		if !ok {
			continue
		}
		next, ok := n.evaluate(theta)
		if ok && next.value >= n.point.value+newtonIncrease*length*slope-valueNoise*math.Abs(n.point.value) {
			n.point = next
			return slope / 2, true
		}
	}
	return slope / 2, false
}

// valueNoise is about the rounding of D, relatively.
const valueNoise = 1e-13

// direction returns about Newton's step, by conjugate gradients.
func (n *dualSearch) direction(p *dualPoint) []float64 {
	metric, curvature := newDualMetric(n, p), newDualCurvature(n, p)
	x, r := make([]float64, n.size), append([]float64(nil), p.gradient...)
	z := make([]float64, n.size)
	metric.solveTo(z, r)
	v := append([]float64(nil), z...)
	rz := floats.Dot(r, z)
	enough := newtonPrecision * newtonPrecision * rz
	if rz > newtonFar*math.Abs(p.value) {
		enough *= newtonRough * newtonRough
	}
	for range newtonSolves {
		av := curvature.hessianTimes(v)
		bend := floats.Dot(v, av)
		if !(bend > 0) {
			break
		}
		floats.AddScaled(x, rz/bend, v)
		floats.AddScaled(r, -rz/bend, av)
		metric.solveTo(z, r)
		before := rz
		if rz = floats.Dot(r, z); rz <= enough {
			break
		}
		floats.Scale(rz/before, v)
		floats.Add(v, z)
	}
	return x
}

// stepTo returns the unknowns of the Λ that a step leads to: Λ + A to first order in the step, but always positive
// definite. With A = FEFᵀ, block by block, it is F g(E) Fᵀ, scaled to a constant diagonal, with g(e) = (1 - e/2)⁻²,
// which beyond e = 1 and e = -2 goes on as the tangents of g and of 1/g. For T = 1, where D is 2√(hΛ) - Λ, that is
// Newton's step for √Λ, in which D is quadratic.
func (n *dualSearch) stepTo(step []float64, length float64) (theta []float64, ok bool) {
	theta = make([]float64, n.size)
	for i, pattern := range n.patterns {
		at, f, k := n.starts[i], n.point.factors[i], len(pattern)
		e := mat.NewDense(k, k, nil)
		visitLower(k, at, func(r, j, unknown int) {
			e.Set(r, j, length*step[unknown])
			e.Set(j, r, length*step[unknown])
		})
		blas64.Trsm(blas.Left, blas.NoTrans, 1, f.RawTriangular(), e.RawMatrix())
		blas64.Trsm(blas.Right, blas.Trans, 1, f.RawTriangular(), e.RawMatrix())
		values, q, ok := dense.Spectrum(mat.NewSymDense(k, e.RawMatrix().Data))
		if !ok {
			return nil, false
		}
		blas64.Trmm(blas.Left, blas.NoTrans, 1, f.RawTriangular(), q.RawMatrix()) // FQ
		for i, v := range values {
			root := 1 / (1 - v/2)
			switch {
			case v > 1:
				root = math.Sqrt(4 + 8*(v-1))
			case v < -2:
				root = 1 / math.Sqrt(-2*v)
			}
			for r := range k {
				q.Set(r, i, q.At(r, i)*root)
			}
		}
		setBlock(theta, at, q)
	}
	return theta, true
}

// setBlock sets the unknowns of a block to the entries of qqᵀ, scaled to a constant diagonal of the same trace.
func setBlock(theta []float64, at int, q *mat.Dense) {
	k, _ := q.Dims()
	norms := make([]float64, k)
	for r := range k {
		norms[r] = floats.Norm(q.RawRowView(r), 2)
		theta[at] += norms[r] * norms[r] / float64(k)
	}
	visitLower(k, at, func(r, j, unknown int) {
		if r != j {
			theta[unknown] = theta[at] * floats.Dot(q.RawRowView(r), q.RawRowView(j)) / (norms[r] * norms[j])
		}
	})
}

// evaluate computes all that is known at the multiple of a Λ for which D is largest, which is tr((FᵀHF)^½)²/Σ_i y_i;
// not ok where Λ is not positive definite, or its eigenvalues are not found.
func (n *dualSearch) evaluate(theta []float64) (p dualPoint, ok bool) {
	blocks, total, ok := n.factors(theta)
	if !ok {
		return p, false
	}
	d, q, ok := n.singular(&blockFactor{steps: n.steps, patterns: n.patterns, blocks: blocks})
	if !ok {
		return p, false
	}
	root := floats.Sum(d) / total // of the best factor of Λ
	p.theta, p.d, p.value = slices.Clone(theta), d, root*floats.Sum(d)
	floats.Scale(root*root, p.theta)
	floats.Scale(root, p.d)
	p.factors = blocks
	for _, block := range blocks {
		block.ScaleTri(root, block)
	}
	for j, v := range p.d {
		floats.Scale(math.Sqrt(v), q[j*n.steps:(j+1)*n.steps])
	}
	dense.Transpose(q, n.steps)
	p.s = n.spread(blocks, q)
	n.scratch.giveBack(q)
	row := func(s int) []float64 { return p.s[s*n.steps : (s+1)*n.steps] }
	p.gradient = n.blocksOf(func(s, t int) float64 { return floats.Dot(row(s), row(t)) })
	for _, at := range n.starts {
		p.gradient[at]--
	}
	return p, p.value-p.value == 0
}

// singular returns the singular values d of RF and its right singular vectors, a row each. Of many steps they are
// newPolar's, if RF makes of the vectors what is orthogonal enough for d to be right up to second order.
func (n *dualSearch) singular(f *blockFactor) (d, vectors []float64, ok bool) {
	product := n.scratch.take()
	defer func() { n.scratch.giveBack(product) }()
	f.mulTo(product, n.root)
	if !n.bidiagonal {
		d, vectors, ok = n.singularByGram(product)
	}
	if !ok {
		n.bidiagonal = true
		vectors = n.scratch.take()
		if d, ok = dense.Singular(vectors, product, n.steps); !ok {
			return nil, nil, false
		}
	}
	least := 0x1p-53 * slices.Max(d)
	for i, v := range d {
		d[i] = math.Max(v, least)
	}
	return d, vectors, ok
}

// singularByGram is singular by newPolar; not ok if the w_i that it knows are not orthogonal.
func (n *dualSearch) singularByGram(product []float64) (d, vectors []float64, ok bool) {
	p, ok := newPolar(product, n.steps, n.scratch)
	if !ok {
		return nil, nil, false
	}
	if !p.orthogonal() {
		p.release()
		return nil, nil, false
	}
	n.scratch.giveBack(p.w)
	return p.d, p.v, true
}

// factors returns F, block by block, and Σ y_i; not ok if Λ is not positive definite.
func (n *dualSearch) factors(theta []float64) (blocks []*mat.TriDense, total float64, ok bool) {
	for i, pattern := range n.patterns {
		at := n.starts[i]
		block := mat.NewSymDense(len(pattern), nil)
		visitLower(len(pattern), at, func(r, j, unknown int) { block.SetSym(j, r, theta[unknown]) })
		var chol dense.Cholesky
		if !chol.Factorize(block) {
			return nil, 0, false
		}
		var lower mat.TriDense
		chol.LTo(&lower)
		blocks = append(blocks, &lower)
		total += theta[at]
	}
	return blocks, total, true
}

// spread returns F⁻ᵀb, of which the rows are sorted by pattern in b, and by step in the result.
func (n *dualSearch) spread(blocks []*mat.TriDense, b []float64) []float64 {
	out := make([]float64, len(b))
	from := 0
	for i, pattern := range n.patterns {
		rows := rowsOf(b[from*n.steps:], len(pattern), n.steps)
		blas64.Trsm(blas.Left, blas.Trans, 1, blocks[i].RawTriangular(), rows)
		for r, s := range pattern {
			copy(out[s*n.steps:(s+1)*n.steps], b[(from+r)*n.steps:(from+r+1)*n.steps])
		}
		from += len(pattern)
	}
	return out
}

// blocksOf returns the derivatives by the unknowns of ⟨Λ, M⟩ for the symmetric M of such entries: traces of blocks, and
// twice the entries below diagonals.
func (n *dualSearch) blocksOf(entry func(s, t int) float64) []float64 {
	out := make([]float64, n.size)
	parallel.For(len(n.patterns), func(i int) {
		pattern, at := n.patterns[i], n.starts[i]
		visitLower(len(pattern), at, func(r, j, unknown int) {
			v := entry(pattern[r], pattern[j])
			if r != j {
				v *= 2
			}
			out[unknown] += v
		})
	})
	return out
}

// visitLower calls visit for every entry of the lower triangle of a block whose unknowns start at some place, with its
// own: row by row, the diagonal first.
func visitLower(size, at int, visit func(r, j, unknown int)) {
	unknown := at + 1
	for r := range size {
		visit(r, r, at)
		for j := range r {
			visit(r, j, unknown)
			unknown++
		}
	}
}

// unknownsOf returns the unknowns of the Λ with such entries, the same on the diagonal of a block.
func (n *dualSearch) unknownsOf(entry func(s, t int) float64) []float64 {
	theta := make([]float64, n.size)
	for i, pattern := range n.patterns {
		visitLower(len(pattern), n.starts[i], func(r, j, unknown int) { theta[unknown] = entry(pattern[r], pattern[j]) })
	}
	return theta
}

// matrix returns the Λ that was found, T×T.
func (n *dualSearch) matrix() []float64 {
	out := make([]float64, n.steps*n.steps)
	for i, pattern := range n.patterns {
		visitLower(len(pattern), n.starts[i], func(r, j, unknown int) {
			s, t, v := pattern[r], pattern[j], n.point.theta[unknown]
			out[s*n.steps+t], out[t*n.steps+s] = v, v
		})
	}
	return out
}

// dualMetric is about the inverse of -∇²D, pattern by pattern. With B such that Λ = BBᵀ and BᵀXB is diagonal on the
// pattern, the directions b_p b_qᵀ + b_q b_pᵀ are nearly eigenvectors, the more so the smoother time is:
//
//	⟨A, -∇²D A⟩ ≈ Σ_pq E_pq² c_pq,     A = BEBᵀ,     c_pq = Σ_ij (BᵀS)²_pi (BᵀS)²_qj/(d_i + d_j).
//
// That A has a constant diagonal takes one multiplier a step. O(T³) to make.
type dualMetric []metricBlock

type metricBlock struct {
	at, size  int
	from      int           // first row in matrices whose rows are sorted by pattern
	basis     *mat.Dense    // B
	curvature *mat.Dense    // c
	diagonals mat.Cholesky  // factorization of K
	ones      *mat.VecDense // K⁻¹1
}

func newDualMetric(n *dualSearch, p *dualPoint) (m dualMetric) {
	squares, weights, half := n.scratch.take(), n.scratch.take(), n.scratch.take()
	defer n.scratch.giveBack(squares, weights, half)
	from := 0
	for i, at := range n.starts {
		m = append(m, metricBlock{at: at, size: len(n.patterns[i]), from: from})
		from += len(n.patterns[i])
	}
	rows := func(a []float64, b *metricBlock) *mat.Dense {
		return mat.NewDense(b.size, n.steps, a[b.from*n.steps:(b.from+b.size)*n.steps])
	}
	parallel.For(len(m), func(i int) {
		to := rows(squares, &m[i])
		m[i].rotate(to, n, p, n.patterns[i], p.factors[i])
		to.MulElem(to, to)
	})
	parallel.For(n.steps, func(i int) {
		for j, dj := range p.d {
			weights[i*n.steps+j] = 1 / (p.d[i] + dj)
		}
	})
	dense.MulTo(half, squares, weights, n.steps)
	parallel.For(len(m), func(i int) {
		b := &m[i]
		b.curvature = mat.NewDense(b.size, b.size, nil)
		b.curvature.Mul(rows(half, b), rows(squares, b).T())
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
	var ok bool
	if _, b.basis, ok = dense.Spectrum(&x); !ok {
		b.basis = dense.Identity(b.size)
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
	g := lists.Make(k, func(p int) float64 { return 1 / math.Sqrt(b.curvature.At(p, p)) })
	smooth := dense.NewSym(k, func(p, q int) float64 {
		return 2 / (g[p] * g[q] * (b.curvature.At(p, q) + b.curvature.At(q, p)))
	})
	ones := slices.Repeat([]float64{1}, k)
	if !b.diagonals.Factorize(b.multipliers(g, smooth)) { // out of range: none of these numbers is of use
		b.diagonals.Factorize(mat.NewDiagDense(k, ones))
	}
	b.ones = mat.NewVecDense(k, nil)
	b.solve(b.ones, mat.NewVecDense(k, ones))
}

// multipliers returns K, whose diagonal is raised until it is positive definite if its numbers are in range.
func (b *metricBlock) multipliers(g []float64, smooth *mat.SymDense) *mat.SymDense {
	k := b.size
	all := mat.NewSymDense(k, nil)
	if norm := mat.Norm(smooth, 1); norm-norm != 0 {
		return all
	}
	values, u, ok := dense.Spectrum(smooth)
	if !ok {
		return all
	}
	var scaled, m mat.Dense
	for l, sigma := range values {
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

// solve applies the inverse of K, whose condition, the only error, is no matter: it is about right.
func (b *metricBlock) solve(dst, a *mat.VecDense) { _ = b.diagonals.SolveVecTo(dst, a) }

// solveTo writes about the Newton step for a gradient to dst.
func (m dualMetric) solveTo(dst, g []float64) {
	parallel.For(len(m), func(i int) { m[i].solveTo(dst, g) })
}

func (b *metricBlock) solveTo(dst, g []float64) {
	k := b.size
	a := mat.NewDense(k, k, nil)
	visitLower(k, b.at, func(r, j, unknown int) {
		v := g[unknown] / 2
		if r == j {
			v = g[unknown] / float64(k)
		}
		a.Set(r, j, v)
		a.Set(j, r, v)
	})
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
	visitLower(k, b.at, func(r, j, unknown int) {
		dst[unknown] = (a.At(r, j) + a.At(j, r) - hold.At(r, j) - hold.At(j, r)) / 2
	})
	dst[b.at] = level
}

// invert replaces a by B((BᵀaB)/c)Bᵀ.
func (b *metricBlock) invert(a *mat.Dense) {
	var half mat.Dense
	half.Mul(b.basis.T(), a)
	a.Mul(&half, b.basis)
	a.DivElem(a, b.curvature)
	half.Mul(b.basis, a)
	a.Mul(&half, b.basis.T())
}

// dualCurvature is -∇²D at a point, in single precision: conjugate gradients that stop at some percent of the residual
// need no more, and the step that they find is tried in double precision. As the rows of S have about unit norm and a
// direction is scaled, nothing leaves the range of numbers.
type dualCurvature struct {
	search *dualSearch
	s, d   []float32

	product, weighted []float32 // scratch
}

func newDualCurvature(n *dualSearch, p *dualPoint) *dualCurvature {
	single := func(v float64) float32 { return float32(v) }
	return &dualCurvature{search: n, s: lists.Map(p.s, single), d: lists.Map(p.d, single),
		product: make([]float32, len(p.s)), weighted: make([]float32, len(p.s))}
}

// row returns a row of a T×T matrix.
func (c *dualCurvature) row(m []float32, s int) []float32 {
	return m[s*c.search.steps : (s+1)*c.search.steps]
}

// hessianTimes returns what -∇²D makes of a direction.
func (c *dualCurvature) hessianTimes(direction []float64) []float64 {
	largest := floats.Norm(direction, math.Inf(1))
	if largest == 0 {
		return make([]float64, len(direction))
	}
	c.multiply(direction, 1/largest)
	c.weigh()
	steps := c.search.steps
	square := func(m []float32) blas32.General {
		return blas32.General{Rows: steps, Cols: steps, Stride: steps, Data: m}
	}
	gemm.Gemm32(blas.NoTrans, blas.NoTrans, 1, square(c.s), square(c.weighted), 0, square(c.product))
	return c.search.blocksOf(func(s, t int) float64 {
		return largest * float64(blas32.Dot(c.vector(c.product, s), c.vector(c.s, t)))
	})
}

// multiply sets product to AS, for the A of a direction times scale.
func (c *dualCurvature) multiply(direction []float64, scale float64) {
	parallel.For(len(c.search.patterns), func(i int) {
		at, pattern := c.search.starts[i], c.search.patterns[i]
		add := func(to, from int, by float64) {
			blas32.Axpy(float32(scale*by), c.vector(c.s, from), c.vector(c.product, to))
		}
		for _, s := range pattern {
			clear(c.row(c.product, s))
		}
		visitLower(len(pattern), at, func(r, j, unknown int) {
			add(pattern[r], pattern[j], direction[unknown])
			if r != j {
				add(pattern[j], pattern[r], direction[unknown])
			}
		})
	})
}

func (c *dualCurvature) vector(m []float32, s int) blas32.Vector {
	return blas32.Vector{N: c.search.steps, Data: c.row(m, s), Inc: 1}
}

// weigh sets weighted to W, W[i,j] = (SᵀAS)[i,j]/(d_i + d_j): the rows of its lower triangle, in strips, and these
// mirrored.
func (c *dualCurvature) weigh() {
	const strips = 6
	steps := c.search.steps
	size := (steps + strips - 1) / strips
	for from := 0; from < steps; from += size {
		rows, cols := min(size, steps-from), min(from+size, steps)
		gemm.Gemm32(blas.Trans, blas.NoTrans, 1,
			blas32.General{Rows: steps, Cols: rows, Stride: steps, Data: c.s[from:]},
			blas32.General{Rows: steps, Cols: cols, Stride: steps, Data: c.product}, 0,
			blas32.General{Rows: rows, Cols: cols, Stride: steps, Data: c.weighted[from*steps:]})
	}
	for i, d := range c.d {
		c.weighted[i*steps+i] /= 2 * d
	}
	dense.VisitBelow(steps, func(i, from, to int) {
		row := c.row(c.weighted, i)
		for j := from; j < to; j++ {
			row[j] /= c.d[i] + c.d[j]
			c.weighted[j*steps+i] = row[j]
		}
	})
}
