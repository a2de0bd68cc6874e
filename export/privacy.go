package export

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"mafalda/accounting"
	"mafalda/internal/rounding"
)

// ErrPrivacy is wrapped by errors about a noise level that does not follow from the guarantee it is stated with.
var ErrPrivacy = errors.New("the privacy block contradicts itself")

// CheckPrivacy reports whether the noise level of the manifest follows from the guarantee that it is stated with, and
// both from sens_squared, which is 1 in every export up to rounding. A manifest without a privacy block claims
// nothing that could be wrong but sens_squared. Whether that is the sensitivity of the strategy is for those who
// compute it.
//
// The noise is compared in exact arithmetic: noise_std²·μ² ≥ sens²·contribution². What it may fall short by is 2⁻⁵²,
// three roundings of a calibration in floating point, less the two units in the last place that it adds. Numbers that
// err in the other direction, more noise or a larger ε than needed, are true, but no calibration made them: they
// may differ by 10⁻⁹ (ε: by what a μ that much larger would allow). Where batches are drawn in secret, the same is
// done with the noise multiplier of Sampling, and its ε is accounted for again.
func (m *Manifest) CheckPrivacy() error {
	if !(math.Abs(m.SensSquared-1) <= 1e-6) {
		return fmt.Errorf("%w: sens_squared is %v: strategies are exported with 1", ErrPrivacy, m.SensSquared)
	}
	if m.Space != nil && !(m.Space.Worst.Value <= 1) {
		return fmt.Errorf("%w: space.worst.value is %v: noise that is shared is exported with 1 at most", ErrPrivacy,
			m.Space.Worst.Value)
	}
	p := m.Privacy
	if p == nil && !m.Sampled() {
		return nil
	}
	if err := p.checkRange(m.Sampled()); err != nil {
		return fmt.Errorf("%w: %w", ErrPrivacy, err)
	}
	if m.Sampled() {
		return m.checkSampling()
	}
	if err := m.checkLevel(p); err != nil {
		return err
	}
	return m.checkLevels()
}

// checkLevel reports whether the noise of a level follows from its guarantee.
func (m *Manifest) checkLevel(p *Privacy) error {
	if math.Abs(p.Sigma*p.Mu-1) > 0x1p-50 {
		return fmt.Errorf("%w: sigma is %v, but 1/mu is %v", ErrPrivacy, p.Sigma, 1/p.Mu)
	}
	adjacency, err := accounting.ParseAdjacency(p.Adjacency)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPrivacy, err)
	}
	contribution := adjacency.Contribution(p.Clip)
	have := product(p.NoiseStd, p.NoiseStd, p.Mu, p.Mu)
	need := product(m.SensSquared, contribution, contribution)
	if have.Cmp(times(need, 1-0x1p-51)) < 0 || have.Cmp(times(need, 1+2e-9)) > 0 {
		return fmt.Errorf("%w: noise_std is %v, but mu = %v with clip %v under %s takes %v", ErrPrivacy, p.NoiseStd,
			p.Mu, p.Clip,
			p.Adjacency, math.Sqrt(m.SensSquared)*contribution/p.Mu)
	}
	return p.checkEpsilon()
}

// checkEpsilon compares (ε, δ) with μ, if they are there.
func (p *Privacy) checkEpsilon() error {
	if p.Delta == nil {
		return nil
	}
	holds := func(mu float64) (bool, error) {
		l, err := accounting.LogDelta(mu, *p.Epsilon)
		return err == nil && l <= rounding.Log(*p.Delta), err
	}
	enough, err := holds(p.Mu * (1 - 0x1p-48)) // 16 units in the last place: what computing δ leaves open
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPrivacy, err)
	}
	more, _ := holds(p.Mu * (1 + 1e-9)) // an error is a μ out of range, for which nothing holds
	if enough && (!more || *p.Epsilon == 0) {
		return nil
	}
	least, err := accounting.Epsilon(p.Mu, *p.Delta)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPrivacy, err)
	}
	return fmt.Errorf("%w: epsilon is %v, but mu = %v with delta = %v is epsilon = %v", ErrPrivacy, *p.Epsilon, p.Mu,
		*p.Delta, least)
}

// checkRange refuses numbers that are no privacy parameters. There are no μ and σ where batches are drawn in secret.
func (p *Privacy) checkRange(sampled bool) error {
	if p == nil {
		return nil
	}
	for _, x := range []struct {
		name  string
		value float64
		there bool
	}{{"mu", p.Mu, !sampled}, {"sigma", p.Sigma, !sampled}, {"clip", p.Clip, true}, {"noise_std", p.NoiseStd, true}} {
		if x.there && (!(x.value > 0) || math.IsInf(x.value, 1)) {
			return fmt.Errorf("privacy.%s is %v: must be positive and finite", x.name, x.value)
		}
	}
	switch {
	case (p.Epsilon == nil) != (p.Delta == nil):
		return errors.New("privacy has one of epsilon and delta, which belong together")
	case p.Delta == nil:
	case !(*p.Delta > 0 && *p.Delta < 1):
		return fmt.Errorf("privacy.delta is %v: must be above 0 and below 1", *p.Delta)
	case !(*p.Epsilon >= 0) || math.IsInf(*p.Epsilon, 1):
		return fmt.Errorf("privacy.epsilon is %v: must be zero or more, and finite", *p.Epsilon)
	}
	if _, err := accounting.ParseAdjacency(p.Adjacency); err != nil {
		return fmt.Errorf("privacy.adjacency: %w", err)
	}
	return nil
}

// product multiplies exactly.
func product(factors ...float64) *big.Float {
	p := new(big.Float).SetPrec(300).SetInt64(1)
	for _, f := range factors {
		p.Mul(p, big.NewFloat(f))
	}
	return p
}

func times(x *big.Float, f float64) *big.Float {
	return new(big.Float).SetPrec(400).Mul(x, big.NewFloat(f))
}

// Guarantee states in words what is promised. A μ that was computed for an (ε, δ) has no more digits than are written
// here; other numbers are rounded up.
func (m *Manifest) Guarantee() string {
	p := m.Privacy
	against := "everybody who sees all messages (local DP)"
	if m.Space != nil {
		against = "everybody who sees all messages and, alone or in the coalitions of space, knows the secrets of its own " +
			"pairs (SecLDP)"
		if m.Space.Coalitions.Size == 0 { // not everybody is curious
			against = "everybody who sees all messages and, as a coalition of space or a part of one, knows the secrets of " +
				"its own pairs (SecLDP), but not against nodes in none of them"
		}
	}
	if m.Budgets != nil {
		return m.levelsText() + ", against " + against
	}
	if p.Mu == 0 {
		s := fmt.Sprintf("(%s, %g)-DP against %s, if nodes draw their batches in secret, as sampling says",
			rounding.UpText(*p.Epsilon, 6), *p.Delta, against)
		if m.Binned() && m.Sampling.Confirmations > 0 {
			s += fmt.Sprintf(" (but for a chance of %.2g in the accountant's samples)", m.Sampling.Failure)
		}
		return s
	}
	s := "mu = " + rounding.UpText(p.Mu, accounting.MuDigits)
	if p.Epsilon != nil {
		s += fmt.Sprintf(", that is (%s, %g)-DP", rounding.UpText(*p.Epsilon, 6), *p.Delta)
	}
	return s + " against " + against
}
