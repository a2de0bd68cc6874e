package participation

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
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
				if !slices.Contains(Samplings(), sampling.Name()) || sampling.String() == "" {
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

// within reports whether a count of n trials of probability p is one that all but 1e-9 of the draws have.
func within(count, n int, p float64) error {
	d := distuv.Binomial{N: float64(n), P: p}
	if low, high := d.CDF(float64(count)), 1-d.CDF(float64(count-1)); low < 5e-10 || high < 5e-10 {
		return fmt.Errorf("%d of %d with probability %v", count, n, p)
	}
	return nil
}

// both counts what two ascending lists share.
func both(a, b []int) (count int) {
	for _, v := range a {
		if _, found := slices.BinarySearch(b, v); found {
			count++
		}
	}
	return count
}

// Poisson batches are those of independent coins of probability q: batch by batch, record by record, for two steps of a
// group, and for neighbouring records.
func TestPoissonFrequencies(t *testing.T) {
	for _, sampling := range []PoissonSampling{{1, 0.15}, {3, 0.4}, {5, 0.9}} {
		const records = 9000
		s := sampler(t, sampling, records, 4)
		all := batches(s)
		w, q := sampling.Groups, sampling.Probability
		times := make([]int, records)
		for step, batch := range all {
			if err := within(len(batch), records, q/float64(w)); err != nil {
				t.Errorf("%v: batch %d: %v", sampling, step, err)
			}
			for _, record := range batch {
				times[record]++
			}
			neighbours := 0
			for i := 1; i < len(batch); i++ {
				if batch[i] == batch[i-1]+1 && batch[i]%2 == 1 {
					neighbours++
				}
			}
			if err := within(neighbours, records/2, q*q/float64(w*w)); err != nil {
				t.Errorf("%v: neighbours in step %d: %v", sampling, step, err)
			}
			if next := step + w; next < len(all) {
				if err := within(both(batch, all[next]), records, q*q/float64(w)); err != nil {
					t.Errorf("%v: steps %d and %d: %v", sampling, step, next, err)
				}
			}
		}
		// Of records with so many rounds, those that take part j times are as many as a binomial says.
		for j := range sampling.Rounds(contractSteps) + 1 {
			p := distuv.Binomial{N: float64(contractSteps / w), P: q}.Prob(float64(j))
			if err := within(count(times, j), records, p); err != nil {
				t.Errorf("%v: records that take part %d times: %v", sampling, j, err)
			}
		}
	}
}

func count(values []int, v int) (n int) {
	for _, have := range values {
		if have == v {
			n++
		}
	}
	return n
}

// Bins, groups and drawn batches are uniform and independent.
func TestAssignmentsAreUniform(t *testing.T) {
	const records, m = 50000, 7
	key := SeededKey(5, "node")
	for _, of := range []purpose{forBins, forGroups, forBatches} {
		assigned := key.assign(of, records, m)
		for v := range m {
			if err := within(count(assigned, v), records, 1./m); err != nil {
				t.Errorf("purpose %d: %d: %v", of, v, err)
			}
		}
		same := 0
		for i := 1; i < records; i += 2 {
			if assigned[i] == assigned[i-1] {
				same++
			}
		}
		if err := within(same, records/2, 1./m); err != nil {
			t.Errorf("purpose %d: neighbours together: %v", of, err)
		}
		if of != forBins {
			same := 0
			for i, v := range key.assign(forBins, records, m) {
				if v == assigned[i] {
					same++
				}
			}
			if err := within(same, records, 1./m); err != nil {
				t.Errorf("purpose %d and bins: %v", of, err)
			}
		}
	}
}

// Every record of bins and of fixed batches is in one of them, in all of its steps.
func TestBatchesInTurn(t *testing.T) {
	for name, sampling := range contractSamplings() {
		turns := 0
		switch s := sampling.(type) {
		case CyclicSampling:
			turns = s.Batches
		case BinsSampling:
			turns = s.Bins
		default:
			continue
		}
		const records = 200
		all, seen := batches(sampler(t, sampling, records, 6)), make([]int, records)
		for step, batch := range all {
			if !slices.Equal(batch, all[step%turns]) {
				t.Errorf("%s: step %d has not the batch of step %d", name, step, step%turns)
			}
			for _, record := range batch {
				if step < turns {
					seen[record]++
				}
				if c, ok := sampling.(CyclicSampling); ok && !c.Drawn && record%turns != step%turns {
					t.Errorf("%s: record %d in step %d", name, record, step)
				}
			}
		}
		if count(seen, 1) != records {
			t.Errorf("%s: records are not in one batch each", name)
		}
	}
}

// The cool-down ends after b steps, and not before; with q = 1 records come as soon as they may.
func TestMinSepSampling(t *testing.T) {
	s := sampler(t, MinSepSampling{3, 5, 1}, 4, 1)
	for step, batch := range batches(s) {
		if want := step%5 == 0 && step < 15; (len(batch) == 4) != want || len(batch) != 0 && !want {
			t.Errorf("step %d: %v", step, batch)
		}
	}
	gaps := map[int]int{}
	l := NewLedger(9000, s.Schema())
	for step, batch := range batches(sampler(t, MinSepSampling{3, 5, 0.4}, 9000, 2)) {
		for _, record := range batch {
			if err := l.Admit(record, step); err != nil {
				t.Fatal(err)
			}
		}
	}
	for record := range 9000 {
		if steps := l.Steps(record); len(steps) > 1 {
			gaps[steps[1]-steps[0]]++
		}
	}
	for wait := range 4 {
		if err := within(gaps[5+wait], 9000, 0.4*math.Pow(0.6, float64(wait))); err != nil {
			t.Errorf("a gap of %d: %v", 5+wait, err)
		}
	}
}
