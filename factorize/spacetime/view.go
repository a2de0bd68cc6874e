package spacetime

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/internal/lists"
	"mafalda/internal/parallel"
)

// position is M of a point x, inverted, and what every attacker learns there.
type position struct {
	design  *design
	x       []float64
	inverse []float64   // P = M⁻¹, n×n
	reach   [][]float64 // 1/(ω_v [M_A⁻¹]_vv) of every threat and victim: what the constraints want to be at least 1
}

// newPosition returns the position of x > 0; nil if M or an M_A is not positive definite in floating point.
func newPosition(d *design, x []float64) *position {
	p := &position{design: d, x: x, reach: make([][]float64, len(d.threats))}
	var ok bool
	if p.inverse, ok = p.inverseWithout(nil); !ok {
		return nil
	}
	good := make([]bool, len(d.threats))
	parallel.For(len(d.threats), func(t int) {
		var v view
		if v.see(p, t) {
			p.reach[t], good[t] = v.reaches()
		}
	})
	if slices.Contains(good, false) {
		return nil
	}
	return p
}

// inverseWithout returns M_A⁻¹, n×n and zero on A, from the variances that A does not know: of nodes outside of A, and of
// pairs outside of A. It returns false if M_A is not positive definite in floating point.
func (p *position) inverseWithout(known map[int]bool) (inverse []float64, ok bool) {
	n := p.design.nodes
	inverse = make([]float64, n*n)
	for i, s := range p.x[:n] {
		inverse[i*n+i] = s
		if known[i] {
			inverse[i*n+i] = 1 // on its own: taken out below
		}
	}
	for i, pair := range p.design.pairs {
		if known[pair.U] || known[pair.V] {
			continue
		}
		e := p.x[n+i]
		inverse[pair.U*n+pair.U] += e
		inverse[pair.V*n+pair.V] += e
		inverse[pair.V*n+pair.U] = -e // the lower triangle: U < V
	}
	factor, ok := gemm.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: n, Data: inverse})
	if !ok {
		return nil, false
	}
	if _, ok := gemm.Potri(factor); !ok {
		return nil, false
	}
	dense.Mirror(inverse, n)
	for a := range known {
		inverse[a*n+a] = 0
	}
	return inverse, true
}

// least returns the smallest reach of any victim.
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
// A's messages, the second the pairs that A knows: its rank is the number of nodes that have one with A.
//
// Where A has pairs with half of all nodes an update saves nothing, and M_A is inverted as it is. That is more accurate,
// too: on a complete graph with pairs of 10⁴ times the variance of nodes, P - FFᵀ and GGᵀ lose eleven of sixteen digits.
type view struct {
	position *position
	threat   int
	known    map[int]bool // A
	inverse  []float64    // P, or M_A⁻¹ itself where there is no update
	dense.Update
}

// see fills the view of a threat. It returns false if M_A is not positive definite in floating point.
func (v *view) see(p *position, threat int) (ok bool) {
	d := p.design
	attacker := d.threats[threat].Attacker
	v.position, v.threat, v.known = p, threat, memberSet(attacker)
	near, variances := v.neighbourVariances()
	v.inverse, v.Update = p.inverse, dense.Update{}
	if 2*(len(near)+len(attacker)) > d.nodes {
		v.inverse, ok = p.inverseWithout(v.known)
		return ok
	}
	v.Update, ok = dense.Exclude(p.inverse, d.nodes, attacker, near, variances)
	return ok
}

func memberSet(attacker []int) map[int]bool {
	all := make(map[int]bool, len(attacker))
	for _, a := range attacker {
		all[a] = true
	}
	return all
}

// neighbourVariances returns the nodes outside of A that have pairs with it, and how much variance each of them has
// with A.
func (v *view) neighbourVariances() (nodes []int, variances []float64) {
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
	return nodes, lists.Map(nodes, func(u int) float64 { return variance[u] })
}

// reaches returns 1/(ω_v [M_A⁻¹]_vv) of every victim, and whether all are positive.
func (v *view) reaches() ([]float64, bool) {
	p := v.position
	n := p.design.nodes
	victims := p.design.threats[v.threat].Victims
	out := make([]float64, len(victims))
	good := true
	for at, u := range victims {
		value := v.inverse[u*n+u]
		for _, x := range dense.Row(v.F, u) {
			value -= x * x
		}
		for _, x := range dense.Row(v.G, u) {
			value += x * x
		}
		out[at] = 1 / (value * p.design.weight[u])
		good = good && value > 0
	}
	return out, good
}

// entriesTo writes the entries of M_A⁻¹ in some rows and columns to dst, those of nodes in A being zero.
func (v *view) entriesTo(dst blas64.General, rows, columns []int) {
	n := v.position.design.nodes
	for i, u := range rows {
		for j, w := range columns {
			dst.Data[i*dst.Stride+j] = v.inverse[u*n+w]
		}
	}
	for i, part := range []blas64.General{v.F, v.G} {
		if part.Cols > 0 {
			gemm.Gemm(blas.NoTrans, blas.Trans, float64(2*i-1), dense.Pick(part, rows), dense.Pick(part, columns), 1, dst)
		}
	}
	for j, w := range columns {
		for i := 0; v.known[w] && i < len(rows); i++ {
			dst.Data[i*dst.Stride+j] = 0
		}
	}
	for i, u := range rows {
		if v.known[u] {
			clear(dense.Row(dst, i))
		}
	}
}
