package factorize

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/rounding"
	"mafalda/optim"
	"mafalda/participation"
)

const (
	overlapBoundIterations = 60  // and as many more as take 10000 vectors
	overlapBoundSharpness  = 100 // of the first distribution over patterns, for a sensitivity of one
	overlapBoundMix        = 0.8 // share of it that is even
)

// OverlapBound returns a lower bound of the loss of every strategy under a schema whose patterns overlap, for
// the T×T Gram matrix h. It is good if x is close to an optimal CᵀC, and valid for every positive definite x.
//
// Let an attacker draw a pattern π with probability y_π and contributions of unit norm u_s for its steps. The mean of
// what they change is at most sens², and it is ⟨Λ, CᵀC⟩ for
//
//	Λ[s,t] = M[s,t]·u_s·u_t,      M[s,t] = Σ_{π ∋ s,t} y_π,
//
// so that loss(C) ≥ ‖R F‖_*² = (tr (RΛRᵀ)^(1/2))² for Λ = F Fᵀ, H = RᵀR, as for LowerBound, whose Λ belongs to
// patterns that are a partition. (Contributions of their own for every pattern could prove no more than 0.1 % in the
// cases that were compared with semidefinite programs. Of min-sep, the Pool's patterns with one gap longer than b
// give all but 0.03 % of what all patterns do in small cases, T ≤ 24; with few participations, kb < T, it is too
// poor.) The bound is increased over y, on the schema's Pool, and u, by L-BFGS from the M and Λ of x. Where h is
// singular in floating point RᵀR is below it, and Λ is that of an h a little above. What rounding can do to Λ and to
// the eigenvalues of RΛRᵀ is subtracted from these. It costs as much as some 60 decompositions of T×T matrices, and
// more where T is small. For more than OverlapSteps steps it is 0, which bounds everything.
func OverlapBound(ctx context.Context, h, x *mat.SymDense, schema participation.Schema) (float64, error) {
	steps := schema.Steps()
	if n, m := h.SymmetricDim(), x.SymmetricDim(); n != steps || m != steps {
		return 0, fmt.Errorf("lower bound of %d steps from matrices of %d and %d", steps, n, m)
	}
	if steps > OverlapSteps {
		return 0, nil
	}
	scaled, unit, err := scaleToUnit(h)
	if err != nil {
		return 0, err
	}
	root, lambda, err := dualBelow(scaled, numbersOf(x), freeMask(schema, steps))
	if err != nil {
		return 0, err
	}
	o := newDrawObjective(root, participation.Pool(schema))
	z := o.start(x, lambda)
	if math.IsInf(o.Value(z), 0) {
		return 0, errSVD
	}
	small := 0
	most := overlapBoundIterations + 10000/steps
	optim.Minimize(ctx, o, z, optim.Options{Memory: 20, MaxIterations: most, Done: func(it optim.Iteration) bool {
		if small++; it.Decrease >= 1e-7 {
			small = 0
		}
		return small == 5
	}})
	o.Value(z)
	bound, err := o.bound()
	return bound * unit * (1 - 0x1p-50), err
}

// drawObjective is minus the logarithm of tr (RΛRᵀ)^(1/2), a function of θ, y_π ∝ exp θ_π, and of T vectors v_s of T
// numbers, u_s = v_s/‖v_s‖.
type drawObjective struct {
	steps          int
	root           []float64
	rootTransposed []float64
	norm           float64 // ‖R‖_F²
	patterns       [][]int

	y            []float64 // y of the last Value, as is all that follows
	u, lengths   []float64
	joint, inner []float64 // M, u_s·u_t
	eigen        mat.EigenSym
	values       []float64 // eigenvalues of RΛRᵀ
	nuclear      float64
	product      []float64
}

func newDrawObjective(root *mat.Dense, patterns [][]int) *drawObjective {
	n, _ := root.Dims()
	o := &drawObjective{steps: n, root: root.RawMatrix().Data, patterns: patterns,
		y: make([]float64, len(patterns)), lengths: make([]float64, n), values: make([]float64, n)}
	for _, m := range []*[]float64{&o.u, &o.joint, &o.inner, &o.product} {
		*m = make([]float64, n*n)
	}
	o.norm = floats.Dot(o.root, o.root)
	o.rootTransposed = append([]float64(nil), o.root...)
	dense.Transpose(o.rootTransposed, n)
	return o
}

