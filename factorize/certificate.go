package factorize

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/internal/parallel"
	"mafalda/internal/rounding"
	"mafalda/participation"
	"mafalda/strategy"
)

// LowerBound returns a lower bound of the loss sens(C)²·tr(C⁻ᵀHC⁻¹) of every strategy C, for the T×T Gram
// matrix h under the schema. It is good if the guess x is close to an optimal X = CᵀC, but valid for every positive
// definite x.
//
// The argument: let Λ be PSD and block diagonal over the patterns, with diagonal entries of at most y_i on block i.
// Then ⟨Λ, CᵀC⟩ ≤ sens(C)² Σ y_i for every C, and by the Cauchy-Schwarz inequality for the nuclear norm
//
//	loss(C) ≥ ‖R F‖_*² / Σ_i y_i,       H = RᵀR,  Λ = F Fᵀ.
//
// Λ is made of x⁻¹hx⁻¹, which at the optimum has that form itself, by dropping what is outside the blocks and scaling
// each block to a constant diagonal. Its factor F is what is kept, so that rounding cannot make Λ indefinite, and each
// y_i is the largest squared row norm in the block, rounded up. The singular values count with the error bound of
// their computation subtracted. The cost is O(T³).
//
// Where patterns overlap, the schema's Relaxation takes its place. A matrix h that is singular in floating point is
// replaced by a smaller one, in the order of matrices, and Λ is made of h with a small multiple of the identity added.
func LowerBound(h, x *mat.SymDense, schema participation.Schema) (float64, error) {
	steps := schema.Steps()
	if h.SymmetricDim() != steps || x.SymmetricDim() != steps {
		return 0, fmt.Errorf("lower bound of %d steps from matrices of %d and %d", steps, h.SymmetricDim(),
			x.SymmetricDim())
	}
	k := denseMask(participation.Relaxation(schema))
	full := numbersOf(x)
	o, err := dualOf(h, full, k)
	if errors.Is(err, errSingular) {
		return semidefinite(h).lowerBound(x, k)
	}
	if err != nil {
		return 0, err
	}
	bound, excess, err := o.bound(full)
	if err != nil || excess < tightExcess {
		return bound, err
	}
	far, err := o.farBound(o.lambda)
	return math.Max(bound, far), err
}

// dualOf returns the objective for h where it knows R, h = RᵀR, and Λ = x⁻¹hx⁻¹.
func dualOf(h *mat.SymDense, x []float64, k mask) (*maskedObjective, error) {
	root, err := gramRoot(h)
	if err != nil {
		return nil, err
	}
	o := newMaskedObjective(h, root, k)
	if math.IsInf(o.Value(x), 0) {
		return nil, fmt.Errorf("lower bound from X: %w", strategy.ErrNotPositiveDefinite)
	}
	o.GradientTo(make([]float64, len(x)))
	return o, nil
}

// gramRoot returns the upper-triangular R with RᵀR ≤ h, and equal up to rounding. The error wraps ErrGram, and errSingular
// if floating point has none.
func gramRoot(h *mat.SymDense) (*mat.TriDense, error) {
	var chol dense.Cholesky
	if !chol.Factorize(lowered{h}) {
		return nil, fmt.Errorf("%w: %w", ErrGram, errSingular)
	}
	return chol.RawU(), nil
}

// lowered is a Gram matrix without the share 8Tu of its diagonal D². A factorization of H is one of H + Δ, and D⁻¹ΔD⁻¹
// has entries of some √T u, the norm of some Tu: eight times that keeps RᵀR below H. Of an H that is nearly singular Δ
// would otherwise raise a bound by the root of its size, 1e-8.
type lowered struct{ *mat.SymDense }

func (l lowered) At(i, j int) float64 {
	v := l.SymDense.At(i, j)
	if i == j {
		v *= 1 - 8*float64(l.SymmetricDim())*0x1p-53
	}
	return v
}

// tightExcess is the norm of the certificate's E up to which it gives away, being of second order, less than 1e-6 of
// the bound.
const tightExcess = 1e-3

// factor is F of a dual variable Λ = F Fᵀ, T×T.
type factor interface {
	mulTo(dst, a []float64) // a·F, both T×T row by row
	dense() *mat.Dense
}

// dualFactor makes F of lambda (T×T, row by row; symmetric with a positive diagonal) and returns it with Σ_i y_i,
// rounded up, where y_i is the largest ⟨Λ, X⟩ that a budget allows: the largest sum of diagonal entries of F Fᵀ over
// one of its groups, divided by its cost. Entries of lambda that would meet entries of X that are free are dropped;
// what remains is scaled by congruence to equal sums over the groups of each budget, and mixed with the identity until
// it is numerically positive definite. If the patterns are a partition and there is no band, F is block diagonal over
// them.
func dualFactor(lambda []float64, k mask) (factor, float64, error) {
	if k.partition() {
		return newBlockFactor(lambda, k)
	}
	return newMaskFactor(lambda, k)
}

