package spacetime

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/internal/parallel"
)

// position is M of a point x, inverted, and what every attacker learns there.
type position struct {
	design  *design
	x       []float64
	inverse []float64   // P = M⁻¹, n×n
	reach   [][]float64 // 1/[M_A⁻¹]_vv of every threat and victim: what the constraints want to be at least 1
}

// newPosition returns the position of x > 0; nil if M or an M_A is not positive definite in floating point.
func newPosition(d *design, x []float64) *position {
	n := d.nodes
	p := &position{design: d, x: x, inverse: make([]float64, n*n), reach: make([][]float64, len(d.threats))}
	for i, s := range x[:n] {
		p.inverse[i*n+i] += s
	}
	for i, pair := range d.pairs {
		e := x[n+i]
		p.inverse[pair.U*n+pair.U] += e
		p.inverse[pair.V*n+pair.V] += e
		p.inverse[pair.V*n+pair.U] = -e // the lower triangle: U < V
	}
	factor, ok := gemm.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: n, Data: p.inverse})
	if !ok {
		return nil
	}
	if _, ok := gemm.Potri(factor); !ok {
		return nil
	}
	dense.Mirror(p.inverse, n)
	good := make([]bool, len(d.threats))
	parallel.For(len(d.threats), func(t int) {
		var v view
		if v.see(p, t) {
			p.reach[t], good[t] = v.reaches()
		}
	})
	for _, ok := range good {
		if !ok {
			return nil
		}
	}
	return p
}

// least returns the smallest reach.
func (p *position) least() float64 {
	least := math.Inf(1)
	for _, r := range p.reach {
		for _, v := range r {
			least = math.Min(least, v)
		}
	}
	return least
}

// view is what an attacker A leaves unknown: M_A⁻¹ = P - FFᵀ + GGᵀ on the nodes outside of A. The first term takes out
// A's messages (a Schur complement), the second the pairs that A knows (an update whose rank is the number of nodes
// that have one with A):
//
//	FFᵀ = P_·A (P_AA)⁻¹ P_A·,     GGᵀ = Q_·N (D⁻¹ - Q_NN)⁻¹ Q_N·,     Q = P - FFᵀ,
//
// where N are these nodes and D is how much variance each of them has with A.
type view struct {
	position *position
	threat   int
	known    map[int]bool   // A
	f, g     blas64.General // n×|A|, n×|N|
}

// see fills the view of a threat. It returns false if M_A is not positive definite in floating point.
func (v *view) see(p *position, threat int) bool {
	d := p.design
	n := d.nodes
	attacker := d.threats[threat].Attacker
	v.position, v.threat, v.known = p, threat, make(map[int]bool, len(attacker))
	for _, a := range attacker {
		v.known[a] = true
	}
	v.f = columns(p.inverse, n, attacker)
	if !rightSolve(v.f, square(v.f, attacker)) {
		return false
	}
	near, roots := v.near()
	v.g = columns(p.inverse, n, near)
	if len(near) == 0 {
		return true
	}
	if len(attacker) > 0 {
		gemm.Gemm(blas.NoTrans, blas.Trans, -1, v.f, pick(v.f, near), 1, v.g)
	}
	for i := range n {
		row := rowOf(v.g, i)
		for j, r := range roots {
			row[j] *= r
		}
	}
	core := square(v.g, near) // D^½ Q_NN D^½, of which I - that is to be inverted
	for i, r := range roots {
		row := core.Data[i*core.Stride:][:len(near)]
		for j := range row {
			row[j] *= -r
		}
		row[i]++
	}
	return rightSolve(v.g, core)
}

// near returns the nodes outside of A that have pairs with it, and √D.
func (v *view) near() (nodes []int, roots []float64) {
	d := v.position.design
	variance := map[int]float64{}
	for _, i := range d.touched[v.threat] {
		p := d.pairs[i-d.nodes]
		u := p.U
		if v.known[u] {
			u = p.V
		}
		if v.known[u] || v.position.x[i] == 0 {
			continue
		}
		if variance[u] == 0 {
			nodes = append(nodes, u)
		}
		variance[u] += v.position.x[i]
	}
	for _, u := range nodes {
		roots = append(roots, math.Sqrt(variance[u]))
	}
	return nodes, roots
}

