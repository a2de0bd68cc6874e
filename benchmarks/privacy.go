package benchmarks

import (
	"math"

	"mafalda/accounting"
	"mafalda/factorize/bands"
	"mafalda/internal/fault"
)

// Privacies are the levels (ε, δ) at which strategies are compared, under zero-out adjacency. At a level every
// strategy gets the noise that it needs, whatever its sensitivity and however batches are drawn, and what is left to
// compare is one number: AtPrivacy.Error.
type Privacies struct {
	Epsilons []float64
	Delta    float64
}

// SuitePrivacies are the levels of a benchmark by default: ε = 0.5, 2 and 8, with δ = 1e-6.
func SuitePrivacies() Privacies { return Privacies{Epsilons: []float64{0.5, 2, 8}, Delta: 1e-6} }

// Check refuses levels that are none, with a fault.Argument about Epsilon or Delta.
func (p Privacies) Check() error {
	if !(p.Delta > 0 && p.Delta < 1) {
		return fault.New("Delta", p.Delta, "must be above 0 and below 1")
	}
	for i, e := range p.Epsilons {
		if !(e > 0) || math.IsInf(e, 1) {
			return fault.New("Epsilon", e, "must be positive and finite")
		}
		for _, other := range p.Epsilons[:i] {
			if e == other {
				return fault.New("Epsilon", e, "is there twice")
			}
		}
	}
	return nil
}

// AtPrivacy is what a strategy costs at an (ε, δ).
type AtPrivacy struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Error   float64 `json:"error_at_privacy"` // (noise std/clip)²·tr(C⁻ᵀHC⁻¹)
	Ratio   float64 `json:"ratio"`            // over the dense optimum's, for batches in turn
	// Bands and NoiseMultiplier are of the best strategy, where batches are drawn in secret; else 0.
	Bands           int     `json:"bandwidth,omitempty"`
	NoiseMultiplier float64 `json:"noise_multiplier,omitempty"` // noise std/clip for columns of norm one
}

// InTurn returns the squared error of a strategy of this loss with the noise for (ε, δ), in units of the clip, where
// batches are visited in turn: loss/μ², the noise rounded up. It fails as accounting.Calibrate does.
func InTurn(loss, epsilon, delta float64) (float64, error) {
	target := accounting.Target{Epsilon: epsilon, Delta: delta}
	p, err := accounting.Calibrate(target, 1, 1, accounting.ZeroOut)
	return p.NoiseStd * p.NoiseStd * loss, err
}

// InSecret returns what bands cost with batches that are drawn in secret, beside the error of the optimum for batches
// in turn.
func InSecret(c bands.Cost, epsilon, delta, optimum float64) AtPrivacy {
	return AtPrivacy{Epsilon: epsilon, Delta: delta, Error: c.ErrorAtPrivacy, Ratio: c.ErrorAtPrivacy / optimum,
		Bands: c.Bandwidth, NoiseMultiplier: c.NoiseMultiplier}
}

// inTurn completes a row for batches in turn, whose ratio to the optimum is the same at every level.
func (p Privacies) inTurn(r Row) (Row, error) {
	for _, epsilon := range p.Epsilons {
		e, err := InTurn(r.Loss, epsilon, p.Delta)
		if err != nil {
			return r, err
		}
		r.AtPrivacy = append(r.AtPrivacy, AtPrivacy{Epsilon: epsilon, Delta: p.Delta, Error: e, Ratio: r.Ratio})
	}
	return r, nil
}
