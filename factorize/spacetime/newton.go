package spacetime

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/internal/parallel"
)

func dot(x, y []float64) float64 { return floats.Dot(x, y) }

// newton is the matrix of a Newton step over the variables,
//
//	Σ_k y_k (-∇²reach_k) + Σ_k (y_k/t_k) ∇reach_k ∇reach_kᵀ + diagonal,
//
// and its Cholesky factor. With z_k = √ω_v M_A⁻¹d_v·reach_k, the dual vectors, and b_i the variables' directions,
//
//	∇reach_k[i] = (b_iᵀz_k)²
//	-∇²reach_k[i,j] = 2 (b_iᵀz_k)(b_jᵀz_k) b_iᵀM_A⁻¹b_j - 2 ∇reach_k[i] ∇reach_k[j]/reach_k.
//
// The first term is summed per attacker, over the variables that its constraints say something of.
type newton struct {
	// significant is the share of a variable's sum of weighted derivatives below which an attacker's second derivatives
	// do not count there. What is left out is a principal part of a positive semidefinite matrix.
	significant float64

	// common takes M_A⁻¹ to be M⁻¹, and A to know no pair, in second derivatives for all attackers but those that know
	// much of some node's noise. Where nodes have many pairs that is near enough, and takes as long as one attacker.
	common bool

	size   int
	matrix []float64 // lower triangle
	factor blas64.Triangular
}

// assemble computes the matrix from the working constraints and the diagonal, in place of what there was.
func (m *newton) assemble(p *position, w *working, diagonal []float64) {
	d := p.design
	m.size = d.size()
	if size := m.size * m.size; cap(m.matrix) < size {
		most := m.size
		if m.common {
			most = Variables(p.design.nodes, math.MaxInt)
		}
		m.matrix = make([]float64, size, most*most)
	} else {
		m.matrix = m.matrix[:size]
		clear(m.matrix)
	}
	of := w.of
	if m.common {
		of = m.addCommonCurvature(p, w)
	}
	m.addCurvature(p, w, of)
	m.addSquares(w)
	for i, v := range diagonal {
		m.matrix[i*m.size+i] += v
	}
}

// addSquares adds the terms in ∇reach ∇reachᵀ.
func (m *newton) addSquares(w *working) {
	const rowsOfPanel = 4 * rowsAtOnce
	panel := dense.NewGeneral(min(rowsOfPanel, len(w.weight)), m.size)
	for from := 0; from < len(w.weight); from += rowsOfPanel {
		rows := min(rowsOfPanel, len(w.weight)-from)
		parallel.For(rows, func(i int) {
			k := from + i
			row := dense.Row(panel, i)
			w.design.rowTo(row, w.row(k), w.threat[k])
			// Where the difference is negative, at first, the second term is left out: a shorter step.
			scale := w.weight[k]/w.slack[k] - 2*w.weight[k]/w.reach[k]
			if scale <= 0 {
				scale = w.weight[k] / w.slack[k]
			}
			floats.Scale(math.Sqrt(scale), row)
		})
		panel.Rows = rows
		m.addSquare(panel)
	}
}

// addSquare adds aᵀa to the lower triangle, tile by tile.
func (m *newton) addSquare(a blas64.General) {
	const tile = 768
	columns := func(from int) blas64.General {
		return blas64.General{Rows: a.Rows, Cols: min(tile, m.size-from), Stride: a.Stride, Data: a.Data[from:]}
	}
	for i := 0; i < m.size; i += tile {
		left := columns(i)
		for j := 0; j <= i; j += tile {
			right := columns(j)
			gemm.Gemm(blas.Trans, blas.NoTrans, 1, left, right, 1, blas64.General{Rows: left.Cols, Cols: right.Cols,
				Stride: m.size, Data: m.matrix[i*m.size+j:]})
		}
	}
}

// local is an attacker's second derivatives: variables, and M_A⁻¹ and Σ_k y_k z_k z_kᵀ on the nodes they have to do
// with.
type local struct {
	variables        []int // ascending
	first, second    []int // nodes of the variables, as rows of the matrices; second is -1 for own variances
	inverse, weights blas64.General
}

// addCurvature adds the terms of some groups, a few attackers at a time.
func (m *newton) addCurvature(p *position, w *working, of []group) {
	total := make([]float64, m.size)
	w.pullTo(w.design, total, w.weight)
	const batch = 16
	for from := 0; from < len(of); from += batch {
		locals := make([]*local, min(batch, len(of)-from))
		parallel.For(len(locals), func(i int) { locals[i] = m.local(p, w, of[from+i], total) })
		m.add(locals)
	}
}

// add adds the terms of some attackers, a few rows of the matrix at a time.
func (m *newton) add(locals []*local) {
	const rows = 32
	parallel.For((m.size+rows-1)/rows, func(chunk int) {
		for _, l := range locals {
			l.addRows(m, chunk*rows, (chunk+1)*rows)
		}
	})
}