// reaches returns 1/[M_A⁻¹]_vv of every victim, and whether all are positive.
func (v *view) reaches() ([]float64, bool) {
	p := v.position
	n := p.design.nodes
	victims := p.design.threats[v.threat].Victims
	out := make([]float64, len(victims))
	good := true
	for at, u := range victims {
		value := p.inverse[u*n+u]
		for _, x := range rowOf(v.f, u) {
			value -= x * x
		}
		for _, x := range rowOf(v.g, u) {
			value += x * x
		}
		out[at] = 1 / value
		good = good && value > 0
	}
	return out, good
}

// solutionsTo writes M_A⁻¹d_v to rows of dst for the nodes v: len(nodes)×n, zero on A.
func (v *view) solutionsTo(dst blas64.General, nodes []int) {
	p := v.position
	n := p.design.nodes
	for i, u := range nodes {
		copy(rowOf(dst, i), p.inverse[u*n:(u+1)*n])
	}
	if v.f.Cols > 0 {
		gemm.Gemm(blas.NoTrans, blas.Trans, -1, pick(v.f, nodes), v.f, 1, dst)
	}
	if v.g.Cols > 0 {
		gemm.Gemm(blas.NoTrans, blas.Trans, 1, pick(v.g, nodes), v.g, 1, dst)
	}
	for i := range nodes {
		for _, a := range p.design.threats[v.threat].Attacker {
			dst.Data[i*dst.Stride+a] = 0
		}
	}
}

// block returns M_A⁻¹ at these nodes, rows and columns of nodes in A being zero.
func (v *view) block(nodes []int) blas64.General {
	p := v.position
	n := p.design.nodes
	b := general(len(nodes), len(nodes))
	for i, u := range nodes {
		for j, w := range nodes {
			b.Data[i*b.Stride+j] = p.inverse[u*n+w]
		}
	}
	if v.f.Cols > 0 {
		f := pick(v.f, nodes)
		gemm.Gemm(blas.NoTrans, blas.Trans, -1, f, f, 1, b)
	}
	if v.g.Cols > 0 {
		g := pick(v.g, nodes)
		gemm.Gemm(blas.NoTrans, blas.Trans, 1, g, g, 1, b)
	}
	for i, u := range nodes {
		if v.known[u] {
			for j := range nodes {
				b.Data[i*b.Stride+j], b.Data[j*b.Stride+i] = 0, 0
			}
		}
	}
	return b
}

func general(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(1, cols), Data: make([]float64, rows*cols)}
}

// rowOf returns a row, which is nil where there are no columns.
func rowOf(m blas64.General, i int) []float64 {
	if m.Cols == 0 {
		return nil
	}
	return m.Data[i*m.Stride:][:m.Cols]
}

// columns returns columns of an n×n matrix side by side.
func columns(m []float64, n int, which []int) blas64.General {
	c := general(n, len(which))
	for i := range n {
		for j, w := range which {
			c.Data[i*c.Stride+j] = m[i*n+w]
		}
	}
	return c
}

// pick returns rows of m.
func pick(m blas64.General, which []int) blas64.General {
	p := general(len(which), m.Cols)
	for i, w := range which {
		copy(rowOf(p, i), rowOf(m, w))
	}
	return p
}

// square returns rows of m that make a square.
func square(m blas64.General, which []int) blas64.Symmetric {
	p := pick(m, which)
	return blas64.Symmetric{Uplo: blas.Lower, N: p.Rows, Stride: p.Stride, Data: p.Data}
}

// rightSolve replaces b by bL⁻ᵀ for m = LLᵀ, so that bbᵀ becomes bm⁻¹bᵀ. It returns false if m is not positive definite.
func rightSolve(b blas64.General, m blas64.Symmetric) bool {
	if m.N == 0 {
		return true
	}
	l, ok := gemm.Potrf(m)
	if ok {
		gemm.Trsm(blas.Right, blas.Trans, 1, l, b)
	}
	return ok
}
