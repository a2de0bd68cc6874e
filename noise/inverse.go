package noise

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"mafalda/strategy"
)

const (
	largestExcess = 1e-8
	excessProbes  = 8
)

// checkInverse is ErrExport if C is so ill-conditioned that what is computed for C⁻¹ is another matrix: with E = C·C⁻¹
// - I, who draws noise by it has the strategy (I+E)⁻¹C, whose sensitivity is up to sens(C)/(1-‖E‖). The Frobenius
// norm of E is estimated from random vectors, which could not be known when C was made.
func checkInverse(c strategy.Strategy) error {
	var lower, noising mat.TriDense
	if err := c.NoisingTo(&noising); err != nil {
		return unusable(err)
	}
	c.StrategyTo(&lower)
	steps := c.Steps()
	v, there, back := mat.NewVecDense(steps, nil), mat.NewVecDense(steps, nil), mat.NewVecDense(steps, nil)
	var squared float64
	for range excessProbes {
		for t := range steps {
			v.SetVec(t, rand.NormFloat64())
		}
		there.MulVec(&noising, v)
		back.MulVec(&lower, there)
		back.SubVec(back, v)
		squared += mat.Dot(back, back) / excessProbes
	}
	if excess := math.Sqrt(squared); !(excess <= largestExcess) {
		return fmt.Errorf("%w: C is ill-conditioned: C·C⁻¹ is off by %.1e, so that the noise would protect less",
			ErrExport, excess)
	}
	return nil
}