func (m *newton) local(p *position, w *working, g group, total []float64) *local {
	d := p.design
	sum, row := make([]float64, d.size()), make([]float64, d.size())
	for k := g.from; k < g.to; k++ {
		d.rowTo(row, w.row(k), g.threat)
		floats.AddScaled(sum, w.weight[k], row)
	}
	l := &local{}
	at := slices.Repeat([]int{-1}, d.nodes)
	var nodes []int
	number := func(u int) int {
		if at[u] < 0 {
			at[u] = len(nodes)
			nodes = append(nodes, u)
		}
		return at[u]
	}
	for i, v := range sum {
		if v == 0 || v < m.significant*total[i] {
			continue
		}
		l.variables = append(l.variables, i)
		if i < d.nodes {
			l.first, l.second = append(l.first, number(i)), append(l.second, -1)
			continue
		}
		pair := d.pairs[i-d.nodes]
		l.first, l.second = append(l.first, number(pair.U)), append(l.second, number(pair.V))
	}
	var v view
	v.see(p, g.threat)
	l.inverse = dense.NewGeneral(len(nodes), len(nodes))
	v.entriesTo(l.inverse, nodes, nodes)
	scaled := dense.NewGeneral(g.to-g.from, len(nodes))
	for k := range scaled.Rows {
		z := w.row(g.from + k)
		root := math.Sqrt(2 * w.weight[g.from+k])
		for j, u := range nodes {
			scaled.Data[k*scaled.Stride+j] = root * z[u]
		}
	}
	l.weights = dense.NewGeneral(len(nodes), len(nodes))
	gemm.Gemm(blas.Trans, blas.NoTrans, 1, scaled, scaled, 0, l.weights)
	return l
}

// addCommonCurvature adds the terms with M⁻¹ in place of M_A⁻¹, and returns the groups that it leaves out.
func (m *newton) addCommonCurvature(p *position, w *working) (others []group) {
	d := p.design
	n := d.nodes
	weights := make([]float64, len(w.weight))
	noise := d.variances(p.x)
	for _, g := range w.of {
		if p.knowsMuch(g.threat, noise) {
			others = append(others, g)
			continue
		}
		copy(weights[g.from:g.to], w.weight[g.from:g.to])
	}
	floats.Scale(2, weights)
	l := &local{inverse: blas64.General{Rows: n, Cols: n, Stride: n, Data: p.inverse}, weights: w.squares(weights)}
	for i := range m.size {
		first, second := i, -1
		if i >= n {
			first, second = d.pairs[i-n].U, d.pairs[i-n].V
		}
		l.variables, l.first, l.second = append(l.variables, i), append(l.first, first), append(l.second, second)
	}
	m.add([]*local{l})
	return others
}

// knowsMuch reports whether an attacker shares much of the noise of a node.
func (p *position) knowsMuch(threat int, noise []float64) bool {
	const much = 0.15
	v := view{position: p, threat: threat, known: memberSet(p.design.threats[threat].Attacker)}
	nodes, variances := v.neighbourVariances()
	for i, u := range nodes {
		if variances[i] > much*noise[u] {
			return true
		}
	}
	return false
}

// addRows adds the rows from..to of the matrix's lower triangle.
func (l *local) addRows(m *newton, from, to int) {
	first, _ := slices.BinarySearch(l.variables, from)
	r, q := make([]float64, l.inverse.Rows), make([]float64, l.inverse.Rows)
	for i := first; i < len(l.variables) && l.variables[i] < to; i++ {
		l.difference(r, l.inverse, i)
		l.difference(q, l.weights, i)
		row := m.matrix[l.variables[i]*m.size:][:m.size]
		for j, at := range l.variables[:i+1] {
			u, v := l.first[j], l.second[j]
			if v < 0 {
				row[at] += r[u] * q[u]
				continue
			}
			row[at] += (r[u] - r[v]) * (q[u] - q[v])
		}
	}
}

// difference writes b_iᵀm to dst.
func (l *local) difference(dst []float64, m blas64.General, i int) {
	copy(dst, dense.Row(m, l.first[i]))
	if v := l.second[i]; v >= 0 {
		floats.Sub(dst, dense.Row(m, v))
	}
}

// factorize returns false if the matrix is not positive definite, even after its diagonal has grown a little.
func (m *newton) factorize() bool {
	for i := range m.size {
		m.matrix[i*m.size+i] *= 1 + 1e-13
	}
	var ok bool
	m.factor, ok = gemm.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: m.size, Stride: m.size, Data: m.matrix})
	return ok
}

// solve replaces b by the solution.
func (m *newton) solve(b []float64) {
	g := blas64.General{Rows: len(b), Cols: 1, Stride: 1, Data: b}
	gemm.Trsm(blas.Left, blas.NoTrans, 1, m.factor, g)
	gemm.Trsm(blas.Left, blas.Trans, 1, m.factor, g)
}
