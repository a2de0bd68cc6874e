package participation

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
)

// VectorOptions tunes VectorSensitivity. The zero value asks for the defaults named here.
type VectorOptions struct {
	Gap    float64 // stop at this relative gap between bound and attained value; 0 means 1e-6
	Sweeps int     // give up after so many sweeps of coordinate ascent a pattern; 0 means 2000
}

// VectorSensitivity returns the sensitivity for contributions that are vectors: max over the patterns of
//
//	max { ⟨Γ, X[π,π]⟩ : Γ PSD, unit diagonal }      ≤ Σ|X|, ≤ k·λ_max(X[π,π])
//
// The maximum is found by coordinate ascent over Γ = VVᵀ with few columns (the mixing method, Wang, Chang & Kolter
// 2017), which gives Attained; Squared is proven by the dual, min Σλ subject to diag(λ) ⪰ X: λ comes from the ascent,
// is raised until a Cholesky factorization of diag(λ) - X succeeds, and that proof includes its own rounding (Rump,
// "Verification of positive definiteness", BIT 2006). Exact says that the two agree to the gap. Where the sum of
// magnitudes is attained, as for X ≥ 0, it is the answer without further work.
//
// The error cases are SumBound's. The time is O(Σ|π|^2.5) a sweep.
func VectorSensitivity(x mat.Symmetric, patterns [][]int, opts VectorOptions) (Sensitivity, error) {
	if opts.Gap == 0 {
		opts.Gap = 1e-6
	}
	if opts.Sweeps == 0 {
		opts.Sweeps = 2000
	}
	type candidate struct {
		pattern []int
		block   *mat.SymDense
		sum     float64
	}
	var candidates []candidate
	for _, pattern := range patterns {
		block, err := restrict(x, pattern, x.SymmetricDim())
		if err != nil {
			return Sensitivity{}, err
		}
		candidates = append(candidates, candidate{pattern, block, sumOfMagnitudes(block)})
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(b.sum, a.sum) })
	worst := Sensitivity{Squared: math.Inf(-1), Attained: math.Inf(-1)}
	for _, c := range candidates {
		if c.sum <= worst.Squared {
			break // no pattern from here on can be the largest
		}
		s := vectorOf(c.block, c.sum, opts)
		if s.Squared > worst.Squared {
			worst.Squared, worst.Pattern = s.Squared, c.pattern
		}
		worst.Attained = math.Max(worst.Attained, s.Attained)
	}
	if worst.Squared-worst.Squared != 0 {
		return Sensitivity{}, fmt.Errorf("sensitivity of %d patterns over %d steps is not finite",
			len(patterns), x.SymmetricDim())
	}
	return worst.settled(opts.Gap), nil
}

// vectorOf solves one pattern.
func vectorOf(block *mat.SymDense, sum float64, opts VectorOptions) Sensitivity {
	best := Sensitivity{Squared: sum, Attained: math.Min(attained(block), sum)}
	closed := func() bool { return best.Attained >= best.Squared*(1-opts.Gap) }
	if closed() {
		return best
	}
	m := newMixing(block)
	before, next := 0.0, 8
	for sweep := 1; sweep <= opts.Sweeps && !closed(); sweep++ {
		m.sweep()
		if sweep < next && sweep < opts.Sweeps {
			continue
		}
		value := m.value()
		best.Attained = math.Min(math.Max(best.Attained, value), best.Squared)
		if next = sweep + 8; value-before < opts.Gap*value || sweep == opts.Sweeps { // settled: the dual may be close
			best.Squared = math.Min(best.Squared, dualBound(block, m.multipliers(), opts.Gap))
			best.Attained = math.Min(best.Attained, best.Squared)
			next = sweep + max(8, sweep/2)
		}
		before = value
	}
	if !closed() {
		best.Squared = math.Min(best.Squared, spectralBound(block))
		best.Attained = math.Min(best.Attained, best.Squared)
	}
	return best
}

// mixing is coordinate ascent of Σ X[i,j] v_i·v_j over unit vectors v_i of √(2k)+2 numbers, where all local maxima are
// global but for degenerate cases; the dual bound does not depend on that.
type mixing struct {
	k     int
	x     []float64   // k×k, row by row
	v     [][]float64 // v[a][i]: number a of v_i, so that products with rows of x are contiguous
	field []float64
}

func newMixing(block *mat.SymDense) *mixing {
	k := block.SymmetricDim()
	rank := int(math.Sqrt(2*float64(k))) + 2
	m := &mixing{
		k: k, x: mat.DenseCopyOf(block).RawMatrix().Data,
		v: make([][]float64, rank), field: make([]float64, rank),
	}
	for a := range m.v {
		m.v[a] = make([]float64, k)
	}
	rng := rand.New(rand.NewPCG(1, uint64(k)))
	for i := range k {
		for a := range m.field {
			m.field[a] = rng.NormFloat64()
		}
		m.set(i, floats.Norm(m.field, 2))
	}
	return m
}

