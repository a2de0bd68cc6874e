package spacetime

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
	"mafalda/internal/lists"
	"mafalda/optim"
	"mafalda/secrets"
)

// faint is the variance of a pair, relative to all noise of either node, that is not worth an exchange of keys.
const faint = 1e-7

// result makes noise of the best point and measures that on K itself.
func (s *spaceSearch) result(ctx context.Context, k *mat.SymDense) (*SpaceResult, error) {
	noise, worst, err := Normalize(ctx, s.noise(), s.setting.Attackers)
	if err != nil {
		return nil, err
	}
	r := &SpaceResult{Noise: noise, Worst: worst, Loss: Loss(k, noise), LowerBound: s.bound, Iterations: s.iterations,
		Status: s.status, Point: s.at}
	r.Gap = factorize.GapOf(r.Loss, r.LowerBound)
	if r.Gap <= s.opts.Gap {
		r.Status = optim.Converged
	}
	return r, nil
}

// scaledNoise returns the noise of the best point with max [M_A⁻¹]_vv = 1 as far as that is known without a proof.
func (s *spaceSearch) scaledNoise() *secrets.Noise {
	if p := newPosition(s.all, s.best); p != nil {
		return s.noise().Scaled(1 / math.Sqrt(p.least()))
	}
	return s.noise()
}

// noise returns the best point as standard deviations, without pairs that make no difference.
func (s *spaceSearch) noise() *secrets.Noise {
	d := s.all
	all := d.variances(s.best)
	noise := &secrets.Noise{Own: lists.Map(s.best[:d.nodes], math.Sqrt)}
	for i, p := range d.pairs {
		if e := s.best[d.nodes+i]; e > faint*math.Min(all[p.U], all[p.V]) {
			noise.Pairs = append(noise.Pairs, secrets.Shared{Pair: p, Deviation: math.Sqrt(e)})
		}
	}
	return noise
}

// Normalize returns the noise scaled such that Worst proves max [M_A⁻¹]_vv to be at most 1, and less by rounding only.
// It fails as Worst does, and with ErrSpace where some attacker knows too much for any scale.
func Normalize(ctx context.Context, noise *secrets.Noise, a *secrets.Attackers) (*secrets.Noise, secrets.Worst, error) {
	const near = 40 // trials after which less than the best scale will do
	factor := 1.0
	for trial := 0; ; trial++ {
		worst, err := noise.Worst(ctx, a)
		switch {
		case err != nil:
			return nil, worst, err
		case math.IsInf(worst.Value, 0) || worst.Value == 0:
			return nil, worst, fmt.Errorf("%w: the attacker %v knows all of the noise of node %d", ErrSpace, worst.Attacker,
				worst.Victim)
		case worst.Value <= 1 && (worst.Value > 1-1e-11 || trial > near):
			return noise, worst, nil
		}
		noise = noise.Scaled(math.Sqrt(worst.Value) * factor)
		if factor *= 1 + 0x1p-50; trial > near {
			factor *= 1 + 1e-9
		}
	}
}

// lossRounding is what rounding may make of Loss, in units of lossTerms: K is a sum of many products.
const lossRounding = 0x1p-42

// lossTerms returns the sum of the absolute terms of Loss, which cancel where pairs share much noise and W averages nearly
// all of it away.
func lossTerms(k *mat.SymDense, noise *secrets.Noise) float64 { return lossWith(k, noise, math.Abs) }

// Loss returns tr(KM).
func Loss(k *mat.SymDense, noise *secrets.Noise) float64 {
	return lossWith(k, noise, func(beside float64) float64 { return -beside })
}

// lossWith returns tr(KM) with another term for the entry of K beside the diagonal that a pair has.
func lossWith(k *mat.SymDense, noise *secrets.Noise, term func(beside float64) float64) float64 {
	var sum float64
	for i, d := range noise.Own {
		sum += d * d * k.At(i, i)
	}
	for _, p := range noise.Pairs {
		sum += p.Deviation * p.Deviation * (k.At(p.U, p.U) + k.At(p.V, p.V) + 2*term(k.At(p.U, p.V)))
	}
	return sum
}
