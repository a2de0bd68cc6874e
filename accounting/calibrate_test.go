package accounting

import (
	"errors"
	"fmt"
	"testing"
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
		"noise overflows": {Mu: 1e-308},
	} {
		if _, err := Calibrate(target, 1, 1e10, ZeroOut); !errors.Is(err, ErrParameter) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestParseAdjacency(t *testing.T) {
	for _, name := range Adjacencies() {
		if a, err := ParseAdjacency(name); err != nil || a.String() != name {
			t.Errorf("%s: %v, %v", name, a, err)
		}
	}
	if _, err := ParseAdjacency("add-remove"); err == nil {
		t.Error("unknown adjacency accepted")
	}
}

func ExampleCalibrate() {
	p, err := Calibrate(Target{Epsilon: 8, Delta: 1e-6}, 1, 0.5, ReplaceOne)
	fmt.Printf("mu %.4f, noise %.4f %v\n", p.Mu, p.NoiseStd, err)
	// Output: mu 1.5315, noise 0.6529 <nil>
}
