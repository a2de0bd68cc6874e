package accounting

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"mafalda/internal/exact"
)

func TestCalibrate(t *testing.T) {
	p, err := Calibrate(Target{Mu: 0.5}, 2, 3, ZeroOut)
	if err != nil || p.Sigma != 2 || !near(p.NoiseStd, 12, 1e-15) || p.NoiseStd < 12 || p.Epsilon != 0 || p.Delta != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	replace, err := Calibrate(Target{Mu: 0.5}, 2, 3, ReplaceOne)
	if err != nil || !near(replace.NoiseStd, 24, 1e-15) {
		t.Errorf("replace-one: %+v, %v", replace, err)
	}
	byEpsilon, err := Calibrate(Target{Epsilon: 4, Delta: 1e-6}, 1, 1, ZeroOut)
	if err != nil {
		t.Fatal(err)
	}
	byMu, err := Calibrate(Target{Mu: byEpsilon.Mu, Delta: 1e-6}, 1, 1, ZeroOut)
	if err != nil || !near(byMu.Epsilon, 4, 1e-9) || byMu.Epsilon > 4*(1+1e-14) || byMu.NoiseStd != byEpsilon.NoiseStd {
		t.Errorf("%+v from %+v, %v", byMu, byEpsilon, err)
	}
	for name, target := range map[string]Target{
		"nothing":         {},
		"delta alone":     {Delta: 1e-5},
		"epsilon alone":   {Epsilon: 1},
		"both":            {Mu: 1, Epsilon: 1, Delta: 1e-5},
		"delta too large": {Mu: 1, Delta: 1},
		"noise overflows": {Mu: 1e-300},
		"sigma overflows": {Mu: 1e-309},
		"negative mu":     {Mu: -1},
		"negative ε":      {Epsilon: -1, Delta: 1e-5},
		"negative δ":      {Mu: 1, Delta: -1e-5},
	} {
		if _, err := Calibrate(target, 1, 1e10, ZeroOut); !errors.Is(err, ErrParameter) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// An unknown adjacency must not pass for the one with less noise.
func TestCalibrateRefusesUnknownAdjacency(t *testing.T) {
	for _, a := range []Adjacency{-1, 2} {
		if _, err := Calibrate(Target{Mu: 1}, 1, 1, a); !errors.Is(err, ErrParameter) {
			t.Errorf("%v: error %v", a, err)
		}
	}
}

// The noise is enough for the μ: sens·contribution/noise ≤ μ in exact arithmetic. Two roundings can lose more than one
// step between floats, but seldom: the test draws often.
func TestNoiseIsRoundedUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		sens, clip, mu := math.Exp(40*r.Float64()-20), math.Exp(40*r.Float64()-20), math.Exp(40*r.Float64()-20)
		p, err := Calibrate(Target{Mu: mu}, sens, clip, ReplaceOne)
		if err != nil || p.Clip != clip || p.Adjacency != ReplaceOne || p.Mu != mu {
			t.Fatalf("%+v, %v", p, err)
		}
		have := new(big.Float).Mul(exact.Of(p.NoiseStd), exact.Of(mu))
		need := new(big.Float).Mul(exact.Of(2*clip), exact.Of(sens))
		if have.Cmp(need) < 0 || !near(p.NoiseStd, 2*clip*sens/mu, 1e-15) {
			t.Fatalf("noise %v for sens %v, clip %v, μ %v", p.NoiseStd, sens, clip, mu)
		}
	}
}
