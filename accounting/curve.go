package accounting

import (
	"cmp"
	"fmt"
	"math"

	"mafalda/accounting/internal/parameter"
)

// Orders are searched from 1 + e^-logOrders to 1 + e^logOrders, on a grid with this step.
const (
	logOrders    = 30.0
	logOrderStep = 0.25
)

// EpsilonByRDP returns the best ε that the Renyi divergences of μ-GDP imply over all orders (EpsilonFromRDP), and that
// order: the best of a grid, then golden sections around it. Whatever order it finds is valid. It is never below Epsilon,
// which is exact; it is what accountants that only know Renyi DP report.
func EpsilonByRDP(mu, delta float64) (epsilon, alpha float64, err error) {
	if err := cmp.Or(parameter.Positive("mu", mu), parameter.Probability(delta)); err != nil {
		return 0, 0, err
	}
	at := func(logOrder float64) float64 {
		a := 1 + math.Exp(logOrder)
		e, err := EpsilonFromRDP(a, gaussianRDP(mu, a), delta)
		if err != nil {
			return math.Inf(1)
		}
		return e
	}
	best, center := math.Inf(1), 0.0
	for l := -logOrders; l <= logOrders; l += logOrderStep {
		if v := at(l); v < best {
			best, center = v, l
		}
	}
	low, high := center-logOrderStep, center+logOrderStep
	const golden = 0.6180339887498949
	for high-low > 1e-9 {
		a, b := high-golden*(high-low), low+golden*(high-low)
		if at(a) <= at(b) {
			high = b
		} else {
			low = a
		}
	}
	if v := at((low + high) / 2); v <= best {
		best, center = v, (low+high)/2
	}
	if math.IsInf(best, 1) {
		return best, 0, fmt.Errorf("%w: mu = %v leaves no finite epsilon", ErrParameter, mu)
	}
	return best, 1 + math.Exp(center), nil
}
