package spacetime

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/internal/lists"
	"mafalda/internal/parallel"
)

// working are the constraints that a Newton step takes into account, with what it needs of them. A constraint far from
// being tight has no weight to speak of and is left out.
type working struct {
	design *design
	of     []group
	threat []int // threat and victim of row k
	victim []int
	z      blas64.General // row k: M_A⁻¹d_v/([M_A⁻¹]_vv √ω_v), zero on A and 1/√ω_v at v
	reach  []float64
	slack  []float64
	weight []float64
}

// group are the constraints of one threat: rows from..to of z.
type group struct {
	threat   int
	from, to int
}

// constraint is a victim of a threat, with its slack and its multiplier.
type constraint struct {
	at            int // index of the victim
	slack, weight float64
}

// gather collects the constraints of every threat.
func gather(p *position, active [][]constraint) *working {
	w := &working{design: p.design}
	for t, constraints := range active {
		g := group{threat: t, from: len(w.weight)}
		for _, c := range constraints {
			w.threat, w.victim = append(w.threat, t), append(w.victim, p.design.threats[t].Victims[c.at])
			w.reach = append(w.reach, p.reach[t][c.at])
			w.slack = append(w.slack, c.slack)
			w.weight = append(w.weight, c.weight)
		}
		if g.to = len(w.weight); g.to > g.from {
			w.of = append(w.of, g)
		}
	}
	w.z = dense.NewGeneral(len(w.weight), p.design.nodes)
	parallel.For(len(w.of), func(i int) {
		g := w.of[i]
		var v view
		if !v.see(p, g.threat) { // it did when the position was made
			panic("spacetime: a covariance is no longer positive definite")
		}
		v.entriesTo(w.rows(g), w.victim[g.from:g.to], lists.UpTo(w.z.Cols))
		for k := g.from; k < g.to; k++ {
			z, victim := w.row(k), w.victim[k]
			root := math.Sqrt(p.design.weight[victim])
			for j := range z {
				z[j] *= w.reach[k] * root
			}
			z[victim] = 1 / root // as it is up to rounding
		}
	})
	return w
}

func (w *working) row(k int) []float64 { return dense.Row(w.z, k) }

func (w *working) rows(g group) blas64.General {
	return blas64.General{Rows: g.to - g.from, Cols: w.z.Cols, Stride: w.z.Stride, Data: w.z.Data[g.from*w.z.Stride:]}
}

// rowsAtOnce is how many constraints are worked on at a time.
const rowsAtOnce = 128

// visitRows calls visit for the derivatives of every reach by the variables of a design, on several goroutines:
// rowsAtOnce constraints on each.
func (w *working) visitRows(d *design, visit func(k int, row []float64)) {
	parallel.For(w.chunks(), func(chunk int) {
		row := make([]float64, d.size())
		for k := chunk * rowsAtOnce; k < min((chunk+1)*rowsAtOnce, len(w.threat)); k++ {
			d.rowTo(row, w.row(k), w.threat[k])
			visit(k, row)
		}
	})
}

func (w *working) chunks() int { return (len(w.threat) + rowsAtOnce - 1) / rowsAtOnce }

// mulTo writes the derivatives of all reaches along dx to dst.
func (w *working) mulTo(dst, dx []float64) {
	w.visitRows(w.design, func(k int, row []float64) { dst[k] = dot(row, dx) })
}

// pullTo writes Σ_k y_k times the derivative of reach k by the variables of a design to dst.
func (w *working) pullTo(d *design, dst, y []float64) {
	parts := lists.Make(w.chunks(), func(int) []float64 { return make([]float64, d.size()) })
	w.visitRows(d, func(k int, row []float64) { floats.AddScaled(parts[k/rowsAtOnce], y[k], row) })
	clear(dst)
	for _, part := range parts {
		floats.Add(dst, part)
	}
}

// squares returns Σ_k y_k z_k z_kᵀ for y ≥ 0.
func (w *working) squares(y []float64) blas64.General {
	n := w.z.Cols
	scaled, sum := dense.NewGeneral(len(y), n), dense.NewGeneral(n, n)
	parallel.For(len(y), func(k int) { floats.ScaleTo(dense.Row(scaled, k), math.Sqrt(y[k]), w.row(k)) })
	gemm.Gemm(blas.Trans, blas.NoTrans, 1, scaled, scaled, 0, sum)
	return sum
}
