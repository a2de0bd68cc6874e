package participation

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
)

// interior maximizes ⟨Γ, X⟩ over Γ ⪰ 0 with unit diagonal, and minimizes Σλ subject to Z = diag(λ) - X ⪰ 0, together:
// the primal-dual interior method of Helmberg, Rendl, Vanderbei & Wolkowicz (1996). Its steps are Newton's for ZΓ = μ1,
//
//	(Z⁻¹∘Γ) dλ = μ diag Z⁻¹ - 1,      dΓ = μZ⁻¹ - Γ - Z⁻¹ diag(dλ) Γ, made symmetric,
//
// as long as stays inside. Any Γ and λ bound each other's values; a dozen steps of O(k³) reach a gap of 1e-6.
type interior struct {
	k        int
	x, gamma *mat.SymDense
	lambda   []float64

	z, inverse *mat.SymDense
}

const (
	interiorShorter = 0.8   // a step that leaves is made shorter by this,
	interiorWithin  = 0.95  // and then ends before the boundary
	interiorLeast   = 1e-12 // shorter steps are none
)

// newInterior starts from Γ = 1 and a Z that is diagonally dominant.
func newInterior(x *mat.SymDense) *interior {
	k := x.SymmetricDim()
	p := &interior{k: k, x: x, gamma: mat.NewSymDense(k, nil), lambda: make([]float64, k), inverse: mat.NewSymDense(k, nil)}
	for i := range k {
		p.gamma.SetSym(i, i, 1)
		for j := range k {
			p.lambda[i] += math.Abs(x.At(i, j))
		}
	}
	floor := 1e-3 * floats.Sum(p.lambda) / float64(k)
	for i := range p.lambda {
		p.lambda[i] += 0.1*p.lambda[i] + floor
	}
	p.z = p.slack(p.lambda)
	return p
}

// slack returns diag(λ) - X.
func (p *interior) slack(lambda []float64) *mat.SymDense {
	z := mat.NewSymDense(p.k, nil)
	z.ScaleSym(-1, p.x)
	for i, l := range lambda {
		z.SetSym(i, i, l-p.x.At(i, i))
	}
	return z
}

// inner returns ⟨a, b⟩.
func inner(a, b *mat.SymDense) float64 {
	var total float64
	for i := range a.SymmetricDim() {
		ra, rb := a.RawSymmetric(), b.RawSymmetric()
		from, to := i*ra.Stride+i, (i+1)*ra.Stride
		total += 2*floats.Dot(ra.Data[from:to], rb.Data[from:to]) - ra.Data[from]*rb.Data[from]
	}
	return total
}

// length returns how far a step stays positive definite, 1 at most, and where it leads; 0 if no step does.
func length(along func(length float64) *mat.SymDense) (float64, *mat.SymDense) {
	var chol dense.Cholesky
	for l := 1.0; l > interiorLeast; l *= interiorShorter {
		if !chol.Factorize(along(l)) {
			continue
		}
		if l < 1 {
			l *= interiorWithin
		}
		return l, along(l)
	}
	return 0, nil
}

// step makes a step towards μ; primal and dual are how far it went.
func (p *interior) step(mu float64) (primal, dual float64) {
	var chol dense.Cholesky
	if !chol.Factorize(p.z) {
		return 0, 0
	}
	chol.InverseTo(p.inverse) // a bad condition comes from the scales of X, and is harmless, here and below
	weights := mat.NewSymDense(p.k, nil)
	right := mat.NewDense(p.k, 1, nil)
	for i := range p.k {
		for j := i; j < p.k; j++ {
			weights.SetSym(i, j, p.inverse.At(i, j)*p.gamma.At(i, j))
		}
		right.Set(i, 0, mu*p.inverse.At(i, i)-1)
	}
	if !chol.Factorize(weights) {
		return 0, 0
	}
	var column mat.Dense
	chol.SolveTo(&column, right)
	change := mat.Col(nil, 0, &column)
	scaled := mat.DenseCopyOf(p.gamma) // diag(dλ) Γ
	for i, v := range change {
		floats.Scale(v, scaled.RawRowView(i))
	}
	var product mat.Dense
	dense.Mul(&product, p.inverse, scaled)
	towards := mat.NewSymDense(p.k, nil)
	for i := range p.k {
		for j := i + 1; j < p.k; j++ {
			towards.SetSym(i, j, mu*p.inverse.At(i, j)-p.gamma.At(i, j)-(product.At(i, j)+product.At(j, i))/2)
		}
	} // the diagonal is zero by the choice of dλ
	primal, gamma := length(func(l float64) *mat.SymDense {
		next := mat.NewSymDense(p.k, nil)
		next.ScaleSym(l, towards)
		next.AddSym(next, p.gamma)
		return next
	})
	lambda := make([]float64, p.k)
	dual, z := length(func(l float64) *mat.SymDense {
		floats.AddScaledTo(lambda, p.lambda, l, change)
		return p.slack(lambda)
	})
	if gamma != nil {
		p.gamma = gamma
	}
	if z != nil {
		p.z = z
		copy(p.lambda, lambda)
	}
	return primal, dual
}

// solve makes steps until enough returns true, or until the number of steps is reached. It calls enough with every λ whose
// Σλ is within the gap of what Γ attains, and with the last one.
func (p *interior) solve(steps int, gap float64, enough func(lambda []float64, attained float64) bool) {
	mu := inner(p.z, p.gamma) / float64(2*p.k)
	for range steps {
		primal, dual := p.step(mu)
		if primal == 0 && dual == 0 {
			break
		}
		attained, total := inner(p.gamma, p.x), floats.Sum(p.lambda)
		if total-attained <= gap*total && enough(p.lambda, attained) {
			return
		}
		if next := inner(p.z, p.gamma) / float64(2*p.k); primal+dual > 1.8 {
			mu = next / 2
		} else {
			mu = math.Min(mu, next)
		}
	}
	enough(p.lambda, inner(p.gamma, p.x))
}
