package accounting

import (
	"cmp"
	"math"

	"mafalda/accounting/internal/parameter"
	"mafalda/internal/rounding"
)

// RDP returns the Renyi divergence bound ρ = αμ²/2 of order α > 1 that μ-GDP implies, attained by the Gaussian
// mechanism, rounded up.
func RDP(mu, alpha float64) (float64, error) {
	if err := cmp.Or(parameter.Positive("mu", mu), parameter.Order(alpha)); err != nil {
		return 0, err
	}
	rho := gaussianRDP(mu, alpha)
	return rho, parameter.Positive("rdp", rho)
}

// gaussianRDP returns αμ²/2, rounded up.
func gaussianRDP(mu, alpha float64) float64 {
	return rounding.MulUp(rounding.MulUp(rounding.MulUp(alpha, mu), mu), 0.5)
}

// MuFromRDP returns √(2ρ/α): the μ of the Gaussian mechanism whose divergence of order α > 1 is ρ. It stands for
// what that mechanism guarantees, so it is rounded up. For other mechanisms Renyi DP of one order implies no μ.
func MuFromRDP(alpha, rho float64) (float64, error) {
	if err := cmp.Or(parameter.Order(alpha), parameter.Positive("rdp", rho)); err != nil {
		return 0, err
	}
	mu := 2 * rounding.SqrtUp(rounding.DivUp(rounding.MulUp(rho, 0.5), alpha)) // halved first: 2ρ could overflow
	return mu, parameter.Positive("mu", mu)
}

// EpsilonFromRDP returns an ε for which (α, ρ)-RDP implies (ε, δ)-DP: the bound of Canonne, Kamath & Steinke (2020),
// Proposition 12: ε = ρ + log((α-1)/α) - (log δ + log α)/(α-1), rounded up, or 0 if that is negative.
func EpsilonFromRDP(alpha, rho, delta float64) (float64, error) {
	if err := cmp.Or(parameter.Order(alpha), parameter.NonNegative("rdp", rho), parameter.Probability(delta)); err != nil {
		return 0, err
	}
	logDelta, logOrder, logRatio := rounding.Log(delta), math.Log(alpha), logRatio(alpha)
	epsilon := rho + logRatio - (logDelta+logOrder)/(alpha-1)
	slack := 1e-14 * (rho + math.Abs(logRatio) + (math.Abs(logDelta)+logOrder)/(alpha-1))
	epsilon = math.Max(epsilon+slack, 0)
	return epsilon, parameter.NonNegative("epsilon", epsilon)
}

// logRatio returns log((α-1)/α).
func logRatio(alpha float64) float64 {
	if alpha < 2 {
		return math.Log((alpha - 1) / alpha) // α-1 is exact
	}
	return math.Log1p(-1 / alpha)
}
