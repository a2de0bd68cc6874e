package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"mafalda/accounting"
	"mafalda/internal/exact"
)

// Extreme probabilities, noise multipliers and δ give finite bounds in order, which say how they were found.
func TestSampledEndsEverywhere(t *testing.T) {
	for _, tc := range []struct {
		q      float64
		rounds int
		s      float64
		delta  float64
	}{{1e-9, 1, 1, 1e-300}, {1e-5, 1, 0.5, 1e-300}, {1e-3, 1e8, 0.05, 0.5}, {0.5, 1e8, 0.5, 1e-12}, {0.05, 100, 0.5, 1e-300},
		{0.05, 100, 0.05, 1 - 1e-9}, {1e-3, 1000, 5, 1e-100}, {1, 1e8, 1, 1e-300}} {
		d := composeSampled(t, sampledRounds(tc.q, tc.s, tc.rounds))
		b, err := d.EpsilonBounds(tc.delta)
		if err != nil || !(0 <= b.Lower && b.Lower <= b.Upper) || math.IsInf(b.Upper, 1) || b.By.About() == string(b.By) {
			t.Errorf("%+v: %+v, %v", tc, b, err)
		}
		if without, err := accounting.Epsilon(d.fullBatchMu(), tc.delta); err != nil || b.Upper > without {
			t.Errorf("%+v: %+v, without sampling %v, %v", tc, b, without, err)
		}
	}
	// A record that is not drawn with a probability above 1 - δ needs no noise. This did not end.
	p, err := Calibrate(Target{Probability: 0.05, Rounds: 100, Epsilon: 2, Delta: 0.999999})
	if err != nil || p.NoiseMultiplier != MinNoiseMultiplier || p.By != Nothing {
		t.Errorf("%+v, %v", p, err)
	}
}

// Where the documentation promises accuracy there is accuracy.
func TestAccurateWherePromised(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 4))
	for range 12 {
		d := composeSampled(t, sampledRounds(between(r, 1e-3, 1), between(r, 0.5, 100), int(between(r, 10, 1e4))))
		delta := between(r, 1e-12, 0.5)
		b, err := d.EpsilonBounds(delta)
		if err != nil || !b.Accurate() && b.Upper < 1000 {
			t.Errorf("%+v, δ = %v: %+v, %v", d.events, delta, b, err)
		}
	}
}

// Calibrated noise is enough for one round by the definition, from the smallest δ to those near 1, and hardly more.
func TestCalibratedNoiseOfOneRoundIsEnough(t *testing.T) {
	for i, q := range []float64{1e-9, 1e-4, 0.35, 1} {
		for j, delta := range []float64{1e-300, 1e-12, 1e-6, 0.3, 0.9, 1 - 1e-9} {
			epsilon := []float64{1e-3, 2, 60}[(i+j)%3]
			p, err := Calibrate(Target{Probability: q, Rounds: 1, Epsilon: epsilon, Delta: delta})
			if err != nil {
				t.Errorf("q = %v, δ = %v, ε = %v: %v", q, delta, epsilon, err)
				continue
			}
			holds := func(multiplier float64) bool {
				return exactSampledDelta(lossPair{q: q, s: multiplier}, epsilon).Cmp(exact.Of(delta)) <= 0 &&
					exactSampledDelta(lossPair{q: q, s: multiplier, add: true}, epsilon).Cmp(exact.Of(delta)) <= 0
			}
			if !holds(p.NoiseMultiplier) || p.Epsilon > epsilon {
				t.Errorf("q = %v, δ = %v, ε = %v: %+v does not hold", q, delta, epsilon, p)
			}
			if delta >= 1e-12 && p.NoiseMultiplier > 1.05*MinNoiseMultiplier && holds(0.9*p.NoiseMultiplier) {
				t.Errorf("q = %v, δ = %v, ε = %v: 0.9 of %+v is enough", q, delta, epsilon, p)
			}
		}
	}
}
