package pld

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"mafalda/accounting"
	"mafalda/internal/fault"
)

// A calibrated multiplier reaches ε, and one that is 0.2 % smaller does not.
func TestCalibrateSampled(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	for range 10 {
		target := Target{Probability: between(r, 1e-4, 1), Rounds: int(between(r, 1, 1e4)),
			Epsilon: between(r, 0.1, 20), Delta: between(r, 1e-12, 1e-3)}
		p, err := Calibrate(target)
		if err != nil {
			t.Fatal(err)
		}
		if p.Epsilon > target.Epsilon || p.EpsilonLower < target.Epsilon*(1-2.5e-3) {
			t.Errorf("%+v: %+v", target, p)
		}
		d := composeSampled(t, sampledRounds(target.Probability, p.NoiseMultiplier*0.998, target.Rounds))
		if upper, _, err := d.Epsilon(target.Delta); err != nil || upper < target.Epsilon {
			t.Errorf("%+v: with less noise than %v the ε is %v, too, %v", target, p.NoiseMultiplier, upper, err)
		}
	}
}

// Who asks for the ε of a calibrated multiplier does not get one above that it was calibrated for.
func TestCalibrateSampledAndBack(t *testing.T) {
	for _, target := range []Target{
		{Probability: 0.00078371, Rounds: 1, Epsilon: 0.02179, Delta: 1.43e-11},
		{Probability: 0.01294, Rounds: 34, Epsilon: 0.5307, Delta: 3.39e-5},
	} {
		p, err := Calibrate(target)
		if err != nil {
			t.Fatal(err)
		}
		d := composeSampled(t, sampledRounds(target.Probability, p.NoiseMultiplier, target.Rounds))
		upper, lower, err := d.Epsilon(target.Delta)
		if err != nil || upper != p.Epsilon || lower != p.EpsilonLower || upper > target.Epsilon {
			t.Errorf("%+v: %+v, and back from %v to %v, %v", target, p, lower, upper, err)
		}
	}
}

// Without sampling it is Calibrate's.
func TestCalibrateSampledOfEverybody(t *testing.T) {
	p, err := Calibrate(Target{Probability: 1, Rounds: 20, Epsilon: 8, Delta: 1e-6})
	mu, err2 := accounting.MuFromDP(8, 1e-6)
	want := math.Sqrt(20) / mu
	if err != nil || err2 != nil || p.NoiseMultiplier < want*(1-1e-12) || p.NoiseMultiplier > want*(1+2e-5) {
		t.Errorf("%+v, %v; want %v", p, err, want)
	}
}

func TestCalibrateSampledRefuses(t *testing.T) {
	good := Target{Probability: 0.1, Rounds: 10, Epsilon: 1, Delta: 1e-6}
	for field, change := range map[string]func(*Target){
		"Probability": func(s *Target) { s.Probability = 0 },
		"Rounds":      func(s *Target) { s.Rounds = -1 },
		"Epsilon":     func(s *Target) { s.Epsilon, s.Delta = 1e-9, 1e-12 }, // out of reach
		"Delta":       func(s *Target) { s.Delta = 1 },
		"Adjacency":   func(s *Target) { s.Adjacency = 7 },
	} {
		bad := good
		change(&bad)
		var a *fault.Argument
		if _, err := Calibrate(bad); !errors.As(err, &a) || a.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	// A record that hardly ever takes part needs no more than the least noise.
	p, err := Calibrate(Target{Probability: 1e-6, Rounds: 10, Epsilon: 1, Delta: 1e-4})
	if err != nil || p.NoiseMultiplier != MinNoiseMultiplier {
		t.Errorf("%+v, %v", p, err)
	}
}

func BenchmarkCalibrateSampled(b *testing.B) {
	for name, target := range map[string]Target{
		"q=1/19,rounds=380": {Probability: 1. / 19, Rounds: 380, Epsilon: 8, Delta: 1e-6},
		"q=1e-4,rounds=1e6": {Probability: 1e-4, Rounds: 1_000_000, Epsilon: 1, Delta: 1e-8},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Calibrate(target); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