// blockFactor is a block-diagonal F: for every pattern a lower-triangular k×k matrix.
type blockFactor struct {
	steps    int
	patterns [][]int
	blocks   []*mat.TriDense
}

func newBlockFactor(lambda []float64, k mask) (*blockFactor, float64, error) {
	steps := k.schema.Steps()
	f := &blockFactor{steps: steps, patterns: k.schema.Disjoint()}
	var total rounding.Sum
	for _, pattern := range f.patterns {
		lower, y, err := unitFactor(lambda, steps, pattern)
		if err != nil {
			return nil, 0, err
		}
		lower.ScaleTri(math.Sqrt(y), lower)
		f.blocks = append(f.blocks, lower)
		var largest float64
		for i := range pattern {
			largest = math.Max(largest, squaredNormUp(lower.RawTriangular().Data[i*len(pattern):i*len(pattern)+i+1]))
		}
		total.Add(largest)
	}
	return f, total.Up(), nil
}

// unitFactor returns the Cholesky factor of the pattern's block, scaled to a diagonal of ones, and the mean of the
// diagonal that it had.
func unitFactor(lambda []float64, steps int, pattern []int) (*mat.TriDense, float64, error) {
	scale, mean, err := unitScale(lambda, steps, pattern)
	if err != nil {
		return nil, 0, err
	}
	block := dense.NewSym(len(pattern), func(i, j int) float64 {
		if i == j {
			return 1
		}
		return lambda[pattern[i]*steps+pattern[j]] * scale[i] * scale[j]
	})
	var lower mat.TriDense
	factorOf(block).LTo(&lower)
	return &lower, mean, nil
}

// unitScale returns the factors that scale the pattern's diagonal entries to one, and the mean of these entries.
func unitScale(lambda []float64, steps int, pattern []int) (scale []float64, mean float64, err error) {
	scale = make([]float64, len(pattern))
	for i, s := range pattern {
		d := lambda[s*steps+s]
		if !(d > 0) || math.IsInf(d, 1) {
			return nil, 0, fmt.Errorf("dual variable has the diagonal entry %v", d)
		}
		scale[i] = 1 / math.Sqrt(d)
		mean += d / float64(len(pattern))
	}
	return scale, mean, nil
}

func squaredNormUp(row []float64) float64 {
	var sum rounding.Sum
	for _, v := range row {
		sum.AddProduct(v, v)
	}
	return sum.Up()
}

// factorOf returns the Cholesky factorization of the unit-diagonal block, after shrinking its off-diagonal as much as
// it takes to have one.
func factorOf(block *mat.SymDense) *dense.Cholesky {
	var chol dense.Cholesky
	k := block.SymmetricDim()
	for mix := 1e-14; !chol.Factorize(block); mix = math.Min(8*mix, 1) {
		for i := range k {
			for j := i + 1; j < k; j++ {
				block.SetSym(i, j, (1-mix)*block.At(i, j))
			}
		}
	}
	return &chol
}

// dense returns F as a T×T matrix whose columns are sorted by pattern; the order changes no nuclear norm.
func (f *blockFactor) dense() *mat.Dense {
	steps := f.steps
	d := mat.NewDense(steps, steps, nil)
	column := 0
	for i, pattern := range f.patterns {
		for j := range pattern {
			for r := j; r < len(pattern); r++ {
				d.Set(pattern[r], column, f.blocks[i].At(r, j))
			}
			column++
		}
	}
	return d
}

// mulTo works pattern by pattern, O(T²k); the columns of the result are sorted by pattern.
func (f *blockFactor) mulTo(dst, a []float64) {
	steps, longest := f.steps, 0
	for _, pattern := range f.patterns {
		longest = max(longest, len(pattern))
	}
	parallel.For(steps, func(t int) {
		gathered := make([]float64, longest)
		row, out, column := a[t*steps:(t+1)*steps], dst[t*steps:(t+1)*steps], 0
		for i, pattern := range f.patterns {
			for r, s := range pattern {
				gathered[r] = row[s]
			}
			block := f.blocks[i].RawTriangular()
			result := out[column : column+len(pattern)]
			column += len(pattern)
			clear(result)
			for r, v := range gathered[:len(pattern)] {
				for j, x := range block.Data[r*block.Stride : r*block.Stride+r+1] {
					result[j] += v * x
				}
			}
		}
	})
}

