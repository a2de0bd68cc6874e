package graph

import (
	"cmp"
	"errors"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"

	"mafalda/internal/dense"
	"mafalda/internal/parallel"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// SecondEigenvalue is |λ₂|, the second largest modulus of the eigenvalues of W, which says how fast gossip mixes. The
// spectral gap is 1 - |λ₂|.
type SecondEigenvalue struct {
	Modulus float64
	Error   float64 // norm of Lanczos' residual, with rounding; 0 for dense eigenvalues, whose only error is rounding
	Method  string  // "dense" or "Lanczos"
}

// Gap returns the spectral gap 1 - |λ₂|.
func (s SecondEigenvalue) Gap() float64 { return 1 - s.Modulus }

// ErrSpectrum is returned where the second eigenvalue is not computed: large matrices without detailed balance.
var ErrSpectrum = errors.New("eigenvalues are not computed for gossip matrices this large")

const (
	maxDenseReversible = 1200
	maxDenseGeneral    = 400
	lanczosSteps       = 300
	lanczosFloats      = 5e7 // of the basis, 400 MB; with more nodes fewer steps are made
)

// SecondEigenvalue computes |λ₂| of a connected W; one node has 0. With detailed balance it takes the eigenvalues of
// the similar symmetric matrix up to 1200 nodes, and Lanczos' method with the known first eigenvector deflated beyond.
// Lanczos' Modulus is a Rayleigh quotient: |λ₂| is not below it (but for rounding), and some eigenvalue, nearly always
// λ₂ itself, is within Error of it in modulus. That Error is an estimate, no bound; it stays large where the gap is
// tiny, as on long cycles.
//
// Without detailed balance it takes dense eigenvalues up to 400 nodes, as accurate as the eigenvalues of a matrix that
// is not normal can be, and returns ErrSpectrum beyond.
func (g *Gossip) SecondEigenvalue() (SecondEigenvalue, error) {
	n, _ := g.w.Dims()
	if n == 1 {
		return SecondEigenvalue{Method: "dense"}, nil
	}
	if pi, reversible := g.Stationary(); reversible && n > maxDenseReversible {
		return g.lanczos(pi), nil
	}
	values, err := g.Eigenvalues()
	if err != nil {
		return SecondEigenvalue{}, err
	}
	return SecondEigenvalue{Modulus: math.Min(values[1], 1), Method: "dense"}, nil
}

// Eigenvalues returns the moduli of the eigenvalues of W, largest first, by dense methods: up to 1200 nodes with
// detailed balance, up to 400 without; ErrSpectrum beyond.
func (g *Gossip) Eigenvalues() ([]float64, error) {
	n, _ := g.w.Dims()
	pi, reversible := g.Stationary()
	var moduli []float64
	switch {
	case reversible && n <= maxDenseReversible:
		s := mat.NewSymDense(n, nil) // D^½ W D^-½, D = diag(π)
		g.w.DoNonZero(func(i, j int, v float64) {
			if j >= i {
				s.SetSym(i, j, v*math.Sqrt(pi[i]/pi[j]))
			}
		})
		var eigen mat.EigenSym
		if !eigen.Factorize(s, false) {
			return nil, errEigen
		}
		for _, v := range eigen.Values(nil) {
			moduli = append(moduli, math.Abs(v))
		}
	case !reversible && n <= maxDenseGeneral:
		var eigen mat.Eigen
		if !eigen.Factorize(g.w.ToDense(), mat.EigenNone) {
			return nil, errEigen
		}
		for _, v := range eigen.Values(nil) {
			moduli = append(moduli, cmplx.Abs(v))
		}
	default:
		return nil, ErrSpectrum
	}
	slices.SortFunc(moduli, func(a, b float64) int { return cmp.Compare(b, a) })
	return moduli, nil
}

var errEigen = errors.New("eigenvalues of the gossip matrix did not converge")

// lanczos runs Lanczos' method with full orthogonalization on D^½ W D^-½, orthogonal to its first eigenvector D^½ 1,
// until the residual of the largest Ritz value is below 1e-10.
func (g *Gossip) lanczos(pi []float64) SecondEigenvalue {
	n := len(pi)
	root := make([]float64, n)
	for i, p := range pi {
		root[i] = math.Sqrt(p)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	basis := [][]float64{root}
	floats.Scale(1/orthogonalize(v, basis), v)
	var alpha, beta []float64
	result := SecondEigenvalue{Method: "Lanczos", Error: 1}
	steps := min(lanczosSteps, n-1, max(10, int(lanczosFloats/n)))
	for step := 1; step <= steps; step++ {
		basis = append(basis, v)
		scaled, next := make([]float64, n), make([]float64, n)
		floats.DivTo(scaled, v, root)
		g.w.MulMatTo(next, scaled, 1)
		floats.Mul(next, root)
		alpha = append(alpha, floats.Dot(v, next))
		norm := orthogonalize(next, basis)
		if step%10 == 0 || norm < 1e-14 || step == steps {
			result.Modulus, result.Error = ritz(alpha, beta, norm)
			if result.Error < 1e-10 {
				break
			}
		}
		beta = append(beta, norm)
		floats.Scale(1/norm, next)
		v = next
	}
	return result
}

// orthogonalize subtracts from x its projections on an orthonormal basis, twice, which is enough, and returns the norm of
// what is left. All processors work on parts of the vectors, which do not depend on how many there are.
func orthogonalize(x []float64, basis [][]float64) float64 {
	sums := make([]float64, (len(x)+parallel.Part-1)/parallel.Part*len(basis)) // of every part, for every vector
	for range 2 {
		parallel.Chunks(len(x), func(part, from, to int) {
			for i, b := range basis {
				sums[part*len(basis)+i] = floats.Dot(b[from:to], x[from:to])
			}
		})
		total := make([]float64, len(basis))
		for part := range slices.Chunk(sums, len(basis)) {
			floats.Add(total, part)
		}
		parallel.Chunks(len(x), func(_, from, to int) {
			for i, b := range basis {
				floats.AddScaled(x[from:to], -total[i], b[from:to])
			}
		})
	}
	return floats.Norm(x, 2)
}

// ritz returns the largest modulus of the eigenvalues of the tridiagonal matrix and the norm of its residual.
func ritz(alpha, beta []float64, norm float64) (modulus, residual float64) {
	k := len(alpha)
	t := mat.NewSymDense(k, nil)
	for i := range k {
		t.SetSym(i, i, alpha[i])
		if i > 0 {
			t.SetSym(i-1, i, beta[i-1])
		}
	}
	values, vectors, ok := dense.Spectrum(t)
	if !ok {
		return 0, 1
	}
	best := 0
	if math.Abs(values[k-1]) > math.Abs(values[0]) {
		best = k - 1
	}
	const rounding = 1e-14 // of a few hundred steps with a matrix of norm one
	return math.Min(math.Abs(values[best]), 1), math.Abs(norm*vectors.At(k-1, best)) + rounding
}
