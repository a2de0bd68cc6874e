package participation

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

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

// Poisson batches follow independent coins of probability q: batch by batch, record by record, for two steps of a
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
