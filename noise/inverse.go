package noise

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
)

const (
	largestExcess = 1e-8
	excessProbes  = 8
)

// inverseOf returns C⁻¹. It is ErrExport if C is so ill-conditioned that what was computed is another matrix: with
// E = C·C⁻¹ - I, who draws noise by it has the strategy (I+E)⁻¹C, whose sensitivity is up to 1/(1-‖E‖) times that of C.
// The Frobenius norm of E is estimated from random vectors, which nobody could know who made C.
func inverseOf(c factorize.Strategy) (*mat.Dense, error) {
	var strategy, noising mat.TriDense
	if err := c.NoisingTo(&noising); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrExport, err)
	}
	c.StrategyTo(&strategy)
	steps := c.Steps()
	v, there, back := mat.NewVecDense(steps, nil), mat.NewVecDense(steps, nil), mat.NewVecDense(steps, nil)
	var squared float64
	for range excessProbes {
		for t := range steps {
			v.SetVec(t, rand.NormFloat64())
		}
		there.MulVec(&noising, v)
		back.MulVec(&strategy, there)
		back.SubVec(back, v)
		squared += mat.Dot(back, back) / excessProbes
	}
	if excess := math.Sqrt(squared); !(excess <= largestExcess) {
		return nil, fmt.Errorf("%w: C is ill-conditioned: C·C⁻¹ is off by %.1e, so that the noise would protect less", ErrExport,
			excess)
	}
	return mat.DenseCopyOf(&noising), nil
}
