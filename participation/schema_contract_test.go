package participation

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// contractSchemas are of every kind, with the edges k = 1, k = T, b = 1, b = T, patterns that overlap, and T between
// (k-1)b and kb.
func contractSchemas(t testing.TB) map[string]Schema {
	of := func(s Schema, err error) Schema {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	cyclic := func(steps, k, b int) Schema { s, err := NewCyclic(steps, k, b); return of(s, err) }
	minSep := func(steps, k, b int) Schema { s, err := NewMinSep(steps, k, b); return of(s, err) }
	listed := func(steps int, patterns ...[]int) Schema {
		s, err := NewPatternList(steps, patterns)
		return of(s, err)
	}
	people := func(steps, k, b, m int) Schema {
		cycle, err := NewCyclic(steps, k, b)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewPeople(cycle, m)
		return of(s, err)
	}
	return map[string]Schema{
		"people":                people(8, 2, 4, 2),
		"people, one batch":     people(8, 2, 4, 1),
		"people, all batches":   people(6, 2, 3, 3),
		"people, cut short":     people(7, 3, 3, 2),
		"people, single":        people(5, 1, 5, 2),
		"one step":              cyclic(1, 1, 1),
		"cyclic":                cyclic(8, 2, 4),
		"cyclic, cut short":     cyclic(7, 3, 3),
		"cyclic, overlapping":   cyclic(9, 2, 3),
		"single":                cyclic(6, 1, 6),
		"every step":            cyclic(5, 5, 1),
		"neighbouring steps":    cyclic(7, 3, 1),
		"min-sep":               minSep(9, 3, 3),
		"min-sep, few":          minSep(9, 2, 2),
		"min-sep, single":       minSep(6, 1, 6),
		"min-sep, any steps":    minSep(6, 3, 1),
		"min-sep, every step":   minSep(5, 5, 1),
		"patterns":              listed(6, []int{0, 1, 2}, []int{2, 3}, []int{3, 4, 5}),
		"patterns, a partition": listed(6, []int{0, 5}, []int{1, 2, 4}, []int{3}),
	}
}

// TestSchemaContract: what Schema promises holds for every one of them, by the definition of its patterns.
func TestSchemaContract(t *testing.T) {
	for name, s := range contractSchemas(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := allPatterns(s)
			describes(t, s, all)
			holdsTogether(t, s, all)
			splitsTheSteps(t, s, all)
			r := rand.New(rand.NewPCG(1, 2))
			for range 20 {
				keepsBudgets(t, s, all, r)
				boundsEveryRecord(t, s, all, r)
			}
			refusesGrams(t, s)
		})
	}
}

// describes checks k and b, and the words.
func describes(t *testing.T, s Schema, all [][]int) {
	k, b := 0, s.Steps()
	for _, pattern := range all {
		k = max(k, len(pattern))
		for i := 1; i < len(pattern); i++ {
			b = min(b, pattern[i]-pattern[i-1])
		}
	}
	if s.Participations() != k || s.Separation() != b {
		t.Errorf("k = %d, b = %d; of the patterns %d, %d", s.Participations(), s.Separation(), k, b)
	}
	if text := s.String(); s.Name() == "" || !strings.HasPrefix(text, s.Name()) || strings.Contains(text, "\n") {
		t.Errorf("%q, %q", s.Name(), text)
	}
}

func holdsTogether(t *testing.T, s Schema, all [][]int) {
	for i := range s.Steps() {
		for j := range s.Steps() {
			want := slices.ContainsFunc(all, func(p []int) bool { return slices.Contains(p, i) && slices.Contains(p, j) })
			if i != j && s.Together(i, j) != want {
				t.Errorf("Together(%d, %d) is %v", i, j, !want)
			}
		}
	}
}

