package factorize

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/participation"
	"mafalda/strategy"
)

// Quality is what a strategy costs on a workload under a participation schema.
type Quality struct {
	Sensitivity  participation.Sensitivity
	SquaredError float64 // tr(C⁻ᵀ H C⁻¹)
	Loss         float64 // sens² · SquaredError (Bellet et al., Lemma 10)
}

// RMSE returns the root mean squared error sqrt(loss / (nT)) of n nodes over T steps, or over the sum of what the steps
// count, for sens(C) = 1 and unit noise.
func (q Quality) RMSE(nodes int, steps float64) float64 {
	return math.Sqrt(q.Loss / (float64(nodes) * steps))
}

// Evaluate returns what c costs by an objective: its sensitivity, from its entries, and its squared error. For Mean it
// costs one triangular inversion and one product of T×T matrices, for Long nothing of that size: the error is then
// ErrUnsupported for a c that is not Toeplitz.
func Evaluate(c strategy.Strategy, o Objective, schema participation.Schema) (Quality, error) {
	if c.Steps() != schema.Steps() {
		return Quality{}, fmt.Errorf("strategy of %d steps under a schema of %d", c.Steps(), schema.Steps())
	}
	if err := o.check(schema); err != nil {
		return Quality{}, err
	}
	squared, err := o.squaredError(c)
	if err != nil {
		return Quality{}, err
	}
	sens, err := strategy.Sensitivity(c, schema)
	if err != nil {
		return Quality{}, err
	}
	q := Quality{Sensitivity: sens, SquaredError: squared, Loss: sens.Squared * squared}
	if q.Loss-q.Loss != 0 || q.Loss <= 0 {
		return Quality{}, fmt.Errorf("loss of the strategy is %v: its entries are out of range", q.Loss)
	}
	return q, nil
}

// squaredError returns the error of c, which Evaluate has checked.
func (o Objective) squaredError(c strategy.Strategy) (float64, error) {
	switch o.kind {
	case ManySteps:
		response, err := o.response(c.Steps())
		if err != nil {
			return 0, err
		}
		return ResponseError(response, c)
	case WorstStep, LastStep:
		errors, err := stepErrors(c, o.steps)
		if err != nil {
			return 0, err
		}
		if o.kind == LastStep {
			return errors[len(errors)-1], nil
		}
		return slices.Max(errors), nil
	}
	var noising mat.TriDense
	if err := c.NoisingTo(&noising); err != nil {
		return 0, fmt.Errorf("inverting the strategy: %w", err)
	}
	var product mat.Dense // H C⁻¹
	z := dense.Full(&noising)
	dense.Mul(&product, o.gram, z)
	return floats.Dot(z.RawMatrix().Data, product.RawMatrix().Data), nil // ⟨C⁻¹, H C⁻¹⟩
}

// ResponseError returns the squared error of a Toeplitz strategy, or of a comb with scaled columns. It is ErrUnsupported
// for others.
func ResponseError(response Response, c strategy.Strategy) (float64, error) {
	r, e, ok := strategy.ResponseOf(c)
	switch {
	case !ok:
		return 0, fmt.Errorf("no Toeplitz strategy: %w for many steps", ErrUnsupported)
	case e == nil:
		return response.Error(nil, r), nil
	}
	q, err := response.Columns(r, len(e))
	if err != nil {
		return 0, err
	}
	x := mat.NewVecDense(len(e), e)
	return mat.Inner(x, q, x), nil
}
