package participation

import (
	"slices"
	"testing"
)

// TestGoldenDraws holds the draws of a seed. The Python package makes the same ones (python/tests/test_sampler.py), and
// a training that was begun must go on with them: they must never change.
func TestGoldenDraws(t *testing.T) {
	o := SamplerOptions{Records: 5000, Steps: 12, Key: SeededKey(1, "node")}
	groups := o.Key.assign(forGroups, o.Records, 3)
	for i, want := range map[int]int{0: 2, 1: 1, 2: 1, 3: 2, 4: 1, 4095: 1, 4096: 0, 4999: 0} {
		if groups[i] != want {
			t.Errorf("record %d is in group %d, want %d", i, groups[i], want)
		}
	}
	poisson, err := PoissonSampling{Groups: 3, Probability: 0.01}.Sampler(o)
	if err != nil {
		t.Fatal(err)
	}
	want := []int{595, 940, 984, 996, 1251, 1902, 1923, 2046, 2707, 3109, 3240, 3244, 3344, 3821, 3874, 4154}
	if got := poisson.Batch(4); !slices.Equal(got, want) {
		t.Errorf("step 4 draws %v, want %v", got, want)
	}
	truncated, err := TruncatedSampling{PoissonSampling{Groups: 3, Probability: 0.01}, 10, 5000}.Sampler(o)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := truncated.Batch(4), []int{595, 996, 1923, 2046, 2707, 3109, 3240, 3244, 3821, 4154}; !slices.Equal(got, want) {
		t.Errorf("step 4 keeps %v, want %v", got, want)
	}
	allocation, err := AllocationSampling{Groups: 2, Participations: 2}.Sampler(o)
	if err != nil {
		t.Fatal(err)
	}
	if got := allocation.Batch(9)[:8]; !slices.Equal(got, []int{3, 6, 13, 20, 24, 29, 34, 40}) {
		t.Errorf("step 9 begins with %v", got)
	}
	bins, err := BinsSampling{Bins: 7}.Sampler(o)
	if err != nil {
		t.Fatal(err)
	}
	if got := bins.Batch(9)[:8]; !slices.Equal(got, []int{5, 11, 14, 18, 19, 35, 50, 56}) {
		t.Errorf("bin 2 begins with %v", got)
	}
}