// splitsTheSteps checks Disjoint and Relaxation: parts of patterns that hold every step once.
func splitsTheSteps(t *testing.T, s Schema, all [][]int) {
	if parts := s.Disjoint(); !isPartition(parts, s.Steps()) {
		t.Errorf("%v is no partition", parts)
	} else {
		for _, part := range parts {
			if !slices.ContainsFunc(all, func(p []int) bool { return slices.Equal(p, part) }) {
				t.Errorf("%v is no pattern", part)
			}
		}
	}
	if r := Relaxation(s); !IsPartition(r) || r.Steps() != s.Steps() || r.Participations() > s.Participations() {
		t.Errorf("relaxed to %v", r)
	}
}

// keepsBudgets draws a diagonal from the budgets: the largest sum of a pattern is one.
func keepsBudgets(t *testing.T, s Schema, all [][]int, r *rand.Rand) {
	d := make([]float64, s.Steps())
	for _, budget := range s.Budgets() {
		values, sum := make([]float64, len(budget.Groups)), 0.0
		for i := range values {
			values[i] = 0.1 + r.Float64()
			sum += budget.Cost * values[i]
		}
		for i, group := range budget.Groups {
			for _, step := range group {
				if d[step] != 0 {
					t.Fatalf("step %d is in two groups", step)
				}
				d[step] = values[i] / sum
			}
		}
	}
	largest := 0.0
	for _, pattern := range all {
		var sum float64
		for _, step := range pattern {
			sum += d[step]
		}
		largest = max(largest, sum)
	}
	if slices.Min(d) <= 0 || math.Abs(largest-1) > 1e-12 {
		t.Errorf("the diagonal %v has a pattern of sum %v", d, largest)
	}
}

// boundsEveryRecord draws C and contributions: ‖CG‖² of no pattern is above Squared, and some ±1 reach Attained.
func boundsEveryRecord(t *testing.T, s Schema, all [][]int, r *rand.Rand) {
	n := s.Steps()
	c := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range i + 1 {
			c.Set(i, j, r.NormFloat64())
		}
	}
	var x mat.SymDense
	x.SymOuterK(1, c.T())
	got, err := s.Sensitivity(&x)
	if err != nil {
		t.Fatal(err)
	}
	if !belongs(s, got.Pattern) || got.Attained > got.Squared || got.Kind() == "exact" != got.Exact {
		t.Errorf("%+v", got)
	}
	reached := 0.0
	for _, pattern := range all {
		for signs := range 1 << (len(pattern) - 1) {
			sum := mat.NewVecDense(n, nil)
			for i, step := range pattern {
				sum.AddScaledVec(sum, float64(1-2*(signs>>i&1)), c.ColView(step))
			}
			reached = max(reached, mat.Dot(sum, sum))
		}
		g := mat.NewDense(n, 3, nil) // rows of norm one at most
		for _, step := range pattern {
			row := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
			norm := math.Hypot(math.Hypot(row[0], row[1]), row[2])
			for i := range row {
				g.Set(step, i, row[i]/norm)
			}
		}
		var cg mat.Dense
		cg.Mul(c, g)
		if norm := mat.Norm(&cg, 2); norm*norm > got.Squared*(1+1e-12) {
			t.Errorf("pattern %v moves the outputs by %v, squared, above %v", pattern, norm*norm, got.Squared)
		}
	}
	if reached > got.Squared*(1+1e-12) || got.Attained > reached*(1+1e-12) {
		t.Errorf("signs reach %v, not between %v and %v", reached, got.Attained, got.Squared)
	}
}

func refusesGrams(t *testing.T, s Schema) {
	n := s.Steps()
	if _, err := s.Sensitivity(mat.NewSymDense(n+1, nil)); err == nil {
		t.Error("a strategy of more steps has a sensitivity")
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		x := mat.NewSymDense(n, nil)
		x.SetSym(n-1, n-1, v)
		if got, err := s.Sensitivity(x); err == nil {
			t.Errorf("an entry %v has the sensitivity %+v", v, got)
		}
	}
}
