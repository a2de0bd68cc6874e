package participation

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
)

// VectorOptions tunes VectorSensitivity. The zero value asks for the defaults named here.
type VectorOptions struct {
	Gap   float64 // stop at this relative gap between bound and attained value; 0 means 1e-6
	Steps int     // steps of Newton's method a pattern, at most; 0 means 200
}

// VectorSensitivity returns the sensitivity for contributions that are vectors: max over the patterns of
//
//	max { ⟨Γ, X[π,π]⟩ : Γ PSD, unit diagonal }      ≤ Σ|X|, ≤ k·λ_max(X[π,π])
//
// It is found by its dual, min Σλ subject to diag(λ) ⪰ X, together with it (interior): Γ gives Attained.
// Squared is proven: λ is raised until a Cholesky factorization of diag(λ) - X succeeds, and that proof includes its own
// rounding (Rump, "Verification of positive definiteness", BIT 2006). Exact says that the two agree to the gap. Where the
// sum of magnitudes is attained, as for X ≥ 0, it is the answer without further work.
//
// The error cases are SumBound's. The time is O(Σ|π|³) a step; a dozen or so are needed.
func VectorSensitivity(x mat.Symmetric, patterns [][]int, opts VectorOptions) (Sensitivity, error) {
	opts.Gap, opts.Steps = cmp.Or(opts.Gap, 1e-6), cmp.Or(opts.Steps, 200)
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
	return worst.settlePatterns(len(patterns), x.SymmetricDim(), opts.Gap)
}

// vectorOf solves one pattern.
func vectorOf(block *mat.SymDense, sum float64, opts VectorOptions) Sensitivity {
	best := Sensitivity{Squared: sum, Attained: math.Min(attainedSquare(block), sum)}
	closed := func() bool { return best.Attained >= best.Squared*(1-opts.Gap) }
	if closed() {
		return best
	}
	newInterior(block).solve(opts.Steps, opts.Gap/2, func(lambda []float64, reached float64) bool {
		best.Squared = math.Min(best.Squared, dualBound(block, lambda, opts.Gap))
		best.Attained = math.Min(math.Max(best.Attained, reached), best.Squared)
		return closed()
	})
	if !closed() {
		best.Squared = math.Min(best.Squared, spectralBound(block))
		best.Attained = math.Min(best.Attained, best.Squared)
	}
	return best
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
	return largestOf(x, patterns, spectralBound)
}

// largestOf returns the largest value of f over the blocks of x that belong to the patterns.
func largestOf(x mat.Symmetric, patterns [][]int, f func(block *mat.SymDense) float64) (float64, error) {
	largest := math.Inf(-1)
	for _, pattern := range patterns {
		block, err := restrict(x, pattern, x.SymmetricDim())
		if err != nil {
			return 0, err
		}
		largest = math.Max(largest, f(block))
	}
	return largest, nil
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
	return largestOf(x, patterns, func(block *mat.SymDense) float64 { return mat.Sum(block) })
}
