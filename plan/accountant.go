package plan

import (
	"math"

	"mafalda/accounting"
)

// epsilonOf and calibrateSampled are here until accounting has them.
func epsilonOf(e accounting.SampledRounds, multiplier, delta float64) (upper, lower float64, err error) {
	e.NoiseMultiplier = multiplier
	d, err := accounting.ComposeSampled(accounting.ZeroOut, e)
	if err != nil {
		return 0, 0, err
	}
	return d.Epsilon(delta)
}

func calibrateSampled(e accounting.SampledRounds, epsilon, delta float64) (float64, error) {
	low, high := 0.3, 1.0
	for {
		u, _, err := epsilonOf(e, high, delta)
		if err != nil {
			return 0, err
		}
		if u <= epsilon {
			break
		}
		low, high = high, high*2
	}
	for high-low > 1e-9*high {
		m := math.Sqrt(low * high)
		u, _, err := epsilonOf(e, m, delta)
		if err != nil {
			return 0, err
		}
		if u <= epsilon {
			high = m
		} else {
			low = m
		}
	}
	return high, nil
}
