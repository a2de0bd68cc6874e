package secrets

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/internal/parallel"
	"mafalda/internal/rounding"
)

// updates proves what attackers learn from one matrix P near M⁻¹. Let A be an attacker, N the nodes that have pairs
// with it, and e_ua the variances of these. For whatever matrices F and G, of n rows, let Z = P - FFᵀ + GGᵀ on the
// nodes outside of A. What M_AZ lacks of the identity is
//
//	R = I - M_AZ = (I - MP) + (M_AF)Fᵀ - (M_AG)Gᵀ + B,     B_u· = Σ_a e_ua (P_u· - P_a·) for u in N, or else 0,
//
// and with ρ ≥ ‖R‖, where that is less than one, M_A⁻¹ - Z = M_A⁻¹R says that tr(M_A⁻¹) ≤ T = tr(Z)/(1-ρ) and
//
//	[M_A⁻¹]_vv ≤ Z_vv + ‖M_A⁻¹d_v‖ρ,  ‖M_A⁻¹d_v‖² ≤ T·[M_A⁻¹]_vv,  hence  [M_A⁻¹]_vv ≤ (√Z_vv + ρ√T)².
//
// With F and G of dense.Exclude the rows of M_AF and M_AG outside of N are next to nothing, and so are R's rows in N: ρ
// is a sum of Frobenius norms of what is computed and of bounds of its rounding, each a few units of the last place of
// a sum of absolute values (Higham, section 3.1). The cost of an attacker is (n+m)(|A|+|N|) + n(|A|+|N|)²
// multiplications.
type updates struct {
	own      []float64 // s
	links    [][]link  // pairs of every node
	gamma    float64   // bounds the rounding of a row of M times a vector, relative to the sum of absolute values
	inverse  []float64 // P, symmetric, n×n
	residual float64   // an upper bound of ‖I - MP‖_F
}

// link is a pair as one of its nodes sees it.
type link struct {
	to       int
	variance float64
}

// linksOf returns updates without a P: timesTo and squares need none.
func linksOf(noise *Noise) *updates {
	n := len(noise.Own)
	u := &updates{own: make([]float64, n), links: make([][]link, n)}
	for i, d := range noise.Own {
		u.own[i] = d * d
	}
	for _, p := range noise.Pairs {
		if e := p.Deviation * p.Deviation; e != 0 {
			u.links[p.U], u.links[p.V] = append(u.links[p.U], link{p.V, e}), append(u.links[p.V], link{p.U, e})
		}
	}
	most := 0
	for _, l := range u.links {
		most = max(most, len(l))
	}
	u.gamma = 2 * float64(most+8) * 0x1p-53
	return u
}

// newUpdates returns what bounds noise that has been checked; nil where M has no inverse to speak of.
func newUpdates(noise *Noise) *updates {
	u, n := linksOf(noise), len(noise.Own)
	m := noise.Covariance().RawSymmetric()
	factor, ok := gemm.Potrf(m)
	if ok {
		_, ok = gemm.Potri(factor)
	}
	if !ok {
		return nil
	}
	u.inverse = m.Data
	dense.Transpose(u.inverse, n) // SymDense fills the upper triangle
	dense.Mirror(u.inverse, n)
	u.measure()
	return u
}

// measure bounds ‖I - MP‖_F.
func (u *updates) measure() {
	n := len(u.own)
	rows := make([]float64, n)
	p := blas64.General{Rows: n, Cols: n, Stride: n, Data: u.inverse}
	parallel.For(n, func(i int) {
		row, size := make([]float64, n), make([]float64, n)
		u.timesTo(row, size, i, p, nil)
		row[i]--
		size[i]++
		rows[i] = u.squares(row, size)
	})
	u.residual = math.Sqrt(floats.Sum(rows))
}

