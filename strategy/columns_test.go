package strategy_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/participation"
	"mafalda/strategy"
)

// The sensitivity of scaled combs without matrices is never below what contributions of some signs reach, and is the
// sum of magnitudes that the matrix has, also for the first steps alone.
func TestColumnsSumIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(2, 24).Draw(t, "T")
		b := rapid.IntRange(1, steps).Draw(t, "b")
		schema, err := participation.NewCyclic(steps, (steps-1)/b+1, b)
		if err != nil {
			t.Fatal(err)
		}
		plain, e := drawComb(t, steps), drawColumns(t, steps)
		c := must(plain.WithColumns(e))
		first := rapid.IntRange(1, steps).Draw(t, "first steps")
		cut, err := participation.Leading(schema, first)
		if err != nil {
			t.Fatal(err)
		}
		var lower mat.TriDense
		c.StrategyTo(&lower)
		block := mat.DenseCopyOf(&lower).Slice(0, first, 0, first)
		var x mat.Dense
		x.Mul(block.T(), block)
		want, reached := 0.0, 0.0
		for _, pattern := range cut.(participation.Cyclic).Patterns() {
			var sum float64
			for _, s := range pattern {
				for _, u := range pattern {
					sum += math.Abs(x.At(s, u))
				}
			}
			want = max(want, sum)
			for range 20 {
				reached = max(reached, reach(&x, pattern, random(t).Uint64()))
			}
		}
		got, from := strategy.ColumnsSum(plain.Series()[:first], e.Scales(steps)[:first], cut.(participation.Cyclic))
		if got < want*(1-1e-15) || got < reached*(1-1e-15) || got > want*(1+1e-11) || from >= b {
			t.Fatalf("sens² %v from step %d, by the matrix %v, %v is reached", got, from, want, reached)
		}
	})
}

// reach is ‖CG‖² for contributions of signs, the bits of a number.
func reach(x *mat.Dense, pattern []int, bits uint64) (sum float64) {
	sign := func(i int) float64 { return float64(int(bits>>i&1)*2 - 1) }
	for i, s := range pattern {
		for j, u := range pattern {
			sum += sign(i) * sign(j) * x.At(s, u)
		}
	}
	return sum
}

// Scales have to be positive in all steps, and few; a scaled comb is no Toeplitz strategy, and has no sensitivity of
// many steps where patterns overlap.
func TestColumnsOfCombs(t *testing.T) {
	steps := strategy.LongSteps + 4
	comb := must(strategy.NewComb(steps, 1, []strategy.Section{{A: 0.9, P: 0.5}}, 100,
		strategy.Teeth{P: 0.5, A: 0.2}))
	for _, e := range []strategy.Polynomial{{}, {0}, {1, -1.001}, {math.NaN()}, {1, math.Inf(1)}, {0.1, -1, 1},
		{1, 1, 1, 1, 1, 1, 1, 1, 1}, {0x1p-1074}} {
		if c, err := comb.WithColumns(e); err == nil {
			t.Errorf("%v: %v", e, c.Parameters().Columns)
		}
	}
	scaled := must(comb.WithColumns(strategy.Polynomial{1, -0.5}))
	if _, e, ok := strategy.ResponseOf(scaled); !ok || len(e) != 2 {
		t.Errorf("a scaled comb has the scales %v", e)
	}
	whole, err := participation.NewCyclic(steps, 41, 100)
	if err != nil {
		t.Fatal(err)
	}
	s, err := strategy.Sensitivity(scaled, whole)
	plain, err2 := strategy.Sensitivity(comb, whole)
	if err != nil || err2 != nil || !(s.Squared > plain.Squared) || s.Squared > 4.1*plain.Squared {
		t.Errorf("sens² %v, without scales %v; %v, %v", s.Squared, plain.Squared, err, err2)
	}
	growth, err := strategy.NewGrowth(scaled, whole)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := growth.Sensitivity(steps); err != nil || all.Squared != s.Squared {
		t.Errorf("after all steps %v, %v", all, err)
	}
	if one, err := growth.Sensitivity(steps - 4000); err != nil || !(one.Squared < s.Squared) {
		t.Errorf("after some steps %v, %v", one, err)
	}
	if one, err := growth.Sensitivity(1); err != nil || one.Squared < 1 || one.Squared > 1+1e-9 {
		t.Errorf("after one step %v, %v", one, err)
	}
	overlapping, err := participation.NewCyclic(steps, 3, 100)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := strategy.Sensitivity(scaled, overlapping); err == nil {
		t.Errorf("patterns overlap: %v", s)
	}
}

// Terms that are lost one after another where they are added to a large sum are counted.
func TestColumnsSumCountsItsTerms(t *testing.T) {
	steps := strategy.LongSteps + 4
	comb := must(strategy.NewComb(steps, 1, []strategy.Section{{A: 1, P: 1 - 2e-13}}, steps-1,
		strategy.Teeth{}))
	schema, err := participation.NewCyclic(steps, steps, 1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := strategy.Sensitivity(must(comb.WithColumns(strategy.Polynomial{1})), schema)
	if err != nil {
		t.Fatal(err)
	}
	var want float64 // rows of C add up in the first step of the only pattern; from the smallest on
	series := comb.Series()
	var row float64
	for l := range steps {
		row += series[l]
		want += row * row
	}
	if s.Squared < want || s.Squared > want*(1+1e-7) {
		t.Errorf("sens² %v, is %v", s.Squared, want)
	}
}
