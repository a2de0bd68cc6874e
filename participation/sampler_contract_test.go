package participation

import (
	"math"
	"reflect"
	"slices"
	"testing"
)

// contractSamplings are of 30 steps.
func contractSamplings() map[string]Sampling {
	return map[string]Sampling{
		"cyclic":                     CyclicSampling{Batches: 7},
		"cyclic, drawn":              CyclicSampling{Batches: 7, Drawn: true},
		"cyclic, every step":         CyclicSampling{Batches: 1},
		"cyclic, single, drawn":      CyclicSampling{Batches: 30, Drawn: true},
		"poisson":                    PoissonSampling{Groups: 1, Probability: 0.15},
		"poisson, groups":            PoissonSampling{Groups: 4, Probability: 0.3},
		"poisson, all of a group":    PoissonSampling{Groups: 3, Probability: 1},
		"poisson, rarely":            PoissonSampling{Groups: 2, Probability: 1e-4},
		"poisson, as many as steps":  PoissonSampling{Groups: 30, Probability: 0.5},
		"bins":                       BinsSampling{Bins: 7},
		"bins, one":                  BinsSampling{Bins: 1},
		"bins, as many as steps":     BinsSampling{Bins: 30},
		"allocation":                 AllocationSampling{Groups: 1, Participations: 7},
		"allocation, groups":         AllocationSampling{Groups: 4, Participations: 3},
		"allocation, single":         AllocationSampling{Groups: 30, Participations: 1},
		"truncated":                  TruncatedSampling{PoissonSampling{Groups: 1, Probability: 0.15}, 4000, 20000},
		"truncated, groups":          TruncatedSampling{PoissonSampling{Groups: 4, Probability: 0.3}, 2000, 20000},
		"min-sep":                    MinSepSampling{Participations: 3, Separation: 5, Probability: 0.3},
		"min-sep, single":            MinSepSampling{Participations: 1, Separation: 1, Probability: 0.1},
		"min-sep, as soon as it may": MinSepSampling{Participations: 6, Separation: 5, Probability: 1},
	}
}

const contractSteps = 30

// sampler is of seeded draws.
func sampler(t testing.TB, s Sampling, records int, seed uint64) Sampler {
	t.Helper()
	r, err := s.Sampler(SamplerOptions{Records: records, Steps: contractSteps, Key: SeededKey(seed, "node")})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func batches(s Sampler) [][]int {
	all := make([][]int, s.Schema().Steps())
	for step := range all {
		all[step] = s.Batch(step)
	}
	return all
}

// TestSamplerContract: what Sampling and Sampler promise holds for every one of them.
func TestSamplerContract(t *testing.T) {
	for name, sampling := range contractSamplings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, records := range []int{0, 1, 5, 3000, drawn + 1} {
				s := sampler(t, sampling, records, 1)
				if err := CheckSampler(s); err != nil {
					t.Fatal(err)
				}
				if s.Sampling() != sampling || s.Records() != records || s.Schema().Steps() != contractSteps {
					t.Fatalf("%v, %d records, %v", s.Sampling(), s.Records(), s.Schema())
				}
				if sampling.Name() == "" || sampling.String() == "" {
					t.Fatalf("%q, %q", sampling.Name(), sampling)
				}
				resumes(t, sampling, records)
			}
			keysMatter(t, sampling)
			expected(t, sampling)
			for _, step := range []int{-1, contractSteps} {
				panics(t, func() { sampler(t, sampling, 5, 1).Batch(step) })
			}
		})
	}
}

// resumes draws the batches in another order, from a key that went through bytes, and twice; callers may write to them.
func resumes(t *testing.T, sampling Sampling, records int) {
	want := batches(sampler(t, sampling, records, 1))
	key, err := KeyFromBytes(SeededKey(1, "node").Bytes())
	if err != nil {
		t.Fatal(err)
	}
	again, err := sampling.Sampler(SamplerOptions{Records: records, Steps: contractSteps, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	for step := contractSteps - 1; step >= 0; step-- {
		for range 2 {
			batch := again.Batch(step)
			if !slices.Equal(batch, want[step]) {
				t.Fatalf("step %d: %v, must be %v", step, batch, want[step])
			}
			for i := range batch {
				batch[i] = -1
			}
		}
	}
}

// secret reports whether anything is drawn that a key decides.
func secret(s Sampling) bool {
	switch s := s.(type) {
	case CyclicSampling:
		return s.Drawn
	case BinsSampling:
		return s.Bins > 1
	case MinSepSampling:
		return s.Probability < 1
	}
	return true
}

// keysMatter: seeds and nodes have draws of their own, if anything is drawn.
func keysMatter(t *testing.T, sampling Sampling) {
	if !secret(sampling) {
		return
	}
	const records = 20000
	one := batches(sampler(t, sampling, records, 1))
	other, err := sampling.Sampler(SamplerOptions{records, contractSteps, SeededKey(1, "other")})
	if err != nil {
		t.Fatal(err)
	}
	if reflect.DeepEqual(one, batches(other)) || reflect.DeepEqual(one, batches(sampler(t, sampling, records, 2))) {
		t.Error("other keys draw the same")
	}
}

// expected compares the mean batch size of many records with what the sampler expects, within limits that only 1e-9 of
// all keys would leave: records are independent, and a mean over the steps varies no more than a single step's does.
func expected(t *testing.T, sampling Sampling) {
	const records = 20000
	s := sampler(t, sampling, records, 3)
	total, varies := 0, 0.0
	for _, batch := range batches(s) {
		total += len(batch)
	}
	k := float64(s.Schema().Participations())
	if secret(sampling) { // the sum of one record's participations is in 0..k: its variance is at most mean·(k - mean)
		mean := s.Expected() * contractSteps / records
		varies = math.Sqrt(records*mean*(k-mean)) * 6.5
	}
	if got, want := float64(total), s.Expected()*contractSteps; math.Abs(got-want) > varies+float64(k)+contractSteps {
		t.Errorf("%v participations, expected %v ± %v", got, want, varies)
	}
}

func panics(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	f()
}
