package participation

import (
	"errors"
	"slices"
	"testing"

	"mafalda/internal/fault"
)

// A truncated batch is the one of Poisson sampling, or as many of it as there may be, each equally likely.
func TestTruncatedKeepsEveryRecordEquallyOften(t *testing.T) {
	const records, most, seeds = 40, 4, 400
	plain := PoissonSampling{Groups: 2, Probability: 0.3}
	kept := make([]float64, records)
	var all float64
	for seed := range uint64(seeds) {
		full, cut := sampler(t, plain, records, seed), sampler(t, TruncatedSampling{plain, most, records}, records, seed)
		for step := range contractSteps {
			drawn, batch := full.Batch(step), cut.Batch(step)
			if len(batch) != min(len(drawn), most) || !slices.IsSorted(batch) {
				t.Fatalf("%v of %v", batch, drawn)
			}
			for _, r := range batch {
				if !slices.Contains(drawn, r) {
					t.Fatalf("%v of %v", batch, drawn)
				}
				kept[r]++
				all++
			}
		}
	}
	for r, times := range kept {
		if expected := all / records; times < 0.85*expected || times > 1.15*expected { // seven standard deviations
			t.Errorf("record %d is kept %v times, %v on average", r, times, expected)
		}
	}
}

func TestTruncatedRefuses(t *testing.T) {
	plain := PoissonSampling{Groups: 1, Probability: 0.5}
	for field, s := range map[string]TruncatedSampling{
		"MaxBatch": {plain, 0, 10}, "Records": {plain, 5, 9}, "Groups": {PoissonSampling{Groups: 0, Probability: 1}, 5, 10}} {
		var a *fault.Argument
		_, err := s.Sampler(SamplerOptions{Records: 10, Steps: 3, Key: SeededKey(1, "")})
		if !errors.As(err, &a) || a.Field != field {
			t.Errorf("%+v: %v, want one of %s", s, err, field)
		}
	}
}
