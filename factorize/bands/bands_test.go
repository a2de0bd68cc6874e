package bands

import (
	"math"
	"slices"
	"testing"

	"mafalda/accounting"
	"mafalda/factorize"
	"mafalda/participation"
	"mafalda/workload"
)

// Numbers of bands are looked at in their order, until as many as the patience are no better than the best.
func TestDescendEndsBehindTheBest(t *testing.T) {
	errors := map[int]float64{1: 5, 2: 4, 4: 4, 8: 3, 16: 6, 32: 7, 64: 1}
	for patience, want := range map[int]struct{ best, looked int }{1: {2, 3}, 2: {8, 6}, 9: {64, 7}} {
		looked := 0
		best, err := Descend(Powers(64), patience, func(w int) (float64, error) {
			looked++
			return errors[w], nil
		})
		if best != want.best || looked != want.looked || err != nil {
			t.Errorf("patience %d: %d after %d, %v; want %v", patience, best, looked, err, want)
		}
	}
	if all := Powers(9); !slices.Equal(all, []int{1, 2, 4, 8}) || Powers(0) != nil {
		t.Errorf("powers up to 9: %v", all)
	}
}

// The search by branch and bound, the one that descends and looking at all numbers of bands find the same, and what
// the search has excluded is no better.
func TestSearchesFindTheBestOfAll(t *testing.T) {
	schema, err := participation.NewCyclic(24, 3, 8)
	if err != nil {
		t.Fatal(err)
	}
	o, ctx := factorize.Mean(workload.PrefixGram(24)), t.Context()
	table := func(opts Options) *Table { return NewTable(o, schema, opts) }
	noise := Noise{}
	all := table(Options{Gap: 1e-7, Noise: noise, FromGuess: true})
	for _, epsilon := range []float64{0.5, 4, 16} {
		least, at := math.Inf(1), 0
		for w := 1; w <= all.Most(); w++ {
			c, err := all.At(ctx, w, epsilon, 1e-6)
			if err != nil {
				t.Fatal(err)
			}
			if c.ErrorAtPrivacy < least {
				least, at = c.ErrorAtPrivacy, w
			}
		}
		s := NewSearch(table(Options{Gap: 1e-7, Noise: noise}), accounting.Target{Epsilon: epsilon, Delta: 1e-6}, 0)
		if err := s.Run(ctx); err != nil {
			t.Fatal(err)
		}
		proven, r := s.Best()
		descended, err := table(Options{Gap: 1e-7, Noise: noise}).Descend(ctx, epsilon, 1e-6)
		if err != nil || proven.Bandwidth != at || descended.Bandwidth != at || r.SquaredError != proven.SquaredError ||
			math.Abs(proven.ErrorAtPrivacy/least-1) > 1e-6 || math.Abs(descended.ErrorAtPrivacy/least-1) > 1e-6 {
			t.Errorf("epsilon = %v: %+v and %+v, %v; %d bands have %v", epsilon, proven, descended, err, at, least)
		}
		if len(s.Candidates())+s.Excluded() != all.Most() {
			t.Errorf("%d candidates, %d excluded", len(s.Candidates()), s.Excluded())
		}
	}
}

// Noise is found once for all workloads of a schema.
func TestNoise(t *testing.T) {
	schema, err := participation.NewCyclic(24, 3, 8)
	if err != nil {
		t.Fatal(err)
	}
	n := Noise{}
	first, err := n.Multiplier(schema, 3, 2, 1e-6)
	if err != nil || len(n) != 1 {
		t.Fatal(first, err)
	}
	for at := range n {
		n[at] = 7
	}
	if again, err := n.Multiplier(schema, 3, 2, 1e-6); again != 7 || err != nil {
		t.Error(again, err)
	}
	if _, err := n.Multiplier(schema, 9, 2, 1e-6); err == nil {
		t.Error("nine of eight batches")
	}
}
