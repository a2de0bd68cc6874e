package secrets

import (
	"context"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/gemm"
	"mafalda/internal/parallel"
	"mafalda/internal/rounding"
)

// Worst is the attacker who learns most, and of whom.
type Worst struct {
	Attacker []int   // ascending; empty: the eavesdropper
	Victim   int     // outside of Attacker
	Value    float64 // not below [M_A⁻¹]_vv: the squared sensitivity of the step for noise of variance one
}

// Worst returns a proven bound of max [M_A⁻¹]_vv over all attackers and victims, and where it is attained. It is +Inf
// where a covariance is not positive definite, or not so beyond rounding: the attacker then knows some message.
//
// For every attacker M_A = LLᵀ is factored and LY = I solved. Both are backward stable whatever the order of the
// operations (Higham, "Accuracy and Stability of Numerical Algorithms", Theorems 8.5 and 10.3): with γ = 4(n+8)u, which
// is more than twice what they need, and ‖L‖_F² near tr(M_A),
//
//	M_A = LLᵀ + Δ,  ‖Δ‖ ≤ δ = 2γ·tr(M_A)          the rounding of M_A's own entries included,
//	‖L⁻¹‖ ≤ τ = ‖Y‖_F/(1 - η),  η = γ‖L‖_F‖Y‖_F,
//	[M_A⁻¹]_vv ≤ ‖y_v‖² (1 + γτ‖L‖_F)² / (1 - δτ²),
//
// the last since M_A ≥ (1 - δτ²) LLᵀ. Where [M_A⁻¹]_vv ≤ 1 for all v, τ² is at most n, so that δτ² is about 16 n³ u: what
// is given away to rounding is small. The cost is 4n³/3 multiplications an attacker.
//
// The errors are those of Check, another number of nodes, and that of the context.
func (n *Noise) Worst(ctx context.Context, attackers *Attackers) (Worst, error) {
	if err := n.Check(); err != nil {
		return Worst{}, err
	}
	if attackers.nodes != len(n.Own) {
		return Worst{}, fmt.Errorf("noise of %d nodes against attackers of %d", len(n.Own), attackers.nodes)
	}
	threats := attackers.Threats()
	values, victims := make([]float64, len(threats)), make([]int, len(threats))
	buffers := sync.Pool{New: func() any { return new([2][]float64) }}
	parallel.For(len(threats), func(i int) {
		if ctx.Err() != nil {
			return
		}
		b := buffers.Get().(*[2][]float64)
		defer buffers.Put(b)
		values[i], victims[i] = n.threat(threats[i], b)
	})
	if ctx.Err() != nil {
		return Worst{}, context.Cause(ctx)
	}
	var worst Worst
	for i, v := range values {
		if !(v <= worst.Value) { // what is no number is no bound
			worst = Worst{threats[i].Attacker, victims[i], v}
		}
	}
	return worst, nil
}

// threat returns the bound for one attacker, and the victim. It works in the two buffers.
func (n *Noise) threat(t Threat, buffers *[2][]float64) (value float64, victim int) {
	others, bounds := n.learned(t.Attacker, buffers)
	at := 0
	for _, v := range t.Victims {
		for others[at] != v {
			at++
		}
		if !(bounds[at] <= value) {
			value, victim = bounds[at], v
		}
	}
	return value, victim
}

// learned returns the nodes outside of a coalition and a bound of [M_A⁻¹]_vv for each of them, as Worst proves it. It
// works in the two buffers.
func (n *Noise) learned(coalition []int, buffers *[2][]float64) (others []int, bounds []float64) {
	m, others := n.Unknown(coalition)
	size := len(others)
	for i := range buffers {
		if cap(buffers[i]) < size*size {
			buffers[i] = make([]float64, size*size)
		}
		buffers[i] = buffers[i][:size*size]
	}
	bounds = make([]float64, size)
	if size == 0 {
		return nil, nil
	}
	trace := mat.Trace(m)
	lower := blas64.Symmetric{Uplo: blas.Lower, N: size, Stride: size, Data: buffers[0]}
	copy(lower.Data, m.RawSymmetric().Data)
	for i := range size { // SymDense fills the upper triangle
		for j := range i {
			lower.Data[i*size+j] = lower.Data[j*size+i]
		}
	}
	factor, ok := gemm.Potrf(lower)
	if !ok {
		for i := range bounds {
			bounds[i] = math.Inf(1)
		}
		return others, bounds
	}
	y := blas64.General{Rows: size, Cols: size, Stride: size, Data: buffers[1]}
	clear(y.Data)
	for i := range size {
		y.Data[i*size+i] = 1
	}
	gemm.Trsm(blas.Left, blas.NoTrans, 1, factor, y)
	squares := columnSquares(y)
	up := inflation(size, trace, squares)
	for i, s := range squares {
		bounds[i] = rounding.MulUp(s, up)
	}
	return others, bounds
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

// inflation returns what squared norms of columns of L⁻¹ have to be multiplied with; +Inf where rounding proves
// nothing.
func inflation(size int, trace float64, squares []float64) float64 {
	gamma := 4 * float64(size+8) * 0x1p-53
	var total float64 // ‖Y‖_F²
	for _, s := range squares {
		total += s
	}
	const up = 1 + 1e-9 // rounding of these few lines, and γ² terms
	l, y := math.Sqrt(trace)*up, math.Sqrt(total)*up
	eta := gamma * l * y * up
	if !(eta < 0.5) {
		return math.Inf(1)
	}
	tau := y / (1 - eta) * up
	rho := 2 * gamma * trace * tau * tau * up
	if !(rho < 0.5) {
		return math.Inf(1)
	}
	grown := 1 + gamma*tau*l*up
	return grown * grown / (1 - rho) * (1 + gamma) // columnSquares sums up to n squares
}
