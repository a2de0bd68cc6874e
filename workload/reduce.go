package workload

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/lists"
)

// reducedModes is how many modes a reduced response has.
const reducedModes = 48

// Reduced returns nearly the same response with at most 48 modes in one group, for searches: all groups side by side
// are one system x_l = Θx_{l-1} + r_l·v, of which a Krylov space of v under Θ keeps what polynomials of degree 47 see,
// exactly. A response with fewer modes is returned as it is.
func (r *Response) Reduced() (*Response, error) {
	out := *r
	out.groups = nil
	var groups []*modes
	var theta, v []float64
	for _, g := range r.groups {
		if g.mean {
			out.groups = append(out.groups, g)
			continue
		}
		groups = append(groups, g)
		theta, v = append(theta, g.theta...), append(v, g.input...)
	}
	if len(theta) <= reducedModes {
		return r, nil
	}
	norm := floats.Norm(v, 2)
	floats.Scale(1/norm, v)
	basis, t := krylovBasis(theta, v)
	values, vectors, ok := dense.Spectrum(t)
	if !ok {
		return nil, errors.New("eigenvalues of a reduced response did not converge")
	}
	one := &modes{theta: values, weight: 1,
		input: lists.Make(len(basis), func(j int) float64 { return norm * vectors.At(0, j) })}
	if r.spec.GradientTracking { // Krylov spaces do not see a factor
		one.inner = make([]float64, len(basis))
		floats.AddScaled(one.inner, 1/(1-r.spec.WeightDecay), one.theta)
	}
	one.metric = metricOf(groups, basis, vectors)
	if math.IsNaN(mat.Sum(one.metric)) {
		return nil, errors.New("a reduced response is not finite")
	}
	out.groups = append(out.groups, one)
	return &out, nil
}

// krylovBasis returns an orthonormal basis q_0 = v, q_1, … of the Krylov space of a unit vector v under Θ =
// diag(theta), of at most reducedModes vectors, and the tridiagonal QᵀΘQ.
func krylovBasis(theta, v []float64) (basis [][]float64, projected *mat.SymDense) {
	x := v
	t := mat.NewSymDense(reducedModes, nil)
	for j := range reducedModes {
		basis = append(basis, x)
		next := make([]float64, len(theta))
		floats.MulTo(next, theta, x)
		t.SetSym(j, j, floats.Dot(next, x))
		for range 2 { // orthogonal to all before, whatever rounding does
			for _, q := range basis {
				floats.AddScaled(next, -floats.Dot(q, next), q)
			}
		}
		beta := floats.Norm(next, 2)
		if j+1 == reducedModes || beta < 1e-14 {
			break
		}
		t.SetSym(j, j+1, beta)
		floats.Scale(1/beta, next)
		x = next
	}
	return basis, t.SliceSym(0, len(basis)).(*mat.SymDense)
}

// metricOf returns Σ weight·(QV)ᵀM(QV) over the groups, for a basis Q of all of them side by side.
func metricOf(groups []*modes, basis [][]float64, vectors *mat.Dense) *mat.Dense {
	m := len(basis)
	sum := mat.NewDense(m, m, nil)
	from := 0
	for _, g := range groups {
		rows := len(g.theta)
		part := mat.NewDense(rows, m, nil)
		for j, q := range basis {
			part.SetCol(j, q[from:from+rows])
		}
		from += rows
		var turned, product mat.Dense
		dense.Mul(&turned, part, vectors)
		left := &turned
		if g.metric != nil {
			left = &mat.Dense{}
			dense.Mul(left, g.metric, &turned)
		}
		dense.Mul(&product, turned.T(), left)
		product.Scale(g.weight, &product)
		sum.Add(sum, &product)
	}
	return sum
}
