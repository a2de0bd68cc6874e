package accounting

import (
	"errors"
	"fmt"
	"math"
)

// RDP returns the Renyi divergence bound ρ = αμ²/2 of order α > 1 that μ-GDP implies, attained by the Gaussian mechanism.
func RDP(mu, alpha float64) (float64, error) {
	if err := errors.Join(positive("mu", mu), order(alpha)); err != nil {
		return 0, err
	}
	return math.Nextafter(alpha*mu*mu/2, math.Inf(1)), nil
}

// MuFromRDP returns √(2ρ/α): the μ of the Gaussian mechanism whose divergence of order α > 1 is ρ. For other mechanisms
// Renyi DP of one order implies no μ.
func MuFromRDP(alpha, rho float64) (float64, error) {
	if err := errors.Join(order(alpha), positive("rdp", rho)); err != nil {
		return 0, err
	}
	return math.Sqrt(2 * rho / alpha), nil
}

// EpsilonFromRDP returns an ε for which (α, ρ)-RDP implies (ε, δ)-DP: the bound of Canonne, Kamath & Steinke (2020),
// Proposition 12: ε = ρ + log((α-1)/α) - (log δ + log α)/(α-1), or 0 if that is negative.
func EpsilonFromRDP(alpha, rho, delta float64) (float64, error) {
	if err := errors.Join(order(alpha), nonNegative("rdp", rho), probability(delta)); err != nil {
		return 0, err
	}
	epsilon := rho + math.Log1p(-1/alpha) - (math.Log(delta)+math.Log(alpha))/(alpha-1)
	return math.Max(epsilon+1e-14*(rho+math.Abs(epsilon)+math.Abs(math.Log(delta))/(alpha-1)), 0), nil
}

// EpsilonByRDP returns the best ε that the Renyi curve of μ-GDP implies over all orders, and that order. It is never below
// Epsilon, which is exact; it is what accountants that only know Renyi DP report.
func EpsilonByRDP(mu, delta float64) (epsilon, alpha float64, err error) {
	if err := errors.Join(positive("mu", mu), probability(delta)); err != nil {
		return 0, 0, err
	}
	at := func(logOrder float64) float64 { // order 1 + e^logOrder
		a := 1 + math.Exp(logOrder)
		e, err := EpsilonFromRDP(a, a*mu*mu/2, delta)
		if err != nil {
			return math.Inf(1)
		}
		return e
	}
	best, center := math.Inf(1), 0.0
	for l := -30.0; l <= 30; l += 0.25 { // then golden section around the best
		if e := at(l); e < best {
			best, center = e, l
		}
	}
	low, high := center-0.25, center+0.25
	const golden = 0.6180339887498949
	for high-low > 1e-9 {
		a, b := high-golden*(high-low), low+golden*(high-low)
		if at(a) <= at(b) {
			high = b
		} else {
			low = a
		}
	}
	if e := at((low + high) / 2); e <= best {
		best, center = e, (low+high)/2
	}
	return best, 1 + math.Exp(center), nil
}

func order(alpha float64) error {
	if !(alpha > 1) || math.IsInf(alpha, 1) {
		return fmt.Errorf("%w: alpha = %v must be above 1 and finite", ErrParameter, alpha)
	}
	return nil
}
