package participation

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// VectorOptions tunes Vector. The zero value asks for the defaults named here.
type VectorOptions struct {
	Gap    float64 // stop at this relative gap between bound and attained value; 0 means 1e-6
	Sweeps int     // give up after so many sweeps of coordinate ascent a pattern; 0 means 2000
}

// Vector returns the sensitivity for contributions that are vectors: max over the patterns of
//
//	max { ⟨Γ, X[π,π]⟩ : Γ PSD, unit diagonal }      ≤ Σ|X|, ≤ k·λ_max(X[π,π])
//
// The maximum is found by coordinate ascent over Γ = VVᵀ with few columns (the mixing method, Wang, Chang & Kolter 2017),
// which gives Attained; Squared is proven by the dual, min Σλ subject to diag(λ) ⪰ X: λ comes from the ascent, is raised
// until a Cholesky factorization of diag(λ) - X succeeds, and that proof includes its own rounding (Rump, "Verification of
// positive definiteness", BIT 2006). Exact says that the two agree to the gap. Where the sum of magnitudes is attained, as
// for X ≥ 0, it is the answer without further work.
//
// The error cases are Of's. The time is O(Σ|π|^2.5) a sweep.
func Vector(x mat.Symmetric, patterns [][]int, opts VectorOptions) (Sensitivity, error) {
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
		return Sensitivity{}, fmt.Errorf("sensitivity of %d patterns over %d steps is not finite", len(patterns), x.SymmetricDim())
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
	best.Squared = math.Min(sum, spectralBound(block))
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
	return best
}

// mixing is coordinate ascent of Σ X[i,j] v_i·v_j over unit vectors v_i of √(2k)+1 numbers, where all local maxima are
// global but for degenerate cases; the dual bound does not depend on that.
type mixing struct {
	x     *mat.SymDense
	rank  int
	v     [][]float64
	field []float64
	norms []float64 // ‖Σ_{j≠i} X[i,j] v_j‖ of the last sweep
}

func newMixing(x *mat.SymDense) *mixing {
	k := x.SymmetricDim()
	m := &mixing{x: x, rank: int(math.Sqrt(2*float64(k))) + 2, norms: make([]float64, k)}
	m.field = make([]float64, m.rank)
	rng := rand.New(rand.NewPCG(1, uint64(k)))
	for range k {
		v := make([]float64, m.rank)
		for j := range v {
			v[j] = rng.NormFloat64()
		}
		floats.Scale(1/floats.Norm(v, 2), v)
		m.v = append(m.v, v)
	}
	return m
}

func (m *mixing) sweep() {
	for i, v := range m.v {
		m.pull(i)
		m.norms[i] = floats.Norm(m.field, 2)
		if m.norms[i] > 0 {
			floats.ScaleTo(v, 1/m.norms[i], m.field)
		}
	}
}

// pull writes Σ_{j≠i} X[i,j] v_j to field.
func (m *mixing) pull(i int) {
	clear(m.field)
	for j, v := range m.v {
		if x := m.x.At(i, j); j != i && x != 0 {
			floats.AddScaled(m.field, x, v)
		}
	}
}

// value returns ⟨VVᵀ, X⟩, a little less for the rounding of unit norms.
func (m *mixing) value() float64 {
	var total float64
	for i, v := range m.v {
		m.pull(i)
		total += m.x.At(i, i) + floats.Dot(v, m.field)/math.Max(1, floats.Norm(v, 2))
	}
	return total * (1 - 1e-13)
}

// multipliers returns λ_i = X[i,i] + ‖Σ_{j≠i} X[i,j] v_j‖, which at the maximum make (diag(λ) - X)V = 0.
func (m *mixing) multipliers() []float64 {
	lambda := make([]float64, len(m.v))
	for i := range lambda {
		m.pull(i)
		lambda[i] = m.x.At(i, i) + floats.Norm(m.field, 2)
	}
	return lambda
}

// dualBound returns a proven upper bound of ⟨Γ, x⟩ for Γ PSD with unit diagonal: Σλ, raised by a quarter of the gap, or more,
// until diag(λ) ⪰ x is certain.
func dualBound(x *mat.SymDense, lambda []float64, gap float64) float64 {
	k := x.SymmetricDim()
	total := floats.Sum(lambda)
	floor := 1e-9 * math.Abs(total) / float64(k) // multipliers near zero, of steps that hardly matter, need room, too
	shifted := mat.NewSymDense(k, nil)
	var chol mat.Cholesky
	for raise := gap / 4; raise < 1e3; raise *= 4 {
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

// AllOnes returns Σ_{s,t∈π} X[s,t] of the largest pattern: what equal contributions in all steps reach, a lower bound of
// every sensitivity.
func AllOnes(x mat.Symmetric, patterns [][]int) (float64, error) {
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
