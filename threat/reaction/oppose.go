package reaction

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
)

// follow returns P = moveᵀ Q move: what a difference χ costs if nodes answer linearly.
func follow(a *answer, q []float64) []float64 {
	if a.move.empty() {
		return borrowZeros(len(q))
	}
	return a.move.congruence(q)
}

const (
	slack      = 1e-9 // how far multipliers are above what diagonal dominance asks for
	thin       = 1e-6 // dominance below which they are raised by as much again: D − BᵀQB is nearly singular there
	floor      = 1e-3 // of the differences that multipliers are made of, beside the mean one
	inputFloor = 1e-7 // likewise, beside the record's input: where differences have died out before it comes again
	largestTau = 1e8  // of a multiplier beside (|ρ|+κ)κQ_vv: beyond it digits are lost
	largestP   = 1e9  // of P beside Q
)

// price is P of the theorem with the multipliers that closed form makes of a difference, and α of the record's input.
type price struct {
	p     []float64
	alpha float64
}

// oppose returns the price before the worst answer in the class, proven for any difference e (χ, n rows of width
// columns) that multipliers are made of: a good one makes it small. victim is the node whose record has a part in this
// step, -1 for none. sigma is what is added to every multiplier, in κQ_vv. why is empty unless the price cannot be
// given.
func oppose(a *answer, classes []Class, q, e []float64, width, victim int, sigma float64) (out price, why string) {
	m, n := len(a.kappa), a.move.rows

	// columns of B with something to pay for, the record's input last
	unitQ := a.inject.transposeTimes(q, n) // m×n: (Q·inject)ᵀ
	defer release(unitQ)
	var columns []int
	local := make([]float64, m) // Q_vv
	for v := range m {
		row := unitQ[v*n : (v+1)*n]
		if local[v] = a.diagonal(row, v); !(local[v] > 0) && norm(row) > 0 {
			return price{}, "what a node's answer costs is lost in rounding"
		}
		if a.kappa[v] > 0 && local[v] > 0 {
			columns = append(columns, v)
		}
	}
	input := victim >= 0 && local[victim] > 0
	count := len(columns)
	if input {
		count++
	}
	bq := borrowZeros(count * n) // (QB)ᵀ
	defer release(bq)
	for j, v := range columns {
		add(bq[j*n:(j+1)*n], a.kappa[v], unitQ[v*n:(v+1)*n])
	}
	if input {
		copy(bq[(count-1)*n:], unitQ[victim*n:(victim+1)*n])
	}
	bqb := borrow(count * count)
	defer release(bqb)
	for j := range count {
		across := a.inject.transposeTimes(bq[j*n:(j+1)*n], 1)
		for l, v := range columns {
			bqb[j*count+l] = a.kappa[v] * across[v]
		}
		if input {
			bqb[j*count+count-1] = across[victim]
		}
		release(across)
	}
	symmetrize(bqb, count)

	// multipliers, and how dominant the diagonal is
	tau := make([]float64, n)
	var steep []float64 // rows of V, VᵀV = QB(D − BᵀQB)⁻¹BᵀQ
	if count > 0 {
		lengths := a.lengths(e, local, columns, width, victim)
		if input {
			lengths = append(lengths, 1)
		}
		moved := a.move.times(e, width)
		pulled := borrow(count * width)
		defer release(moved, pulled)
		gemm.Gemm(blas.NoTrans, blas.NoTrans, 1, general(count, n, bq), general(n, width, moved), 0,
			general(count, width, pulled))
		d, least, dominance := make([]float64, count), proofMargin(count), 1.0
		for j := range d {
			pull, sum := norm(pulled[j*width:(j+1)*width]), 0.0
			for l, length := range lengths {
				sum += math.Abs(bqb[j*count+l]) * length
			}
			above := math.Max(slack, 10*least)
			if pull < thin*sum && !a.move.empty() {
				above = math.Max(above, thin)
			}
			dominance = math.Min(dominance, (pull+above*sum)/(pull+sum))
			d[j] = (1 + above) * (pull + sum) / lengths[j]
			if j < len(columns) {
				d[j] += sigma * a.kappa[columns[j]] * local[columns[j]]
			}
			if !finite(d[j]) {
				return price{}, "a multiplier is not finite"
			}
		}
		factor, ok := prove(d, bqb, least)
		defer release(factor.Data)
		if !ok {
			return price{}, "no multipliers were proven"
		}
		for j, v := range columns {
			tau[v] = d[j]
			c := classes[v]
			if d[j] > largestTau*c.Lipschitz()*c.Kappa*local[v] {
				return price{}, "multipliers are too large for the digits of a float64"
			}
		}
		if input {
			out.alpha = d[count-1]
		}
		if !a.move.empty() {
			gemm.Trsm(blas.Left, blas.NoTrans, 1, factor, general(count, n, bq))
			steep = bq
			raised := borrowZeros(len(q))
			defer release(raised)
			above := 1 + a.lost(q, local, dominance)
			add(raised, above, q)
			gemm.Syrk(blas.Trans, above, general(count, n, steep), 1,
				blas64.Symmetric{N: n, Stride: n, Data: raised, Uplo: blas.Lower})
			dense.Mirror(raised, n)
			q = raised
		}
	}
	out.p = follow(a, q)
	a.makeUp(out.p, q, steep, count)
	largest, largestQ := 0.0, 0.0
	for v, t := range tau {
		out.p[v*n+v] += t * (1 + 4*unit)
		largest, largestQ = math.Max(largest, out.p[v*n+v]), math.Max(largestQ, q[v*n+v])
	}
	if !(largest <= largestP*largestQ) || !finite(largest) {
		return price{}, "what differences cost is too large for the digits of a float64"
	}
	return out, ""
}