// timesTo writes a row of M_A times x to row, and the sums of the absolute values of its terms to size. The nodes of A
// are known; nil stands for none.
func (u *updates) timesTo(row, size []float64, i int, x blas64.General, known []bool) {
	of, s := dense.Row(x, i), u.own[i]
	for c, v := range of {
		row[c] = s * v
		size[c] = math.Abs(row[c])
	}
	for _, l := range u.links[i] {
		if known != nil && known[l.to] {
			continue
		}
		for c, v := range dense.Row(x, l.to) {
			t := l.variance * (of[c] - v)
			row[c] += t
			size[c] += math.Abs(t)
		}
	}
}

// squares bounds the sum of squares of a row that timesTo has computed.
func (u *updates) squares(row, size []float64) float64 {
	var sum float64
	for c, v := range row {
		v = math.Abs(v) + u.gamma*size[c]
		sum += v * v
	}
	return sum
}

// pays reports whether Cholesky factors would take longer.
func (u *updates) pays(pairs int, coalition []int) bool {
	n, rank := float64(len(u.own)), float64(len(coalition))
	for _, a := range coalition {
		rank += float64(len(u.links[a]))
	}
	const scalar = 40 // times as long as a multiplication within a product of matrices
	return scalar*(n+2*float64(pairs))*rank < n*n*n
}

// bounds returns the nodes outside of a coalition and a bound of [M_A⁻¹]_vv for each of them. It is not ok where P is
// not near enough, or where Cholesky factors prove more of whom most is learned of.
func (u *updates) bounds(coalition []int) (others []int, bounds []float64, ok bool) {
	z, ok := u.nearbyInverse(coalition)
	if !ok {
		return nil, nil, false
	}
	scaled := float64(len(z.others)) * z.scaled
	up := math.Min(inflation(len(z.others), math.Min(z.trace*z.total, scaled)), givenAway)
	bounds = make([]float64, len(z.others))
	for i, v := range z.diagonal {
		// What factors give away is given away here, too: bounds are the same whatever the way to them.
		bounds[i] = rounding.MulUp(v, up)
		if proven := z.bound(v); proven > bounds[i] {
			if v == z.most {
				return nil, nil, false
			}
			bounds[i] = proven
		}
	}
	return z.others, bounds, true
}

// nearInverse is Z, near M_A⁻¹.
type nearInverse struct {
	others      []int
	diagonal    []float64 // upper bounds of Z_vv of the others
	total, most float64   // the sum and the largest of the diagonal
	trace       float64   // the trace of M_A
	scaled      float64   // Σ [M_A]_vv Z_vv
	away        float64   // an upper bound of ρ√T
}

// bound returns (√Z_vv + ρ√T)², rounded up.
func (z nearInverse) bound(vv float64) float64 {
	root := math.Sqrt(vv) + z.away
	return root * root * (1 + 0x1p-49)
}

// nearbyInverse is not ok if Z says nothing of M_A⁻¹.
func (u *updates) nearbyInverse(coalition []int) (z nearInverse, ok bool) {
	n := len(u.own)
	out := newOutside(u, coalition)
	update, ok := dense.Exclude(u.inverse, n, coalition, out.near, out.variances)
	if !ok {
		return z, false
	}
	rho := out.residual(update)
	gamma := 2 * float64(len(coalition)+len(out.near)+8) * 0x1p-53
	for i, known := range out.known {
		if known {
			continue
		}
		variance := u.own[i] // [M_A]_vv
		for _, l := range u.links[i] {
			if !out.known[l.to] {
				variance += l.variance
			}
		}
		p, less, more := u.inverse[i*n+i], sumOfSquares(dense.Row(update.F, i)), sumOfSquares(dense.Row(update.G, i))
		vv := p - less + more + gamma*(math.Abs(p)+less+more)
		ok = ok && vv > 0
		z.others, z.diagonal = append(z.others, i), append(z.diagonal, vv)
		z.total, z.most = z.total+vv, math.Max(z.most, vv)
		z.trace, z.scaled = z.trace+variance, z.scaled+variance*vv
	}
	z.away = rho * math.Sqrt(z.total/(1-rho)) * (1 + 1e-9)
	return z, ok && rho < 0.5
}

func sumOfSquares(x []float64) (sum float64) {
	for _, v := range x {
		sum += v * v
	}
	return sum
}