// start returns patterns drawn in favour of those that x changes most, and vectors with the correlations of lambda
// that these do not explain.
func (o *drawObjective) start(x *mat.SymDense, lambda []float64) []float64 {
	n := o.steps
	z := make([]float64, len(o.patterns)+n*n)
	theta, v := z[:len(o.patterns)], z[len(o.patterns):]
	for i, pattern := range o.patterns {
		for _, s := range pattern {
			for _, t := range pattern {
				theta[i] += math.Abs(x.At(s, t))
			}
		}
	}
	largest := floats.Max(theta)
	var total float64
	for i, sum := range theta {
		theta[i] = math.Exp(overlapBoundSharpness * (sum/largest - 1))
		total += theta[i]
	}
	for i, share := range theta {
		theta[i] = math.Log((1-overlapBoundMix)*share/total + overlapBoundMix/float64(len(theta)))
	}
	o.draw(theta)
	g := mat.NewSymDense(n, nil)
	for s := range n {
		g.SetSym(s, s, 1)
		for t := s + 1; t < n; t++ {
			if m := o.joint[s*n+t]; m > 0 {
				own := math.Sqrt(lambda[s*n+s] / o.joint[s*n+s] * (lambda[t*n+t] / o.joint[t*n+t]))
				c := lambda[s*n+t] / m / own
				g.SetSym(s, t, math.Max(-1, math.Min(1, c)))
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	values, vectors, ok := dense.Spectrum(g)
	if !ok { // any vectors will do
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return z
	}
	for j, value := range values {
		scale := math.Sqrt(math.Max(value, 1e-3))
		for s := range n {
			v[s*n+j] = scale * vectors.At(s, j)
		}
	}
	return z
}

// draw computes y and M, the joint matrix, for a point.
func (o *drawObjective) draw(theta []float64) {
	largest := floats.Max(theta)
	for i, t := range theta {
		o.y[i] = math.Exp(t - largest)
	}
	floats.Scale(1/floats.Sum(o.y), o.y)
	clear(o.joint)
	for i, pattern := range o.patterns {
		for _, s := range pattern {
			row := o.joint[s*o.steps : (s+1)*o.steps]
			for _, t := range pattern {
				row[t] += o.y[i]
			}
		}
	}
}

func (o *drawObjective) Value(z []float64) float64 {
	n := o.steps
	o.draw(z[:len(o.patterns)])
	copy(o.u, z[len(o.patterns):])
	for s := range n {
		row := o.u[s*n : (s+1)*n]
		o.lengths[s] = floats.Norm(row, 2)
		floats.Scale(1/o.lengths[s], row)
	}
	dense.MulSymTo(o.inner, o.u, o.u, n)
	lambda := mat.NewDense(n, n, nil)
	floats.MulTo(lambda.RawMatrix().Data, o.joint, o.inner)
	dense.MulTo(o.product, o.root, lambda.RawMatrix().Data, n)
	dense.MulSymTo(lambda.RawMatrix().Data, o.product, o.root, n)
	s := mat.NewSymDense(n, lambda.RawMatrix().Data)
	if !o.eigen.Factorize(s, true) {
		return math.Inf(1)
	}
	o.eigen.Values(o.values)
	o.nuclear = 0
	for _, v := range o.values {
		o.nuclear += math.Sqrt(math.Max(v, 0))
	}
	if !(o.nuclear > 0) {
		return math.Inf(1)
	}
	return -math.Log(o.nuclear)
}

// GradientTo: with X = Rᵀ(RΛRᵀ)^(-1/2)R the derivative of the trace by Λ is X/2.
func (o *drawObjective) GradientTo(dst []float64) {
	n := o.steps
	var vectors mat.Dense
	o.eigen.VectorsTo(&vectors)
	floor := o.values[n-1] * 1e-15
	quarter := vectors.RawMatrix().Data // Q diag(λ^(-1/4)), then its transpose
	for j, v := range o.values {
		scale := math.Pow(math.Max(v, floor), -0.25)
		for i := range n {
			quarter[i*n+j] *= scale
		}
	}
	dense.Transpose(quarter, n)
	dense.MulTo(o.product, o.rootTransposed, quarter, n)
	x := make([]float64, n*n)
	dense.MulSymTo(x, o.product, o.product, n)
	floats.Scale(-0.5/o.nuclear, x)

	byTheta, byV := dst[:len(o.patterns)], dst[len(o.patterns):]
	weighted := make([]float64, n*n)
	floats.MulTo(weighted, x, o.inner)
	var mean float64
	for i, pattern := range o.patterns {
		byTheta[i] = 0
		for _, s := range pattern {
			row := weighted[s*n : (s+1)*n]
			for _, t := range pattern {
				byTheta[i] += row[t]
			}
		}
		mean += o.y[i] * byTheta[i]
	}
	for i := range byTheta {
		byTheta[i] = o.y[i] * (byTheta[i] - mean)
	}
	floats.MulTo(weighted, x, o.joint)
	copy(o.product, o.u)
	dense.Transpose(o.product, n)
	dense.MulTo(byV, weighted, o.product, n)
	for s := range n {
		row, u := byV[s*n:(s+1)*n], o.u[s*n:(s+1)*n]
		along := floats.Dot(row, u)
		floats.AddScaled(row, -along, u)
		floats.Scale(2/o.lengths[s], row)
	}
}

// bound returns the bound at the last Value, with rounding on the safe side: M and u_s·u_t are known up to (m+T)u, the
// products and the eigenvalues up to some Tu, all relative to ‖R‖_F²‖M‖_F.
func (o *drawObjective) bound() (float64, error) {
	n := float64(o.steps)
	lost := (float64(len(o.patterns)) + 40*n) * 0x1p-53 * o.norm * floats.Norm(o.joint, 2)
	var nuclear, total rounding.Sum
	for _, v := range o.values {
		nuclear.Add(math.Sqrt(math.Max(v-lost, 0)))
	}
	for _, y := range o.y {
		total.Add(y)
	}
	longest := 0.0
	for s := range o.steps {
		longest = math.Max(longest, squaredNormUp(o.u[s*o.steps:(s+1)*o.steps]))
	}
	return finiteBound(math.Max(nuclear.Down(), 0), total.Up()*longest, 1e-12+certificateSlack(o.steps))
}
