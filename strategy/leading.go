package strategy

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/rounding"
	"mafalda/participation"
)

// Growth says how the sensitivity of a strategy grows with the steps that were made: after t steps an attacker has
// seen C[:t,:t]G[:t] + Z[:t], so that the mechanism is the leading block of C, with Gram matrix C[:t,:t]ᵀC[:t,:t]
// (not X[:t,:t]: off the mask of an optimal X its entries are not zero), and a record has taken part in the steps of
// a pattern before t. Gradients may depend on what was sent: whatever they are, the squared shift of all rows
// together is ⟨Γ, X_t⟩ for the Γ of the unit vectors that they have become, X_t = C[:t,:t]ᵀC[:t,:t], and Gaussian
// mechanisms whose shifts are bounded together on every path compose like that. It is for one goroutine.
type Growth struct {
	schema     participation.Schema
	long       *Toeplitz                         // strategy of more than LongSteps steps, with its series and scales; nil: not long
	series     []float64                         // series of long: nothing of size T×T is made
	transposed *mat.Dense                        // Cᵀ; nil if it is long
	positive   bool                              // no entry of C is negative
	later      map[int]participation.Sensitivity // steps that bound earlier ones, as far as they were needed
}

// NewGrowth returns the growth of c under a schema. It fails where Sensitivity has no bound.
func NewGrowth(c Strategy, schema participation.Schema) (*Growth, error) {
	if c.Steps() != schema.Steps() {
		return nil, fmt.Errorf("%w: a strategy of %d steps under a schema of %d", participation.ErrSchema, c.Steps(),
			schema.Steps())
	}
	g := &Growth{schema: schema, later: map[int]participation.Sensitivity{}}
	if p, ok := c.(*Toeplitz); ok && p.steps > LongSteps {
		g.long, g.series = p, p.Series()
		_, err := g.bound(p.steps)
		return g, err
	}
	g.transposed = dense.FullTransposed(LowerOf(c))
	g.positive = mat.Min(g.transposed) >= 0
	return g, nil
}

// Sensitivity returns the sensitivity of the first steps, never rounded down. It grows with the steps, and so the
// smallest bound of any later step bounds it, too.
//
//   - Where patterns can be listed it is the sensitivity for vector contributions (participation.VectorSensitivity):
//     exact within 10⁻⁶, so that a later step has no smaller one to offer.
//   - Under min-sep, where it is no more than a bound, it is the smallest one of this step and later ones: of all up to
//     64 steps, of eight later ones where there are more.
//   - Of more than LongSteps steps it is the smaller bound of these steps and of all.
//
// It fails for steps outside 1..T.
func (g *Growth) Sensitivity(steps int) (participation.Sensitivity, error) {
	best, err := g.bound(steps)
	if _, listed := g.schema.(interface{ Patterns() [][]int }); listed && g.long == nil || err != nil || best.Exact {
		return best, err
	}
	apart := 1
	if all := g.schema.Steps(); g.long != nil {
		apart = all
	} else if all > 64 {
		apart = all / 8
	}
	for later := g.schema.Steps(); later > steps; later -= apart {
		s, known := g.later[later]
		if !known {
			if s, err = g.bound(later); err != nil {
				return participation.Sensitivity{}, err
			}
			g.later[later] = s
		}
		if s.Squared < best.Squared { // what is attained later says nothing of now
			best.Squared, best.Exact = s.Squared, false
		}
	}
	return best, nil
}

// bound returns the sensitivity of the first steps by these alone.
func (g *Growth) bound(steps int) (participation.Sensitivity, error) {
	cut, err := participation.Leading(g.schema, steps)
	if err != nil {
		return participation.Sensitivity{}, err
	}
	if g.long != nil {
		return longSensitivity(g.series[:min(steps, len(g.series))], g.long.columns[:min(steps, len(g.long.columns))], cut)
	}
	x := leadingGram{g.transposed, steps}
	listed, ok := cut.(interface{ Patterns() [][]int })
	switch {
	case !ok:
		return checkRange(cut.Sensitivity(x))
	case g.positive:
		return checkRange(g.equalContributions(listed.Patterns(), steps), nil)
	}
	return checkRange(participation.VectorSensitivity(x, listed.Patterns(), participation.VectorOptions{}))
}

// equalContributions returns the sensitivity of the first steps of a C without negative entries, rounded up: the largest of a
// pattern's sums Σ_i (Σ_{s∈π} c_is)². No contributions do more than equal ones there. It takes O(T) an entry of a pattern.
func (g *Growth) equalContributions(patterns [][]int, steps int) (worst participation.Sensitivity) {
	for _, pattern := range patterns {
		rows := make([]rounding.Sum, steps)
		for _, s := range pattern {
			for i, c := range g.transposed.RawRowView(s)[s:steps] {
				rows[s+i].Add(c)
			}
		}
		var square rounding.Sum
		for _, row := range rows {
			square.AddProduct(row.Up(), row.Up())
		}
		if squared := max(square.Up(), worst.Squared); squared != worst.Squared { // not a number remains one that is none
			worst = participation.Sensitivity{Squared: squared, Attained: squared, Exact: true, Pattern: pattern}
		}
	}
	return worst
}

// leadingGram is C[:t,:t]ᵀC[:t,:t], entry by entry on demand and rounded away from zero. It holds Cᵀ.
type leadingGram struct {
	transposed *mat.Dense
	steps      int
}

var _ mat.Symmetric = leadingGram{}

func (g leadingGram) Dims() (r, c int)  { return g.steps, g.steps }
func (g leadingGram) SymmetricDim() int { return g.steps }
func (g leadingGram) T() mat.Matrix     { return g }

func (g leadingGram) At(s, t int) float64 {
	cs, ct := g.transposed.RawRowView(s), g.transposed.RawRowView(t)
	var dot rounding.Sum
	for i := max(s, t); i < g.steps; i++ { // above the diagonal C is zero
		dot.AddProduct(cs[i], ct[i])
	}
	if dot.Value() < 0 {
		return dot.Down()
	}
	return dot.Up()
}