// set makes v_i field/norm.
func (m *mixing) set(i int, norm float64) {
	for a, f := range m.field {
		m.v[a][i] = f / norm
	}
}

func (m *mixing) sweep() {
	for i := range m.k {
		if norm := m.pull(i); norm > 0 {
			m.set(i, norm)
		}
	}
}

// pull writes Σ_{j≠i} X[i,j] v_j to field and returns its norm.
func (m *mixing) pull(i int) float64 {
	row := m.x[i*m.k : (i+1)*m.k]
	for a, v := range m.v {
		m.field[a] = floats.Dot(row, v) - row[i]*v[i]
	}
	return floats.Norm(m.field, 2)
}

// value returns ⟨VVᵀ, X⟩, a little less for the rounding of unit norms.
func (m *mixing) value() float64 {
	var total, magnitude float64
	for i := range m.k {
		m.pull(i)
		inner := 0.0
		for a, v := range m.v {
			inner += v[i] * m.field[a]
		}
		total += m.x[i*m.k+i] + inner
		magnitude += math.Abs(m.x[i*m.k+i]) + math.Abs(inner)
	}
	return total - 1e-13*magnitude
}

// multipliers returns λ_i = X[i,i] + ‖Σ_{j≠i} X[i,j] v_j‖, which at the maximum make (diag(λ) - X)V = 0.
func (m *mixing) multipliers() []float64 {
	lambda := make([]float64, m.k)
	for i := range lambda {
		lambda[i] = m.x[i*m.k+i] + m.pull(i)
	}
	return lambda
}

// dualBound returns a proven upper bound of ⟨Γ, x⟩ for Γ PSD with unit diagonal: Σλ, raised by a quarter of the gap, or
// more, until diag(λ) ⪰ x is certain.
func dualBound(x *mat.SymDense, lambda []float64, gap float64) float64 {
	k := x.SymmetricDim()
	total := floats.Sum(lambda)
	// multipliers near zero, of steps that hardly matter, need as much room as others
	floor := math.Abs(total) / float64(k)
	shifted := mat.NewSymDense(k, nil)
	var chol dense.Cholesky
	for raise := gap / 8; raise < 1e3; raise *= 4 {
		var sum, trace float64
		for i := range k {
			for j := i + 1; j < k; j++ {
				shifted.SetSym(i, j, -x.At(i, j))
			}
			l := lambda[i] + raise*(math.Abs(lambda[i])+floor)
			sum += l
			shifted.SetSym(i, i, l-x.At(i, i))
			trace += math.Abs(l) + math.Abs(x.At(i, i))
		}
		// what rounding can hide, of the entries and of the factorization, is taken from the diagonal
		c := 2 * float64(k+4) * 0x1p-53 * trace
		for i := range k {
			shifted.SetSym(i, i, shifted.At(i, i)-c)
		}
		if chol.Factorize(shifted) {
			return sum * (1 + 4*float64(k)*0x1p-53)
		}
	}
	return math.Inf(1)
}

// SpectralBound returns k·λ_max(X[π,π]) for the worst pattern, rounded up: a bound for vector contributions (Koskela &
// Kulkarni, Section 3.4, for all steps).
func SpectralBound(x mat.Symmetric, patterns [][]int) (float64, error) {
	worst := math.Inf(-1)
	for _, pattern := range patterns {
		block, err := restrict(x, pattern, x.SymmetricDim())
		if err != nil {
			return 0, err
		}
		worst = math.Max(worst, spectralBound(block))
	}
	return worst, nil
}

func spectralBound(block *mat.SymDense) float64 {
	k := block.SymmetricDim()
	var eigen mat.EigenSym
	if !eigen.Factorize(block, false) {
		return math.Inf(1)
	}
	values := eigen.Values(nil)
	largest := math.Max(math.Abs(values[0]), math.Abs(values[k-1]))
	return float64(k) * (values[k-1] + 8*float64(k)*0x1p-53*largest)
}

// LowerBound returns the largest Σ_{s,t∈π} X[s,t] of a pattern: what equal contributions in all steps reach, a lower
// bound of every sensitivity.
func LowerBound(x mat.Symmetric, patterns [][]int) (float64, error) {
	largest := math.Inf(-1)
	for _, pattern := range patterns {
		block, err := restrict(x, pattern, x.SymmetricDim())
		if err != nil {
			return 0, err
		}
		largest = math.Max(largest, mat.Sum(block))
	}
	return largest, nil
}
