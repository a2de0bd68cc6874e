package factorize

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/rounding"
	"mafalda/participation"
	"mafalda/strategy"
)

// Quality is what a strategy costs on a workload under a participation schema.
type Quality struct {
	Sensitivity  participation.Sensitivity
	SquaredError float64 // tr(C⁻ᵀ H C⁻¹)
	Loss         float64 // sens² · SquaredError (Bellet et al., Lemma 10)
}

// RMSE returns the root mean squared error sqrt(loss / (nT)) of n nodes over T steps, for sens(C) = 1 and unit noise.
func (q Quality) RMSE(nodes, steps int) float64 {
	return math.Sqrt(q.Loss / (float64(nodes) * float64(steps)))
}

// Evaluate computes the sensitivity of c from its entries, and its squared error on the T×T Gram matrix h. It costs one
// triangular inversion and one product of T×T matrices.
func Evaluate(c strategy.Strategy, h *mat.SymDense, schema participation.Schema) (Quality, error) {
	if h.SymmetricDim() != c.Steps() {
		return Quality{}, fmt.Errorf("strategy of %d steps on a Gram matrix of %d", c.Steps(), h.SymmetricDim())
	}
	sens, err := Sensitivity(c, schema)
	if err != nil {
		return Quality{}, err
	}
	var noising mat.TriDense
	if err := c.NoisingTo(&noising); err != nil {
		return Quality{}, fmt.Errorf("inverting the strategy: %w", err)
	}
	var product mat.Dense // H C⁻¹
	z := mat.DenseCopyOf(&noising)
	dense.Mul(&product, mat.DenseCopyOf(h), z)
	q := Quality{Sensitivity: sens}
	q.SquaredError = blas64.Dot(asVector(z), asVector(&product)) // ⟨C⁻¹, H C⁻¹⟩
	q.Loss = sens.Squared * q.SquaredError
	if q.Loss-q.Loss != 0 || q.Loss <= 0 {
		return Quality{}, fmt.Errorf("loss of the strategy is %v: its entries are out of range", q.Loss)
	}
	return q, nil
}

// Sensitivity returns the sensitivity of c under the schema, from its entries and rounded up. For Toeplitz strategies of more
// than LongSteps steps it is a bound in O(T), exact where no coefficient is negative, under cyclic participation only.
func Sensitivity(c strategy.Strategy, schema participation.Schema) (participation.Sensitivity, error) {
	if c.Steps() > LongSteps {
		if series, ok := strategy.SeriesOf(c); ok {
			return longSensitivity(series, schema)
		}
	}
	var lower mat.TriDense
	c.StrategyTo(&lower)
	return schema.Sensitivity(gramUp{mat.DenseCopyOf(lower.T())})
}

// gramUp is CᵀC, entry by entry on demand and rounded away from zero. It holds Cᵀ, so that columns of C are contiguous.
type gramUp struct{ transposed *mat.Dense }

var _ mat.Symmetric = gramUp{}

func (g gramUp) Dims() (r, c int)  { return g.transposed.Dims() }
func (g gramUp) SymmetricDim() int { n, _ := g.transposed.Dims(); return n }
func (g gramUp) T() mat.Matrix     { return g }

func (g gramUp) At(s, t int) float64 {
	cs, ct := g.transposed.RawRowView(s), g.transposed.RawRowView(t)
	var dot rounding.Sum
	for i := max(s, t); i < len(cs); i++ { // above the diagonal C is zero
		dot.AddProduct(cs[i], ct[i])
	}
	if dot.Value() < 0 {
		return dot.Down()
	}
	return dot.Up()
}

// Normalize returns c divided by its sensitivity: sens² of the result, rounded up, is at most 1, and less by rounding
// only.
func Normalize(c strategy.Strategy, schema participation.Schema) (strategy.Strategy, error) {
	for {
		sens, err := Sensitivity(c, schema)
		if err != nil {
			return nil, err
		}
		if sens.Squared <= 0 {
			return nil, fmt.Errorf("sensitivity is %v: nothing to normalize", sens.Squared)
		}
		if sens.Squared <= 1 && sens.Squared > 1-1e-12 {
			return c, nil
		}
		scale := 1 / math.Sqrt(sens.Squared)
		if math.Abs(sens.Squared-1) < 1e-12 { // only rounding is left: step over it
			scale = 1 - 0x1p-52
		}
		c = c.Scaled(scale)
	}
}

func asVector(m *mat.Dense) blas64.Vector {
	raw := m.RawMatrix()
	if raw.Stride != raw.Cols {
		panic("factorize: not contiguous")
	}
	return blas64.Vector{N: len(raw.Data), Inc: 1, Data: raw.Data}
}