// lost returns how much may be lost, relatively, in solving for V. With the scale D the factor L of D − BᵀQB has rows
// of length at most 1, and its inverse is at most 1/√dominance long. A triangular solve makes V = L⁻¹(BᵀQ + β) with |β|
// ≤ γ|L||V|, and BᵀQ itself has lost some units of |B|ᵀ|Q|. For any ε
//
//	bᵀM⁻¹b ⪯ (1 + ε)(b + β)ᵀM⁻¹(b + β) + (1 + 1/ε)βᵀM⁻¹β,
//
// and the last term is at most (count·γ)²/(ε·dominance) times the first one, by diagonal dominance. Where gradients
// enter several numbers, with opposite signs, |B|ᵀ|Q| may be much larger than BᵀQ.
func (a *answer) lost(q, local []float64, dominance float64) float64 {
	m, n := len(a.kappa), a.move.rows
	largest := 1.0
	for v := range m {
		if !(local[v] > 0) {
			continue
		}
		sum := 0.0
		for at := v; at < n; at += m {
			a.inject.each(at, func(_ int, x float64) { sum += math.Abs(x) * math.Sqrt(math.Max(0, q[at*n+at])) })
		}
		largest = math.Max(largest, sum/math.Sqrt(local[v]))
	}
	return 2 * float64(m+1) * gamma(m+1) * largest / math.Sqrt(dominance)
}

// makeUp adds to P = moveᵀ(Q + VᵀV)move what rounding may have taken from it.
func (a *answer) makeUp(p, q, steep []float64, count int) {
	n := a.move.rows
	weights := weightsOf(p, n)
	moved := a.move.absTimes(weights)
	lost := absTimes(q, n, n, moved)
	if steep != nil {
		add(lost, 1, absTransposeTimes(steep, count, n, absTimes(steep, count, n, moved)))
	}
	raiseBy(p, n, scaled(a.move.absTransposeTimes(lost), gamma(2*n+count)), weights)
}

// diagonal returns (injectᵀQ inject)_vv of row v of injectᵀQ.
func (a *answer) diagonal(row []float64, v int) float64 {
	sum := 0.0
	for at := v; at < len(row); at += len(a.kappa) {
		a.inject.each(at, func(_ int, x float64) { sum += x * row[at] })
	}
	return sum
}

// lengths returns |e_v| for some nodes, and at least floor of what a mean difference would be there, or inputFloor of
// what would cost as much as the record's input of the victim, if one is not -1.
func (a *answer) lengths(e, local []float64, columns []int, width, victim int) []float64 {
	m, sum := len(a.kappa), 0.0
	for v := range m {
		l := norm(e[v*width : (v+1)*width])
		sum += math.Max(0, local[v]) * l * l
	}
	mean := math.Sqrt(sum / float64(m))
	if victim >= 0 {
		mean = math.Max(mean, inputFloor/floor*math.Sqrt(math.Max(0, local[victim])))
	}
	if !(mean > 0) {
		mean = 1 / floor
	}
	out := make([]float64, 0, len(columns)+1)
	for _, v := range columns {
		l := norm(e[v*width : (v+1)*width])
		out = append(out, math.Max(l, floor*mean/math.Sqrt(local[v])))
	}
	return out
}

// proofMargin returns what a proof by factorization of order n needs, beside the diagonal: a Cholesky factor that
// exists in floating point is exact for a matrix that differs by at most γ_{n+1}·√(a_ii a_jj) in each entry (Higham,
// Theorem 10.3), in norm by n times as much in the scale of the diagonal, and the entries themselves are made with some
// roundings.
func proofMargin(n int) float64 {
	return 8 * float64(n+2) * float64(n+2) * unit
}

// prove returns the Cholesky factor L of D(1 − margin) − BᵀQB, which proves D ≻ BᵀQB. Where it does not exist, D is
// raised, up to twice as much.
func prove(d, bqb []float64, margin float64) (factor blas64.Triangular, ok bool) {
	count := len(d)
	for raise := slack; raise < 2; raise *= 10 {
		a := borrow(len(bqb))
		for i, v := range bqb {
			a[i] = -v
		}
		for j, v := range d {
			a[j*count+j] += v * (1 - margin)
		}
		factor, ok = gemm.Potrf(blas64.Symmetric{N: count, Stride: count, Data: a, Uplo: blas.Lower})
		if ok {
			return factor, true
		}
		release(a)
		for j := range d {
			d[j] *= 1 + raise
		}
	}
	return blas64.Triangular{}, false
}
