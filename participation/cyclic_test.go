package participation

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/internal/lists"
	_ "mafalda/internal/seeded"
)

func TestComplete(t *testing.T) {
	for name, tc := range map[string]struct {
		steps, k, b  int
		wantK, wantB int
		err          string // part of the message, or empty
	}{
		"the paper's setting":  {380, 0, 0, 20, 19, ""},
		"one step":             {1, 0, 0, 1, 1, ""},
		"twenty steps":         {20, 0, 0, 20, 1, ""},
		"k given":              {64, 4, 0, 4, 16, ""},
		"b given":              {64, 0, 16, 4, 16, ""},
		"both given":           {64, 4, 16, 4, 16, ""},
		"single":               {7, 1, 0, 1, 7, ""},
		"every step":           {7, 0, 1, 7, 1, ""},
		"not a multiple of 20": {30, 0, 0, 0, 0, "1, 2, 3, 5, 6, 10, 15 or 30"},
		"k does not divide":    {64, 5, 0, 0, 0, "1, 2, 4, 8, 16, 32 or 64"},
		"b does not divide":    {64, 0, 5, 13, 5, ""},
		"a longer run":         {64, 4, 8, 4, 8, ""},
		"more than fit":        {64, 9, 8, 0, 0, "at most 8 do"},
		"no steps":             {0, 0, 0, 0, 0, "at least 1"},
		"negative k":           {4, -2, 0, 0, 0, "at least 1"},
		"b larger than T":      {4, 0, 8, 0, 0, "above T = 4"},
		"overflowing product":  {4, 1 << 62, 4, 0, 0, "above T = 4"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Complete(tc.steps, tc.k, tc.b)
			if tc.err != "" {
				if !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("error %v, want one with %q", err, tc.err)
				}
				return
			}
			if err != nil || s.Participations() != tc.wantK || s.Separation() != tc.wantB || s.Steps() != tc.steps {
				t.Errorf("Complete = %v, %v", s, err)
			}
		})
	}
}

func TestPatternsPartitionTheSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, b := rapid.IntRange(1, 9).Draw(t, "k"), rapid.IntRange(1, 9).Draw(t, "b")
		s, err := NewCyclic(k*b, k, b)
		if err != nil {
			t.Fatal(err)
		}
		var all []int
		for _, p := range s.Patterns() {
			if len(p) != k {
				t.Fatalf("pattern %v has not %d steps", p, k)
			}
			for i := 1; i < k; i++ {
				if p[i]-p[i-1] != b {
					t.Fatalf("pattern %v is not %d apart", p, b)
				}
			}
			all = append(all, p...)
		}
		slices.Sort(all)
		for i, step := range all {
			if i != step {
				t.Fatalf("patterns do not cover the steps once: %v", all)
			}
		}
	})
}

// What a silo can change is the largest ‖Cε‖² over all signs ε at most, and that of ones, ‖C·1‖², where CᵀC has no negative entry;
// by definition, updates that are not parallel change no more. After some rounds it is a silo still.
func TestSiloIsInEveryRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(1, 9).Draw(t, "T")
		least := rapid.SampledFrom([]float64{-1, 0}).Draw(t, "least")
		silo, err := NewSilo(steps)
		if err != nil || silo.Participations() != steps || silo.Separation() != 1 || silo.Name() != "silo" {
			t.Fatalf("%v: %v", silo, err)
		}
		factor, ones := mat.NewDense(steps, steps, nil), mat.NewVecDense(steps, nil)
		for i := range steps {
			ones.SetVec(i, 1)
			for j := range steps {
				factor.Set(i, j, rapid.Float64Range(least, 1).Draw(t, "entry"))
			}
		}
		x := mat.NewSymDense(steps, nil)
		x.SymOuterK(1, factor.T())
		got, err := silo.Sensitivity(x)
		if err != nil {
			t.Fatal(err)
		}
		if reached := bestSigns(x, lists.UpTo(steps)); got.Squared < reached*(1-1e-14) || got.Attained > reached*(1+1e-12) {
			t.Fatalf("sens² %v, attained %v; %v is reached", got.Squared, got.Attained, reached)
		}
		updates := mat.NewDense(steps, 3, nil)
		for i := range steps {
			row := []float64{rapid.Float64Range(-1, 1).Draw(t, "x"), rapid.Float64Range(-1, 1).Draw(t, "y"), 0.01}
			floats.Scale(1/floats.Norm(row, 2), row)
			updates.SetRow(i, row)
		}
		var moved, all mat.Dense
		moved.Mul(factor, updates)
		if square := mat.Norm(&moved, 2); square*square > got.Squared*(1+1e-12) {
			t.Fatalf("updates move it by %v, more than %v", square*square, got.Squared)
		}
		all.Mul(factor, ones)
		if sum := mat.Norm(&all, 2); least == 0 && math.Abs(sum*sum-got.Squared) > 1e-12*got.Squared {
			t.Fatalf("sens² %v, must be %v", got.Squared, sum*sum)
		}
		first, err := Leading(silo, rapid.IntRange(1, steps).Draw(t, "rounds"))
		if err != nil || first.Name() != "silo" || first.Participations() != first.Steps() || CheckCycle(silo, steps) == nil {
			t.Fatalf("%v: %v", first, err)
		}
	})
}

// Whether cyclic patterns are a partition is said without them: a hundred million steps took minutes.
func TestCyclicPartitions(t *testing.T) {
	for steps := 1; steps <= 14; steps++ {
		for k := 1; k <= steps; k++ {
			for b := 1; b <= steps; b++ {
				if c, err := NewCyclic(steps, k, b); err == nil && IsPartition(c) != isPartition(c.Patterns(), steps) {
					t.Errorf("%v: %v", c, IsPartition(c))
				}
			}
		}
	}
	if c, err := NewCyclic(1e9, 2, 5e8); err != nil || !IsPartition(c) {
		t.Errorf("%v, %v", c, err)
	}
}
