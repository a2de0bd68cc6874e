package participation

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// What a person can change is, for up to 16 steps, the brute force over all sets of batches and all signs at least, and
// the largest sum of magnitudes over a set of batches; the soft maximum and its slope are those of the list of patterns.
func TestPeopleAreUnionsOfBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.IntRange(1, 5).Draw(t, "b")
		k := rapid.IntRange(1, 16/b/2+1).Draw(t, "k")
		steps := rapid.IntRange((k-1)*b+1, k*b).Draw(t, "T")
		if b > steps {
			b = steps
		}
		m := rapid.IntRange(1, b).Draw(t, "m")
		cycle, err := NewCyclic(steps, k, b)
		if err != nil {
			t.Fatal(err)
		}
		if k == 1 {
			m = min(m, steps)
		}
		p, err := NewPeople(cycle, m)
		if err != nil {
			t.Fatal(err)
		}
		factor := mat.NewDense(steps, steps, nil)
		for i := range steps {
			for j := range steps {
				factor.Set(i, j, rapid.Float64Range(-1, 1).Draw(t, "entry"))
			}
		}
		x := mat.NewSymDense(steps, nil)
		x.SymOuterK(1, factor)
		got, err := p.Sensitivity(x)
		if err != nil {
			t.Fatal(err)
		}
		classes := cycle.Patterns()
		var sum, reached float64
		for set := range 1 << len(classes) { // of batches
			var steps []int
			count := 0
			for c, class := range classes {
				if set>>c&1 == 1 {
					count++
					steps = append(steps, class...)
				}
			}
			if count > m {
				continue
			}
			var all float64
			for _, s := range steps {
				for _, r := range steps {
					all += math.Abs(x.At(s, r))
				}
			}
			sum = math.Max(sum, all)
			reached = math.Max(reached, bestSigns(x, steps))
		}
		if got.Squared < sum*(1-1e-14) || got.Squared > sum*(1+1e-12) || got.Squared < reached*(1-1e-14) || got.Attained > reached*(1+1e-12) {
			t.Fatalf("sens² %v, attained %v; by definition %v at most, and %v is reached", got.Squared, got.Attained, sum, reached)
		}
		list, err := NewPatternList(steps, p.Patterns())
		if err != nil {
			t.Fatal(err)
		}
		slope, want := make([]float64, steps*steps), make([]float64, steps*steps)
		if a, b := SoftMaximum(p, x, 3, slope), SoftMaximum(list, x, 3, want); math.Abs(a-b) > 1e-12*math.Abs(b)+1e-12 {
			t.Fatalf("soft maximum %v, of the patterns one by one %v", a, b)
		}
		for i := range slope {
			if math.Abs(slope[i]-want[i]) > 1e-12 {
				t.Fatalf("slope %v, want %v", slope, want)
			}
		}
	})
}

// bestSigns is the largest εᵀXε over signs of the steps.
func bestSigns(x *mat.SymDense, steps []int) float64 {
	best := 0.0
	for signs := range 1 << max(0, len(steps)-1) {
		var sum float64
		for i, s := range steps {
			for j, r := range steps {
				v := x.At(s, r)
				if (signs>>i^signs>>j)&1 == 1 {
					v = -v
				}
				sum += v
			}
		}
		best = math.Max(best, sum)
	}
	return best
}

// A ledger of persons admits any m batches, and no step of another.
func TestLedgerOfPeople(t *testing.T) {
	cycle, err := NewCyclic(9, 3, 3)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPeople(cycle, 2)
	if err != nil {
		t.Fatal(err)
	}
	l := NewLedger(1, p)
	for _, step := range []int{0, 1, 3, 4, 7} {
		if err := l.Admit(0, step); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Admit(0, 8); !errors.Is(err, ErrViolated) || !slices.Equal(l.Steps(0), []int{0, 1, 3, 4, 7}) {
		t.Errorf("a third batch: %v", err)
	}
}

func TestPeopleRefuse(t *testing.T) {
	of := func(steps, k, b int) Cyclic {
		c, err := NewCyclic(steps, k, b)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for name, tc := range map[string]struct {
		cycle   Cyclic
		batches int
	}{"no batch": {of(8, 2, 4), 0}, "too many": {of(8, 2, 4), 5}, "windows": {of(9, 2, 3), 1}, "unions": {of(200, 2, 100), 5}} {
		if _, err := NewPeople(tc.cycle, tc.batches); !errors.Is(err, ErrSchema) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
