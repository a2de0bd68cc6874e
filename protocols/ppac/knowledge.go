package ppac

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
)

// knowledge is what is known, as columns C in the space of sources scaled to variance one; C = QR.
type knowledge struct {
	columns   blas64.General    // C, sources×rank, exact but for vague
	absolute  blas64.General    // |C|
	upper     blas64.Triangular // R
	inverse   blas64.Triangular // |R⁻¹|
	magnitude blas64.Triangular // |R|
	size      []float64         // largest entry of every row of C
	entries   []float64         // number of entries of every row that are not zero
	vague     []float64         // how far the entries of every row may be from the truth, because the basis is not exact
	wide      bool              // standard deviations are far apart
}

var errSingular = errors.New("singular in double precision")

// knownColumns builds the columns: what messages say, and the fragments that complete the sums of nodes which chose an
// observer.
func (v *View) knownColumns(d Deviations) (*knowledge, error) {
	p, rank := v.protocol, v.span.Rank()
	inside := func(i int) bool { return slices.Contains(v.coalition, i) }
	var direct []int
	for j, m := range p.chosen {
		if inside(m) && !inside(j) {
			direct = append(direct, j)
		}
	}
	k := &knowledge{wide: d.differBy(wideRange), columns: dense.NewGeneral(p.sources, rank+len(direct)),
		vague: make([]float64, p.sources)}
	d = d.normalize() // leakages do not depend on the unit; squares shall be numbers
	if k.columns.Cols == 0 {
		return k, nil
	}
	v.addMessages(k, d, inside)
	for c, j := range direct { // u_j less the fragments that are not known
		k.setEntry(j, rank+c, d.Value)
		for at, n := range p.neighbours[j] {
			if source := p.source[j][at]; source >= 0 && !inside(n) {
				k.setEntry(source, rank+c, -d.Noise)
			}
		}
	}
	return k, k.factorize()
}

func (k *knowledge) setEntry(row, column int, x float64) {
	k.columns.Data[row*k.columns.Stride+column] = x
}

// addMessages fills in the columns of the basis. For a direction x of the basis, a source has the coefficient of xᵀv(0)
// (Equation 13) times its standard deviation, where x is 0 on the nodes whose v(0) is known: x_m for u_j and x_k - x_m
// for Γ_jk, if m = m_j. Sources that are known have none.
func (v *View) addMessages(k *knowledge, d Deviations, inside func(int) bool) {
	p, s := v.protocol, v.span
	width := len(s.Hidden)
	x := func(r, node int) float64 {
		if at := s.Place[node]; at >= 0 {
			return s.Basis[r*width+at]
		}
		return 0
	}
	vague := make([]float64, p.Nodes()) // of x_node
	for at, node := range s.Hidden {
		if s.Blur > 0 && s.Touches(at) {
			vague[node] = s.Blur
		}
	}
	for j, around := range p.neighbours {
		if inside(j) {
			continue
		}
		m := p.chosen[j]
		for r := range s.Rank() {
			k.setEntry(j, r, d.Value*x(r, m))
		}
		k.vague[j] = d.Value * vague[m]
		for at, n := range around {
			if source := p.source[j][at]; source >= 0 && !inside(n) {
				for r := range s.Rank() {
					k.setEntry(source, r, d.Noise*(x(r, n)-x(r, m)))
				}
				k.vague[source] = d.Noise * (vague[n] + vague[m])
			}
		}
	}
}

// factorize finds R, of the rows with the longest on top: reflections then lose little where rows are of different
// sizes (Cox & Higham 1998).
func (k *knowledge) factorize() error {
	rows, rank := k.columns.Rows, k.columns.Cols
	k.absolute, k.size, k.entries = dense.NewGeneral(rows, rank), make([]float64, rows), make([]float64, rows)
	order, length := make([]int, rows), make([]float64, rows)
	for i := range rows {
		order[i], length[i] = i, blas64.Nrm2(vector(dense.Row(k.columns, i)))
		for c, x := range dense.Row(k.columns, i) {
			if x != 0 {
				k.absolute.Data[i*rank+c] = math.Abs(x)
				k.size[i] = math.Max(k.size[i], math.Abs(x))
				k.entries[i]++
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(length[b], length[a]) })
	sorted := dense.NewGeneral(rows, rank)
	for to, from := range order {
		copy(sorted.Data[to*rank:(to+1)*rank], dense.Row(k.columns, from))
	}
	gemm.Triangularize(rows, rank, sorted.Data, rank)
	triangle := func() blas64.Triangular {
		return blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: rank, Stride: rank,
			Data: slices.Clone(sorted.Data[:rank*rank])}
	}
	k.upper, k.inverse, k.magnitude = triangle(), triangle(), triangle()
	for i, x := range k.magnitude.Data {
		k.magnitude.Data[i] = math.Abs(x)
	}
	for i := range rank {
		if k.upper.Data[i*rank+i] == 0 {
			return errSingular
		}
		clear(k.inverse.Data[i*rank : i*rank+i])
	}
	if !gemm.Trtri(k.inverse) || !k.sound() {
		return errSingular
	}
	for i, x := range k.inverse.Data {
		k.inverse.Data[i] = math.Abs(x)
	}
	return nil
}

// sound reports whether CR⁻¹ is near orthonormal columns, by what it does to a vector that favours no direction: its
// singular values are above ½ then, so that bounds with R hold with twice as much for the true factor.
func (k *knowledge) sound() bool {
	rank := k.columns.Cols
	x := make([]float64, rank)
	state := uint64(1)
	for i := range x { // signs of a congruential generator
		state = state*6364136223846793005 + 1442695040888963407
		x[i] = 1 - 2*float64(state>>63)
	}
	y := vector(slices.Clone(x))
	blas64.Trsv(blas.NoTrans, k.upper, y)
	along := vector(make([]float64, k.columns.Rows))
	blas64.Gemv(blas.NoTrans, 1, k.columns, y, 0, along)
	blas64.Gemv(blas.Trans, 1, k.columns, along, 0, y)
	blas64.Trsv(blas.Trans, k.upper, y)
	blas64.Axpy(-1, vector(x), y)
	return blas64.Nrm2(y) <= 0.5
}
