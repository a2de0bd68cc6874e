package reaction

import (
	"math"
	"slices"

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

// stepCost is what is at stake in one step before nodes answer: what answers and the record's input cost.
type stepCost struct {
	answer  *answer
	classes []Class
	q       []float64 // Q, n×n
	local   []float64 // Q_vv of a unit of each node's answer
	columns
	count  int       // the number of columns
	bq     []float64 // BᵀQ, count×n
	bqb    []float64 // BᵀQB
	margin float64   // the margin of proofs that D is above BᵀQB
}

// columns are the columns of B: nodes' answers and, last, the record's input if it has a part in the step.
type columns struct {
	nodes   []int     // whose
	scale   []float64 // what an answer of length 1 is multiplied with; 1 for the input
	answers int       // how many columns are answers
}

// stepCostOf returns what is at stake before what costs Q. victim is the node whose record has a part in this step, -1
// for none. why is empty unless rounding hides it.
func stepCostOf(a *answer, classes []Class, q []float64, victim int) (s *stepCost, why string) {
	m, n := len(a.kappa), a.move.rows
	s = &stepCost{answer: a, classes: classes, q: q, local: make([]float64, m)}
	unitQ := a.inject.transposeTimes(q, n) // m×n: (Q·inject)ᵀ
	defer release(unitQ)
	for v := range m {
		row := unitQ[v*n : (v+1)*n]
		if s.local[v] = a.diagonal(row, v); !(s.local[v] > 0) && norm(row) > 0 {
			return nil, "what a node's answer costs is lost in rounding"
		}
		if a.kappa[v] > 0 && s.local[v] > 0 {
			s.nodes, s.scale = append(s.nodes, v), append(s.scale, a.kappa[v])
		}
	}
	s.answers = len(s.nodes)
	if victim >= 0 && s.local[victim] > 0 {
		s.nodes, s.scale = append(s.nodes, victim), append(s.scale, 1)
	}
	s.count = len(s.nodes)
	s.bq = borrowZeros(s.count * n)
	for j, v := range s.nodes {
		add(s.bq[j*n:(j+1)*n], s.scale[j], unitQ[v*n:(v+1)*n])
	}
	s.bqb = borrow(s.count * s.count)
	for j := range s.count {
		across := a.inject.transposeTimes(s.bq[j*n:(j+1)*n], 1)
		for l, v := range s.nodes {
			s.bqb[j*s.count+l] = s.scale[l] * across[v]
		}
		release(across)
	}
	symmetrize(s.bqb, s.count)
	s.margin = proofMargin(s.count) + s.cancelled()
	return s, ""
}

// cancelled returns what BᵀQB may have lost in rounding, in norm and in the scale of its diagonal, where gradients enter
// several numbers with opposite signs. With a_j = Σ_i |B_ij|√Q_ii, computed entries are wrong by at most
//
//	γ(|B|ᵀ|Q||B|)_jl ≤ γ a_j a_l ≤ γ max_v(a_v²/(BᵀQB)_vv) √((BᵀQB)_jj (BᵀQB)_ll),
//
// since Q is positive semidefinite, and in norm by as many times that as there are columns. A proof that D is above the
// computed matrix has D above its diagonal.
func (s *stepCost) cancelled() float64 {
	m, n := len(s.local), s.answer.move.rows
	sums, worst := s.answer.entering(s.q), 0.0
	for j, v := range s.nodes {
		sum := s.scale[j] * sums[v]
		worst = math.Max(worst, sum*sum/s.bqb[j*s.count+j])
	}
	return gamma(n/m) * float64(s.count) * worst
}

// release gives the matrices back.
func (s *stepCost) release() { release(s.bq, s.bqb) }

// pull returns BᵀQRe for a difference e of width columns.
func (s *stepCost) pull(e []float64, width int) []float64 {
	n := s.answer.move.rows
	moved, pulled := s.answer.move.times(e, width), borrow(s.count*width)
	defer release(moved)
	gemm.Gemm(blas.NoTrans, blas.NoTrans, 1, general(s.count, n, s.bq), general(n, width, moved), 0,
		general(s.count, width, pulled))
	return pulled
}

// multipliers are D of the theorem.
type multipliers struct {
	d         []float64 // D, a multiplier a column of B
	dominance float64   // D − BᵀQB ⪰ dominance·D up to rounding
	margin    float64   // D(1 − margin) ≻ BᵀQB must be proven
	fixed     bool      // they must not be raised for it
}

// chooser returns multipliers for what is at stake in step t.
type chooser func(t int, s *stepCost) multipliers

// oppose returns the price in step t of a difference before nodes answer, if Q is what it costs after. victim is the node
// whose record has a part in this step, -1 for none. why is empty unless the price cannot be given.
func (all *stages) oppose(t int, q []float64, victim int, choose chooser) (out price, why string) {
	s, why := stepCostOf(all.answers[t], all.classes[t], q, victim)
	if why != "" {
		return price{}, why
	}
	defer s.release()
	return s.price(choose(t, s))
}

// runChooser returns a chooser of multipliers in closed form, made of differences of width columns in all steps.
func runChooser(runs [][]float64, width int, sigma float64) chooser {
	return func(t int, s *stepCost) multipliers { return s.dominant(runs[t], width, sigma) }
}

// dominant returns multipliers in closed form: D − BᵀQB is diagonally dominant in the scale of a difference e of width
// columns. sigma is what is added to every one, in κQ_vv.
func (s *stepCost) dominant(e []float64, width int, sigma float64) multipliers {
	lengths, pulled := s.lengths(e, width), s.pull(e, width)
	defer release(pulled)
	out := multipliers{d: make([]float64, s.count), dominance: 1, margin: s.margin}
	for j := range out.d {
		pull, sum := norm(pulled[j*width:(j+1)*width]), 0.0
		for l, length := range lengths {
			sum += math.Abs(s.bqb[j*s.count+l]) * length
		}
		above := math.Max(slack, 10*out.margin)
		if pull < thin*sum && !s.answer.move.empty() {
			above = math.Max(above, thin)
		}
		out.dominance = math.Min(out.dominance, (pull+above*sum)/(pull+sum))
		out.d[j] = (1 + above) * (pull + sum) / lengths[j]
	}
	s.extra(out.d, sigma)
	return out
}

// extra adds what multipliers have on top.
func (s *stepCost) extra(d []float64, sigma float64) {
	for j, v := range s.nodes[:s.answers] {
		d[j] += sigma * s.scale[j] * s.local[v]
	}
}

// price is P of the theorem, and α of the record's input, with the multipliers that made them.
type price struct {
	p     []float64
	alpha float64
	columns
	d      []float64         // D, of the columns
	factor blas64.Triangular // the Cholesky factor of D − BᵀQB
}

// price returns what a difference costs before the worst answer in the class, proven for any multipliers: good ones make
// it small. why is empty unless the price cannot be given.
func (s *stepCost) price(by multipliers) (out price, why string) {
	a, n := s.answer, s.answer.move.rows
	tau, q := make([]float64, n), s.q
	var steep []float64 // rows of V, VᵀV = QB(D − BᵀQB)⁻¹BᵀQ
	if len(by.d) != s.count {
		return price{}, "what answers cost is lost in rounding"
	}
	if s.count > 0 {
		for _, d := range by.d {
			if !finite(d) {
				return price{}, "a multiplier is not finite"
			}
		}
		var ok bool
		if out.factor, ok = by.prove(s.bqb, s.margin); !ok {
			return price{}, "no multipliers were proven"
		}
		out.columns, out.d = s.columns, by.d
		for j, v := range s.nodes[:s.answers] {
			tau[v] = by.d[j]
			if c := s.classes[v]; by.d[j] > largestTau*c.Lipschitz()*c.Kappa*s.local[v] {
				return price{}, "multipliers are too large for the digits of a float64"
			}
		}
		if s.answers < s.count {
			out.alpha = by.d[s.answers]
		}
		if !a.move.empty() {
			gemm.Trsm(blas.Left, blas.NoTrans, 1, out.factor, general(s.count, n, s.bq))
			steep = s.bq
			raised := borrowZeros(len(q))
			defer release(raised)
			above := 1 + a.lost(q, s.local, by.dominance)
			add(raised, above, q)
			gemm.Syrk(blas.Trans, above, general(s.count, n, steep), 1,
				blas64.Symmetric{N: n, Stride: n, Data: raised, Uplo: blas.Lower})
			dense.Mirror(raised, n)
			q = raised
		}
	}
	out.p = follow(a, q)
	a.makeUp(out.p, q, steep, s.count, by.dominance)
	largest, largestQ := 0.0, 0.0
	for v, t := range tau {
		out.p[v*n+v] += t * (1 + 4*unit)
		largest, largestQ = math.Max(largest, out.p[v*n+v]), math.Max(largestQ, s.q[v*n+v])
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
	m, largest := len(a.kappa), 1.0
	for v, sum := range a.entering(q) {
		if local[v] > 0 {
			largest = math.Max(largest, sum/math.Sqrt(local[v]))
		}
	}
	return 2 * float64(m+1) * gamma(m+1) * largest / math.Sqrt(dominance)
}

// entering returns |inject|ᵀ√Q of the diagonal, for every node.
func (a *answer) entering(q []float64) []float64 {
	sums, n := make([]float64, len(a.kappa)), a.move.rows
	for i := range n {
		root := math.Sqrt(math.Max(0, q[i*n+i]))
		a.inject.each(i, func(v int, x float64) { sums[v] += math.Abs(x) * root })
	}
	return sums
}

// makeUp adds to P = moveᵀ(Q + VᵀV)move what rounding may have taken from it, also in solving for V, which the dominance
// of D − BᵀQB says how well is done.
func (a *answer) makeUp(p, q, steep []float64, count int, dominance float64) {
	n := a.move.rows
	weights := weightsOf(p, n)
	moved := a.move.abs().times(weights, 1)
	lost := absTimes(q, n, n, moved)
	if steep != nil {
		add(lost, 1/math.Sqrt(dominance), absTransposeTimes(steep, count, n, absTimes(steep, count, n, moved)))
	}
	raiseBy(p, n, scaled(a.move.abs().transposeTimes(lost, 1), gamma(2*n+count)), weights)
}

// diagonal returns (injectᵀQ inject)_vv of row v of injectᵀQ.
func (a *answer) diagonal(row []float64, v int) float64 {
	sum := 0.0
	for at := v; at < len(row); at += len(a.kappa) {
		a.inject.each(at, func(_ int, x float64) { sum += x * row[at] })
	}
	return sum
}

// lengths returns |e_v| for the columns of B, at least floor of what a mean difference would be there, or inputFloor of
// what would cost as much as the record's input, and 1 for the input.
func (s *stepCost) lengths(e []float64, width int) []float64 {
	m, sum := len(s.local), 0.0
	for v := range m {
		l := norm(e[v*width : (v+1)*width])
		sum += math.Max(0, s.local[v]) * l * l
	}
	mean := math.Sqrt(sum / float64(m))
	if s.answers < s.count {
		mean = math.Max(mean, inputFloor/floor*math.Sqrt(s.bqb[len(s.bqb)-1]))
	}
	if !(mean > 0) {
		mean = 1 / floor
	}
	out := slices.Repeat([]float64{1}, s.count)
	for j, v := range s.nodes[:s.answers] {
		l := norm(e[v*width : (v+1)*width])
		out[j] = math.Max(l, floor*mean/math.Sqrt(s.local[v]))
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

// prove returns a Cholesky factor of D − BᵀQB, and proves that D(1 − margin) is above BᵀQB. Where it is not, D is raised,
// up to twice as much. What is left of a larger margin beyond the least one is dominance.
func (m *multipliers) prove(bqb []float64, least float64) (factor blas64.Triangular, ok bool) {
	margin := m.margin
	if margin != least {
		margin = math.Max(margin, 2*least)
	}
	for raise := slack; raise < 2; raise *= 10 {
		if factor, ok = m.factor(bqb, margin); ok {
			if margin == least {
				return factor, true
			}
			release(factor.Data)
			return m.factor(bqb, least)
		}
		if m.fixed {
			break
		}
		for j := range m.d {
			m.d[j] *= 1 + raise
		}
	}
	return blas64.Triangular{}, false
}

// factor returns the Cholesky factor of D(1 − margin) − BᵀQB.
func (m *multipliers) factor(bqb []float64, margin float64) (factor blas64.Triangular, ok bool) {
	count, a := len(m.d), borrow(len(bqb))
	for i, v := range bqb {
		a[i] = -v
	}
	for j, v := range m.d {
		a[j*count+j] += v * (1 - margin)
	}
	if factor, ok = gemm.Potrf(blas64.Symmetric{N: count, Stride: count, Data: a, Uplo: blas.Lower}); !ok {
		release(a)
	}
	return factor, ok
}