// maskFactor is F for any other mask: Λ is zero where X is free, and otherwise arbitrary, since there X is zero.
type maskFactor struct {
	steps int
	upper []float64 // Fᵀ
}

func newMaskFactor(lambda []float64, k mask) (*maskFactor, float64, error) {
	steps := k.schema.Steps()
	scale, back, err := groupScales(lambda, k)
	if err != nil {
		return nil, 0, err
	}
	unit := mat.NewSymDense(steps, nil)
	for s := range steps {
		unit.SetSym(s, s, 1)
		for t := s + 1; t < steps; t++ {
			if !k.keep[s*steps+t] {
				unit.SetSym(s, t, lambda[s*steps+t]*scale[s]*scale[t])
			}
		}
	}
	f := &maskFactor{steps: steps, upper: numbersOf(factorOf(unit).RawU())}
	column := make([]float64, steps)
	norms := make([]float64, steps)
	for s := range steps { // row s of F is column s of Fᵀ
		for t := range s + 1 {
			f.upper[t*steps+s] *= back[s]
			column[t] = f.upper[t*steps+s]
		}
		norms[s] = squaredNormUp(column[:s+1])
	}
	var total rounding.Sum
	for _, budget := range k.budgets {
		var largest float64
		for _, group := range budget.Groups {
			var sum rounding.Sum
			for _, s := range group {
				sum.Add(norms[s])
			}
			largest = math.Max(largest, sum.Up())
		}
		total.Add(math.Nextafter(largest/budget.Cost, math.Inf(1)))
	}
	return f, total.Up(), nil
}

// groupScales returns the factors that scale the diagonal of lambda to one, and those that scale it back to diagonals
// of equal sums over the groups of each budget.
func groupScales(lambda []float64, k mask) (scale, back []float64, err error) {
	steps := k.schema.Steps()
	scale, back = make([]float64, steps), make([]float64, steps)
	for _, budget := range k.budgets {
		var total float64
		sums := make([]float64, len(budget.Groups))
		for i, group := range budget.Groups {
			one, mean, err := unitScale(lambda, steps, group)
			if err != nil {
				return nil, nil, err
			}
			sums[i] = mean * float64(len(group))
			total += sums[i]
			for j, s := range group {
				scale[s] = one[j]
			}
		}
		for i, group := range budget.Groups {
			for _, s := range group {
				back[s] = math.Sqrt(total/float64(len(sums))/sums[i]) / scale[s]
			}
		}
	}
	return scale, back, nil
}

func (f *maskFactor) dense() *mat.Dense {
	return mat.DenseCopyOf(mat.NewDense(f.steps, f.steps, f.upper).T())
}

func (f *maskFactor) mulTo(dst, a []float64) { dense.MulUpperTo(dst, a, f.upper, f.steps) }

// farBound is singularValueBound of the objective's R for a Λ.
func (o *maskedObjective) farBound(lambda []float64) (float64, error) {
	return singularValueBound(o.upper, lambda, o.mask, o.scratch)
}

// singularValueBound is the bound by the singular values of R F themselves, or of many steps by its polar factor:
// slower, and good far from the optimum.
func singularValueBound(root mat.Matrix, lambda []float64, k mask, s *scratch) (float64, error) {
	factor, total, err := dualFactor(lambda, k)
	if err != nil {
		return 0, err
	}
	if k.schema.Steps() > gramSteps {
		if bound, ok := polarBound(root, factor, total, s); ok {
			return bound, nil
		}
	}
	var n mat.Dense
	dense.Mul(&n, root, factor.dense())
	values, err := singularValues(&n)
	if err != nil {
		return 0, err
	}
	var nuclear float64
	backward := 8 * float64(k.schema.Steps()) * 0x1p-53 * values[0] // of the product and of each singular value
	for _, v := range values {
		nuclear += math.Max(v-backward, 0)
	}
	return finiteBound(nuclear, total, 1e-12)
}

var (
	errEigen = errors.New("eigenvalues for the lower bound did not converge")
	errSVD   = errors.New("singular values for the lower bound did not converge")
)

func singularValues(m mat.Matrix) ([]float64, error) {
	var svd mat.SVD
	if !svd.Factorize(m, mat.SVDNone) {
		return nil, errSVD
	}
	return svd.Values(nil), nil
}

func eigenvalues(m mat.Symmetric) ([]float64, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(m, false) {
		return nil, errEigen
	}
	return eigen.Values(nil), nil
}

