package accounting

import (
	"fmt"
	"math"

	"mafalda/accounting/internal/parameter"
)

// A Curve bounds the Renyi divergence of a mechanism at every order α > 1; +Inf where there is no bound. Bounds of
// mechanisms run one after the other add up.
type Curve func(alpha float64) float64

// GaussianCurve returns the curve ρ(α) = αμ²/2 of μ-GDP, rounded up.
func GaussianCurve(mu float64) (Curve, error) {
	if err := parameter.Positive("mu", mu); err != nil {
		return nil, err
	}
	return func(alpha float64) float64 { return gaussianRDP(mu, alpha) }, nil
}

// EpsilonByCurve returns the best ε that a Renyi curve implies with δ over all orders (EpsilonFromRDP), and that order.
// For Gaussian noise Epsilon, which is exact, is never larger.
func EpsilonByCurve(curve Curve, delta float64) (epsilon, alpha float64, err error) {
	if err := parameter.Probability(delta); err != nil {
		return 0, 0, err
	}
	return bestOrder(curve, func(alpha, rho float64) float64 {
		e, err := EpsilonFromRDP(alpha, rho, delta)
		if err != nil {
			return math.Inf(1)
		}
		return e
	})
}

// EpsilonByRDP returns the best ε that the Renyi curve of μ-GDP implies over all orders, and that order. It is never
// below Epsilon, which is exact; it is what accountants that only know Renyi DP report.
func EpsilonByRDP(mu, delta float64) (epsilon, alpha float64, err error) {
	curve, err := GaussianCurve(mu)
	if err != nil {
		return 0, 0, err
	}
	return EpsilonByCurve(curve, delta)
}

// Orders are searched from 1 + e^-logOrders to 1 + e^logOrders, on a grid with this step.
const (
	logOrders    = 30.0
	logOrderStep = 0.25
)

// bestOrder returns the smallest value of f(α, ρ(α)), and α: the best of a grid, then golden sections around it.
// Whatever order it finds is valid; a curve with several minima costs tightness only.
func bestOrder(curve Curve, f func(alpha, rho float64) float64) (best, alpha float64, err error) {
	at := func(logOrder float64) float64 {
		a := 1 + math.Exp(logOrder)
		rho := curve(a)
		if !(rho >= 0) { // or NaN
			err = fmt.Errorf("%w: the Renyi curve is %v at order %v", ErrParameter, rho, a)
		}
		if math.IsNaN(rho) || math.IsInf(rho, 1) {
			return math.Inf(1)
		}
		return f(a, rho)
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
	if err == nil && math.IsInf(best, 1) {
		err = fmt.Errorf("%w: the Renyi curve bounds no epsilon", ErrParameter)
	}
	return best, 1 + math.Exp(center), err
}
