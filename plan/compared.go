package plan

import (
	"slices"

	"mafalda/factorize/bands"
	"mafalda/internal/fault"
)

// Privacies are the levels (ε, δ) at which strategies are compared, under zero-out adjacency. At a level every
// strategy gets the noise that it needs, whatever its sensitivity and however batches are drawn, and what is left to
// compare is one number: AtPrivacy.Error.
type Privacies struct {
	Epsilons []float64
	Delta    float64 `in:"(0,1)"`
}

// Check refuses levels that are none, with a fault.Argument about Epsilon or Delta.
func (p Privacies) Check() error {
	for i, e := range p.Epsilons {
		if err := fault.Positive("Epsilon", e); err != nil {
			return err
		}
		if slices.Contains(p.Epsilons[:i], e) {
			return fault.New("Epsilon", e, "is there twice")
		}
	}
	return fault.Ranges(p)
}

// AtPrivacy is what a strategy costs at an (ε, δ).
type AtPrivacy struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Error   float64 `json:"error_at_privacy"` // (noise std/clip)²·tr(C⁻ᵀHC⁻¹)
	Ratio   float64 `json:"ratio"`            // Error over the dense optimum's for batches in turn
	// Bands and NoiseMultiplier describe the best strategy, where batches are drawn in secret; else 0.
	Bands           int     `json:"bandwidth,omitempty"`
	NoiseMultiplier float64 `json:"noise_multiplier,omitempty"` // noise std/clip for columns of norm one
}

// SecretCost returns what bands cost with batches that are drawn in secret, beside the error of the optimum for batches
// in turn.
func SecretCost(c bands.Cost, epsilon, delta, optimum float64) AtPrivacy {
	return AtPrivacy{Epsilon: epsilon, Delta: delta, Error: c.ErrorAtPrivacy, Ratio: c.ErrorAtPrivacy / optimum,
		Bands: c.Bandwidth, NoiseMultiplier: c.NoiseMultiplier}
}