// polarBound is the bound by the polar factor of R F; not ok if that is not known well.
func polarBound(root mat.Matrix, f factor, total float64, s *scratch) (bound float64, ok bool) {
	r := numbersOf(root)
	steps, _ := root.Dims()
	product := s.take()
	defer s.giveBack(product)
	f.mulTo(product, r)
	p, ok := newPolar(product, steps, s)
	if !ok {
		return 0, false
	}
	defer p.release()
	wrong := roundingError(steps) * floats.Norm(r, 2) * mat.Norm(f.dense(), 2)
	nuclear, ok := p.nuclear(product, wrong)
	if !ok {
		return 0, false
	}
	bound, err := finiteBound(nuclear, total, 1e-12)
	return bound, err == nil
}

// finiteBound returns nuclear²/total·(1-slack).
func finiteBound(nuclear, total, slack float64) (float64, error) {
	bound := nuclear * nuclear / total * (1 - slack)
	if nuclear <= 0 {
		return 0, nil
	}
	if math.IsNaN(bound) || math.IsInf(bound, 0) {
		return 0, errors.New("lower bound is not finite: the Gram matrix is out of range")
	}
	return bound, nil
}

// certificateSlack is the relative rounding that the bound gives away: E is known up to γ‖Q‖_F² with ‖Q‖_F² = T (which
// enters the norm of U up to a factor 3), and the inner products up to γ√T, both squared in the bound.
func certificateSlack(steps int) float64 {
	t := float64(steps)
	return 8 * t * t * 0x1p-53
}

// largestExcess bounds the Frobenius norm of E; beyond it Q is shrunk.
const largestExcess = 1.6

// bound computes the bound of LowerBound from X and Λ, near the optimum, without singular values, and returns ‖E‖_F,
// too. For N = R F and every matrix U of spectral norm at most one ‖N‖_* ≥ ⟨N, U⟩, with equality for the polar factor of
// N. At the optimum that is Q = R⁻ᵀ X F; near it Q is nearly orthogonal, E = QᵀQ - I is small, and
//
//	U = Q p(E),   p(e) = 1 - e/2 + 3e²/8 - 5e³/16
//
// is orthogonal up to fourth order of E, and the polar factor of N up to first order, so that the bound is tight up to
// second order. p is a Taylor polynomial of (1+e)^(-1/2) of odd order: it is nowhere above that function, and not
// below its negative for e ≤ 1.6. So the singular values √(1+e)·p(e) of U are at most one wherever Q comes from, and
// the bound is a bound. It costs a triangular solve and four products of T×T matrices.
func (o *maskedObjective) bound(x []float64) (bound, excess float64, err error) {
	steps, s := o.steps, o.scratch
	factor, total, err := dualFactor(o.lambda, o.mask)
	if err != nil {
		return 0, 0, err
	}
	n, q, e, b, e2 := s.take(), s.take(), s.take(), s.take(), s.take() // Nᵀ, Qᵀ, E, NᵀQ, E²
	defer s.giveBack(n, q, e, b, e2)
	factor.mulTo(n, o.root)
	dense.Transpose(n, steps)
	factor.mulTo(q, x)
	dense.Transpose(q, steps)
	gemm.Trsm(blas.Right, blas.NoTrans, 1, o.upper.RawTriangular(), rowsOf(q, steps, steps))
	excess = orthogonalize(q, e, steps)

	dense.MulTo(b, n, q, steps)
	dense.MulSymTo(e2, e, e, steps)
	be := n
	dense.MulTo(be, b, e, steps)
	var trace float64
	for i := range steps {
		trace += b[i*steps+i]
	}
	nuclear := trace - floats.Dot(b, e)/2 + 3*floats.Dot(b, e2)/8 - 5*floats.Dot(be, e2)/16
	bound, err = finiteBound(math.Max(nuclear, 0), total, certificateSlack(steps))
	return bound, excess, err
}

// orthogonalize scales Q to ‖Q‖_F² = T, or less where E would be too large, computes E, and returns its norm.
func orthogonalize(q, e []float64, steps int) float64 {
	floats.Scale(math.Sqrt(float64(steps)/floats.Dot(q, q)), q)
	dense.MulSymTo(e, q, q, steps)
	addIdentity := func(v float64) float64 {
		for i := range steps {
			e[i*steps+i] += v
		}
		return floats.Norm(e, 2)
	}
	excess := addIdentity(-1)
	if !(excess > largestExcess) {
		return excess
	}
	// ‖sQᵀQ - I‖ ≤ s‖QᵀQ - I‖ + (1-s)√T does not help; but e ≤ 1.6 is needed for the largest eigenvalue only, and
	// 1 + e ≤ 1 + ‖E‖_F, so that s = 2.6/(1+‖E‖_F) suffices.
	shrink := (1 + largestExcess) / (1 + excess)
	floats.Scale(math.Sqrt(shrink), q)
	addIdentity(1)
	floats.Scale(shrink, e)
	return addIdentity(-1)
}
