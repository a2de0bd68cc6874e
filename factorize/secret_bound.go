package factorize

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/fault"
	"mafalda/internal/rounding"
	"mafalda/participation"
)

// SecretSteps is the number of steps up to which a SecretBound is computed.
const SecretSteps = 1024

// Cells are disjoint sets of steps with weights. For a strategy C, X = CᵀC, they stand for the number
//
//	Σ_i Weights[i]·(the largest ⟨Γ, X[c,c]⟩ for c = Steps[i]),
//
// over the inner products Γ of contributions of unit norm: what a record can change in these steps together. What
// privacy leaves to it, over ν², is a limit of the cells.
type Cells struct {
	Steps   [][]int
	Weights []float64     // positive
	Guess   *mat.SymDense // positive definite, T×T: like the X that is best under such a limit alone
}

// SecretBound knows, for a Gram matrix h, a lower bound of the error ν²·tr(C⁻ᵀHC⁻¹) of every strategy C and noise ν that
// keep the limits of two kinds of cells.
//
// For each kind let Λ_i be block diagonal, with blocks of a constant diagonal Weights[i]: those of Guess⁻¹hGuess⁻¹,
// scaled to it. Then ⟨Λ_i, X⟩ ≤ ν²·limit_i. As for LowerBound, with h = RᵀR and any share s from 0 to 1,
//
//	ν²·tr(HX⁻¹) ≥ S(s) / ((1-s)·limit_1 + s·limit_2),    S(s) = (tr (R((1-s)Λ_1 + sΛ_2)Rᵀ)^(1/2))²,
//
// and the largest of some shares is taken. S depends on no limit, and is computed once.
type SecretBound struct {
	shares  []float64
	squares []float64 // S, rounded down
}

// secretShares are the shares s: s/(1-s) is a power of two from 2⁻¹⁰ to 2¹⁰ over the ratio of S(1) to S(0).
const secretShares = 10

// NewSecretBound returns the bound for the T×T Gram matrix h. The errors are a fault.Argument of Steps for more than
// SecretSteps or for cells that are not disjoint, and ErrGram for an h that leaves no finite error.
func NewSecretBound(h *mat.SymDense, first, second Cells) (*SecretBound, error) {
	steps := h.SymmetricDim()
	if steps > SecretSteps {
		return nil, fault.New("Steps", steps, "must be at most %d for a lower bound under secret batches", SecretSteps)
	}
	scaled, unit, err := scaleToUnit(h)
	if err != nil {
		return nil, err
	}
	var products [2]*mat.SymDense
	var lost [2]float64 // of any eigenvalue
	for i, cells := range []Cells{first, second} {
		if products[i], lost[i], err = cells.product(scaled); err != nil {
			return nil, err
		}
	}
	b := &SecretBound{}
	at := func(s float64) (float64, error) {
		mixed := dense.NewSym(steps, func(i, j int) float64 {
			return (1-s)*products[0].At(i, j) + s*products[1].At(i, j)
		})
		values, err := eigenvalues(mixed)
		if err != nil {
			return 0, err
		}
		var nuclear rounding.Sum
		for _, v := range values {
			nuclear.Add(math.Sqrt(math.Max(v-(1-s)*lost[0]-s*lost[1], 0)))
		}
		square, err := finiteBound(math.Max(nuclear.Down(), 0), 1, 1e-12)
		b.shares, b.squares = append(b.shares, s), append(b.squares, square*unit*(1-1e-12))
		return square, err
	}
	alone, err := at(0)
	if err != nil {
		return nil, err
	}
	both, err := at(1)
	if err != nil {
		return nil, err
	}
	for i := -secretShares; i <= secretShares; i++ {
		odds := math.Ldexp(1, i) * alone / both
		if !(odds > 0) || math.IsInf(odds, 1) {
			continue
		}
		if _, err := at(odds / (1 + odds)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Error returns the bound for the limits of the cells, +Inf for none: 0, which bounds everything, if both are infinite.
func (b *SecretBound) Error(first, second float64) float64 {
	best := 0.0
	for i, s := range b.shares {
		var limit float64
		if s < 1 {
			limit = (1 - s) * first
		}
		if s > 0 {
			limit += s * second
		}
		best = math.Max(best, b.squares[i]/limit*(1-1e-15))
	}
	return best
}

// product returns RΛRᵀ with RᵀR ≤ h, and what rounding may have added to an eigenvalue. Λ = FFᵀ is made of
// Guess⁻¹hGuess⁻¹, or of what dualBelow puts in its place.
func (c Cells) product(h *mat.SymDense) (*mat.SymDense, float64, error) {
	steps := h.SymmetricDim()
	single, err := participation.NewCyclic(steps, 1, steps)
	if err != nil {
		return nil, 0, err
	}
	root, lambda, err := dualBelow(h, numbersOf(c.Guess), freeMask(single, steps))
	if err != nil {
		return nil, 0, err
	}
	factor, err := c.factor(lambda, steps)
	if err != nil {
		return nil, 0, err
	}
	var n mat.Dense
	dense.Mul(&n, root, factor)
	norm := mat.Norm(&n, 2)
	product := make([]float64, steps*steps)
	dense.MulSymTo(product, n.RawMatrix().Data, n.RawMatrix().Data, steps)
	return mat.NewSymDense(steps, product),
		40 * float64(steps) * 0x1p-53 * (norm*norm + mat.Norm(root, 2)*mat.Norm(factor, 2)*norm), nil
}

// factor returns F of Λ = FFᵀ: no diagonal entry of a block is above its weight.
func (c Cells) factor(lambda []float64, steps int) (*mat.Dense, error) {
	if len(c.Weights) != len(c.Steps) {
		return nil, fault.New("Weights", len(c.Weights), "of %d cells", len(c.Steps))
	}
	factor := mat.NewDense(steps, steps, nil)
	taken := make([]bool, steps)
	for i, cell := range c.Steps {
		for _, s := range cell {
			if s < 0 || s >= steps || taken[s] {
				return nil, fault.New("Steps", s, "is twice in the cells, or beyond T = %d", steps)
			}
			taken[s] = true
		}
		lower, _, err := unitFactor(lambda, steps, cell)
		if err != nil {
			return nil, err
		}
		for j, s := range cell {
			row := lower.RawTriangular().Data[j*len(cell) : j*len(cell)+j+1]
			most := math.Sqrt(c.Weights[i]/squaredNormUp(row)) * (1 - 0x1p-50)
			for l, v := range row {
				factor.Set(s, cell[l], most*v)
			}
		}
	}
	return factor, nil
}

// AllTogether returns the cells of a record that can change all steps together, with the best Guess for them.
func AllTogether(h *mat.SymDense, cells [][]int, weight float64) Cells {
	steps := h.SymmetricDim()
	c := Cells{Steps: cells, Weights: slices.Repeat([]float64{weight}, len(cells)), Guess: mat.NewSymDense(steps, nil)}
	mean := mat.Trace(h) / float64(steps)
	for t := range steps {
		c.Guess.SetSym(t, t, math.Sqrt(math.Max(h.At(t, t), 1e-12*mean)))
	}
	return c
}
