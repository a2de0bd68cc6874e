package secrets

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/internal/rounding"
)

// factorBounds returns the nodes outside of a coalition and a bound of [M_A⁻¹]_vv for each of them.
//
// M_A = LLᵀ is factored and LY = I solved. Both are backward stable whatever the order of the operations (Higham,
// "Accuracy and Stability of Numerical Algorithms", Theorems 8.5 and 10.3): with γ = 4(n+8)u, which is more than twice
// what they need, and ‖L‖_F² near tr(M_A),
//
//	M_A = LLᵀ + Δ,  ‖Δ‖ ≤ δ = 2γ·tr(M_A)          the rounding of M_A's own entries included,
//	‖L⁻¹‖ ≤ τ = ‖Y‖_F/(1 - η),  η = γ‖L‖_F‖Y‖_F,
//	[M_A⁻¹]_vv ≤ ‖y_v‖² (1 + γτ‖L‖_F)² / (1 - δτ²),
//
// the last since M_A ≥ (1 - δτ²) LLᵀ. All of it holds entry by entry, and so for DM_AD, DL and YD⁻¹ with any positive
// diagonal D as well: the factor depends on tr(M_A)‖Y‖_F² alone, and the D that makes the diagonal one, with n Σ_v
// [M_A]_vv‖y_v‖², asks for nothing of nodes whose variances are of other scales. The lesser counts. Where [M_A⁻¹]_vv ≤ 1
// for all v, τ² is at most n, so that δτ² is about 16 n³ u: what is given away to rounding is small. Where pairs have far
// more variance than nodes it is not, and refineBounds proves more. The cost is 2n³/3 multiplications.
func (n *Noise) factorBounds(coalition []int) (others []int, bounds []float64) {
	m, others := n.Unknown(coalition)
	size := len(others)
	bounds = make([]float64, size)
	if size == 0 {
		return nil, nil
	}
	diagonal := make([]float64, size)
	for i := range diagonal {
		diagonal[i] = m.At(i, i)
	}
	lower := m.RawSymmetric()
	lower.Uplo = blas.Lower
	dense.Transpose(lower.Data, size) // SymDense fills the upper triangle
	factor, ok := gemm.Potrf(lower)
	if !ok {
		for i := range bounds {
			bounds[i] = math.Inf(1)
		}
		return others, bounds
	}
	y := dense.NewGeneral(size, size)
	for i := range size {
		y.Data[i*size+i] = 1
	}
	const columns = 64
	for from := 0; from < size; from += columns { // what is above them stays zero
		corner, rest := factor, y
		corner.N, corner.Data = size-from, factor.Data[from*size+from:]
		rest.Rows, rest.Cols, rest.Data = size-from, min(columns, size-from), y.Data[from*size+from:]
		gemm.Trsm(blas.Left, blas.NoTrans, 1, corner, rest)
	}
	squares := columnSquares(y)
	up := inflation(size, math.Min(floats.Sum(diagonal)*floats.Sum(squares), float64(size)*floats.Dot(diagonal, squares)))
	for i, s := range squares {
		bounds[i] = rounding.MulUp(s, up)
	}
	if up > givenAway {
		n.refineBounds(coalition, others, y, diagonal, bounds)
	}
	return others, bounds
}

// givenAway is the factor of a bound that may be lost to rounding before refineBounds is worth its time.
const givenAway = 1 + 1e-7

// refineBounds lowers the bounds of the nodes outside of a coalition to what Z = YᵀY proves, Y near L⁻¹. As of updates, with
// ρ ≥ ‖I - M_AZ‖,
//
//	[M_A⁻¹]_vv ≤ (√Z_vv + ρ√T)²,   T = tr(Z)/(1-ρ).
//
// A row of M_AZ is a sum of differences of rows of Z, which are nearly equal where pairs have much variance: its rounding
// is small there. It is said of DM_AD and D⁻¹ZD⁻¹, where D, of powers of two, makes the diagonal of M_A about one. The
// cost is n³ multiplications, and n a pair.
func (n *Noise) refineBounds(coalition, others []int, y blas64.General, diagonal, bounds []float64) {
	nodes := len(n.Own)
	product := dense.NewGeneral(len(others), len(others))
	gemm.Gemm(blas.Trans, blas.NoTrans, 1, y, y, 0, product)
	z := dense.NewGeneral(nodes, len(others))
	d := make([]float64, len(others))
	near := nearInverse{others: others}
	for i, v := range others {
		copy(dense.Row(z, v), dense.Row(product, i))
		_, exponent := math.Frexp(diagonal[i])
		d[i] = math.Ldexp(1, -exponent/2)
		vv := dense.Row(product, i)[i] / (d[i] * d[i])
		near.total, near.most = near.total+vv, math.Max(near.most, vv)
		near.diagonal = append(near.diagonal, vv)
	}
	known := setOf(nodes, coalition)
	u := linksOf(n)
	row, size := make([]float64, len(others)), make([]float64, len(others))
	var squares float64
	for i, v := range others {
		u.timesTo(row, size, v, z, known)
		row[i]--
		size[i]++
		for c := range row {
			row[c], size[c] = row[c]*d[i]/d[c], size[c]*d[i]/d[c]
		}
		squares += u.squares(row, size)
	}
	rho := math.Sqrt(squares)*(1+1e-8) + 1e-100
	if !(rho < 0.5) {
		return
	}
	near.away = rho * math.Sqrt(near.total/(1-rho)) * (1 + 1e-9)
	for i, vv := range near.diagonal {
		proven := math.Max(near.bound(vv), rounding.MulUp(vv, givenAway))
		bounds[i] = math.Min(bounds[i], proven*d[i]*d[i])
	}
}

// columnSquares returns ‖y_v‖² of every column v of a lower triangle.
func columnSquares(y blas64.General) []float64 {
	squares := make([]float64, y.Cols)
	for i := range y.Rows {
		for v, x := range y.Data[i*y.Stride:][:i+1] {
			squares[v] += x * x
		}
	}
	return squares
}

// inflation returns what squared norms of columns of L⁻¹ have to be multiplied with, for tr(M_A)‖Y‖_F²; +Inf where
// rounding proves nothing.
func inflation(size int, product float64) float64 {
	gamma := 4 * float64(size+8) * 0x1p-53
	const up = 1 + 1e-9 // rounding of these few lines, and γ² terms
	condition := math.Sqrt(product) * up * up
	eta := gamma * condition * up
	if !(eta < 0.5) {
		return math.Inf(1)
	}
	condition *= up / (1 - eta) // τ‖L‖_F
	rho := 2 * gamma * condition * condition * up
	if !(rho < 0.5) {
		return math.Inf(1)
	}
	grown := 1 + gamma*condition*up
	return grown * grown / (1 - rho) * (1 + gamma) // columnSquares sums up to n squares
}