// outside is what a coalition does not know.
type outside struct {
	*updates
	coalition []int
	known     []bool    // the coalition
	near      []int     // nodes outside that have pairs with it
	variances []float64 // the variances of these pairs, together for each of the nodes
}

func newOutside(u *updates, coalition []int) *outside {
	o := &outside{updates: u, coalition: coalition, known: setOf(len(u.own), coalition)}
	for _, a := range coalition {
		for _, l := range u.links[a] {
			if o.known[l.to] {
				continue
			}
			at := slices.Index(o.near, l.to)
			if at < 0 {
				at = len(o.near)
				o.near, o.variances = append(o.near, l.to), append(o.variances, 0)
			}
			o.variances[at] += l.variance
		}
	}
	return o
}

// residual returns a bound of ‖R‖_F.
func (o *outside) residual(update dense.Update) float64 {
	f, g := o.product(update.F), o.product(update.G)
	corner, size := o.corner() // B, on the rows near
	if len(o.coalition) > 0 && len(o.near) > 0 {
		gemm.Gemm(blas.NoTrans, blas.Trans, 1, f.near, update.F, 1, corner)
		gemm.Gemm(blas.NoTrans, blas.Trans, -1, g.near, update.G, 1, corner)
	}
	var left float64
	for k := range corner.Rows {
		var sum float64
		for i, v := range dense.Row(corner, k) {
			if !o.known[i] {
				sum += v * v
			}
		}
		left += sum
	}
	gamma := o.gamma + 2*float64(len(o.coalition)+len(o.near)+8)*0x1p-53
	rho := o.updates.residual + math.Sqrt(left) + gamma*(size+f.size*f.norm+g.size*g.norm) +
		(f.away+f.rounding)*f.norm + (g.away+g.rounding)*g.norm
	return rho*(1+1e-8) + 1e-100 // rounding of these sums; what has underflown
}

// factor is what M_A makes of F or G, with Frobenius norms over the nodes outside of A.
type factor struct {
	near     blas64.General // rows of M_AF in N
	rounding float64        // the rounding in near
	size     float64        // norm of the rows in near
	away     float64        // norm of all other rows, their rounding included
	norm     float64        // the norm of F
}

func (o *outside) product(x blas64.General) factor {
	f := factor{near: dense.NewGeneral(len(o.near), x.Cols)}
	if x.Cols == 0 {
		return f
	}
	buffer, size := make([]float64, x.Cols), make([]float64, x.Cols)
	at := make([]int, len(o.known)) // place in near, from 1
	for k, i := range o.near {
		at[i] = k + 1
	}
	for i, known := range o.known {
		if known {
			continue
		}
		f.norm += sumOfSquares(dense.Row(x, i))
		if at[i] == 0 {
			o.timesTo(buffer, size, i, x, o.known)
			f.away += o.squares(buffer, size)
			continue
		}
		row := dense.Row(f.near, at[i]-1)
		o.timesTo(row, size, i, x, o.known)
		f.size += sumOfSquares(row)
		f.rounding += sumOfSquares(size)
	}
	f.norm, f.size, f.away = math.Sqrt(f.norm), math.Sqrt(f.size), math.Sqrt(f.away)
	f.rounding = o.gamma * math.Sqrt(f.rounding)
	return f
}

// corner returns the rows of B that are not zero, and the norm of the sums of the absolute values of their terms.
func (o *outside) corner() (b blas64.General, size float64) {
	n := len(o.own)
	b = dense.NewGeneral(len(o.near), n)
	sizes := make([]float64, n)
	for k, i := range o.near {
		row := dense.Row(b, k)
		clear(sizes)
		for _, l := range o.links[i] {
			if !o.known[l.to] {
				continue
			}
			to := o.inverse[l.to*n : (l.to+1)*n]
			for j, v := range o.inverse[i*n : (i+1)*n] {
				t := l.variance * (v - to[j])
				row[j] += t
				sizes[j] += math.Abs(t)
			}
		}
		for j, known := range o.known {
			if !known {
				size += sizes[j] * sizes[j]
			}
		}
	}
	return b, math.Sqrt(size)
}
