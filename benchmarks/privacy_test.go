package benchmarks

import (
	"context"
	"errors"
	"math"
	"testing"

	"mafalda/accounting"
	"mafalda/accounting/pld"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/workload"
)

// Errors at a privacy are what they are by definition: in turn the loss over μ², in secret the squared error of the
// bands times the square of a noise multiplier that the accountant accepts, the least over all numbers of bands.
func TestAtPrivacy(t *testing.T) {
	ctx := context.Background()
	levels := plan.Privacies{Epsilons: []float64{0.5, 12}, Delta: 1e-5}
	m := prefixStudy(t, levels, Cell{})
	rows := map[string]Row{}
	for _, cell := range m.Cells() {
		r, err := m.Do(ctx, cell)
		if err != nil {
			t.Fatal(err)
		}
		rows[r.Strategy] = r
	}
	single, err := participation.NewCyclic(24, 1, 24)
	if err != nil {
		t.Fatal(err)
	}
	bandsSeen := map[int]bool{}
	for i, epsilon := range levels.Epsilons {
		mu, err := accounting.MuFromDP(epsilon, levels.Delta)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range OfLoss() {
			r := rows[name]
			if at := r.AtPrivacy[i]; at.Epsilon != epsilon || at.Delta != levels.Delta || at.Ratio != r.Ratio ||
				math.Abs(at.Error-r.Loss/(mu*mu)) > 1e-10*at.Error || at.Bands != 0 {
				t.Errorf("%s: %+v", name, at)
			}
		}
		least := math.Inf(1)
		for w := 1; w <= 8; w++ {
			best, err := factorize.Banded{Bandwidth: w}.Optimize(ctx, factorize.Mean(workload.PrefixGram(24)), single,
				factorize.Options{})
			if err != nil {
				t.Fatal(err)
			}
			p, err := pld.Calibrate(pld.Target{Probability: float64(w) / 8,
				Rounds: 24 / w, Epsilon: epsilon, Delta: levels.Delta})
			if err != nil {
				t.Fatal(err)
			}
			if 24%w == 0 { // else there are more rounds, and more noise
				least = math.Min(least, p.NoiseMultiplier*p.NoiseMultiplier*best.SquaredError)
			}
		}
		best, plain, dense := rows[SampledBest].AtPrivacy[i], rows[SampledDPDSGD].AtPrivacy[i], rows[Dense].AtPrivacy[i]
		bandsSeen[best.Bands] = true
		if best.Error > least*(1+1e-4) || best.Ratio != best.Error/dense.Error || best.Error > plain.Error ||
			best.NoiseMultiplier == 0 {
			t.Errorf("best bands: %+v, want %v", best, least)
		}
		if s := plain.NoiseMultiplier; plain.Bands != 1 || math.Abs(plain.Error-s*s*24*25/2) > 1e-9*plain.Error {
			t.Errorf("one band: %+v", plain)
		}
	}
	if len(bandsSeen) != 2 || rows[SampledDPDSGD].MemoryFloats != 0 || rows[SampledBest].Loss != 0 {
		t.Errorf("%v, %+v", bandsSeen, rows[SampledBest])
	}
}

func TestBadPrivacies(t *testing.T) {
	for name, tc := range map[string]struct {
		levels plan.Privacies
		field  string
	}{
		"delta":        {plan.Privacies{Epsilons: []float64{1}, Delta: 0}, "Delta"},
		"not a delta":  {plan.Privacies{Epsilons: []float64{1}, Delta: math.NaN()}, "Delta"},
		"epsilon":      {plan.Privacies{Epsilons: []float64{1, 0}, Delta: 1e-6}, "Epsilon"},
		"infinite":     {plan.Privacies{Epsilons: []float64{math.Inf(1)}, Delta: 1e-6}, "Epsilon"},
		"twice":        {plan.Privacies{Epsilons: []float64{1, 2, 1}, Delta: 1e-6}, "Epsilon"},
		"out of reach": {plan.Privacies{Epsilons: []float64{1e-9}, Delta: 1e-12}, "Epsilon"},
	} {
		_, err := NewStudy(nil, []participation.Cyclic{cyclic(t, 24, 3)}, graph.NetworkOptions{}, tc.levels)
		var a *fault.Argument
		if !errors.As(err, &a) || a.Field != tc.field {
			t.Errorf("%s: %v", name, err)
		}
	}
}
