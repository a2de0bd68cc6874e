package participation

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// allPatterns lists every pattern of a schema by its definition, without looking at how the schema works.
func allPatterns(s Schema) [][]int {
	var found [][]int
	for set := 1; set < 1<<s.Steps(); set++ {
		var pattern []int
		for step := range s.Steps() {
			if set>>step&1 == 1 {
				pattern = append(pattern, step)
			}
		}
		if belongs(s, pattern) {
			found = append(found, pattern)
		}
	}
	return found
}

func belongs(s Schema, pattern []int) bool {
	if people, ok := s.(*People); ok {
		batches := map[int]bool{}
		for _, step := range pattern {
			batches[step%people.Cycle().Separation()] = true
		}
		return len(batches) <= people.Batches()
	}
	if list, ok := s.(*PatternList); ok {
		return slices.ContainsFunc(list.Patterns(), func(p []int) bool {
			for _, step := range pattern {
				if !slices.Contains(p, step) {
					return false
				}
			}
			return true
		})
	}
	if len(pattern) > s.Participations() {
		return false
	}
	_, cyclic := s.(Cyclic)
	for i := 1; i < len(pattern); i++ {
		gap := pattern[i] - pattern[i-1]
		if gap < s.Separation() || cyclic && gap != s.Separation() {
			return false
		}
	}
	return true
}

// drawSchema draws any schema of at most 11 steps.
func drawSchema(t *rapid.T) Schema {
	steps := rapid.IntRange(1, 11).Draw(t, "T")
	b := rapid.IntRange(1, steps).Draw(t, "b")
	k := rapid.IntRange(1, (steps-1)/b+1).Draw(t, "k")
	var s Schema
	var err error
	switch rapid.SampledFrom([]string{"cyclic", "min-sep", "people", "patterns"}).Draw(t, "schema") {
	case "people":
		cycle, failed := NewCyclic(steps, (steps-1)/b+1, b) // whole residue classes
		if failed != nil {
			t.Fatal(failed)
		}
		s, err = NewPeople(cycle, rapid.IntRange(1, len(cycle.Patterns())).Draw(t, "batches"))
	case "cyclic":
		s, err = NewCyclic(steps, k, b)
	case "min-sep":
		s, err = NewMinSep(steps, k, b)
	default:
		all := 1<<steps - 1
		sets, covered := map[int]bool{}, 0
		for range rapid.IntRange(0, 4).Draw(t, "patterns") {
			set := rapid.IntRange(1, all).Draw(t, "pattern")
			sets[set] = true
			covered |= set
		}
		if covered != all {
			sets[all&^covered] = true
		}
		var patterns [][]int
		for set := range sets {
			var pattern []int
			for step := range steps {
				if set>>step&1 == 1 {
					pattern = append(pattern, step)
				}
			}
			patterns = append(patterns, pattern)
		}
		slices.SortFunc(patterns, slices.Compare[[]int])
		s, err = NewPatternList(steps, patterns)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func drawGram(t *rapid.T, s Schema) *mat.SymDense {
	n := s.Steps()
	x := mat.NewSymDense(n, nil)
	sparse := rapid.Bool().Draw(t, "sparse")
	positive := rapid.Bool().Draw(t, "positive")
	for i := range n {
		for j := i; j < n; j++ {
			v := rapid.Float64Range(-1, 1).Draw(t, "x")
			if positive || i == j {
				v = math.Abs(v)
			}
			if i == j || !sparse || !s.Together(i, j) {
				x.SetSym(i, j, v)
			}
		}
	}
	return x
}

// TestSensitivityBoundsEveryPattern compares with the largest sum over all patterns, which is exact where patterns are
// listed, and for min-sep where columns are orthogonal.
func TestSensitivityBoundsEveryPattern(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		x := drawGram(t, s)
		var largest, attainable float64
		orthogonal := true
		for _, pattern := range allPatterns(s) {
			sum := 0.0
			for _, i := range pattern {
				for _, j := range pattern {
					sum += math.Abs(x.At(i, j))
					orthogonal = orthogonal && (i == j || x.At(i, j) == 0)
				}
			}
			largest = math.Max(largest, sum)
			attainable = math.Max(attainable, attainedSquare(submatrix(x, pattern)))
		}
		got, err := s.Sensitivity(x)
		if err != nil {
			t.Fatal(err)
		}
		if got.Squared < largest*(1-1e-15) {
			t.Fatalf("%v: sens² %v, but a pattern has %v", s, got.Squared, largest)
		}
		if got.Attained > got.Squared || !belongs(s, got.Pattern) {
			t.Fatalf("%v: %+v is not consistent", s, got)
		}
		if got.Attained > attainable*(1+1e-14) {
			t.Fatalf("%v: attained %v, but no pattern has more than %v", s, got.Attained, attainable)
		}
		if _, minsep := s.(MinSep); (orthogonal || !minsep) && got.Squared > largest*(1+1e-13) {
			t.Fatalf("%v: sens² %v, but the largest sum is %v", s, got.Squared, largest)
		}
	})
}

// TestMinSepExactForDecreasing checks Kalinin and Lampert's theorem, and that it fails for a series that is not
// monotone.
func TestMinSepExactForDecreasing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(1, 12).Draw(t, "T")
		b := rapid.IntRange(1, steps).Draw(t, "b")
		s, err := NewMinSep(steps, rapid.IntRange(1, (steps-1)/b+1).Draw(t, "k"), b)
		if err != nil {
			t.Fatal(err)
		}
		c := make([]float64, steps)
		for i := range c {
			c[i] = rapid.Float64Range(0, 1).Draw(t, "c")
		}
		slices.SortFunc(c, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
		c[0]++
		x := toeplitzGram(c)
		got, err := s.Sensitivity(x)
		if err != nil {
			t.Fatal(err)
		}
		want := sumOfMagnitudes(submatrix(x, s.earliest()))
		if !got.Exact || math.Abs(got.Squared-want) > 1e-12*want {
			t.Fatalf("%v: %+v, want %v", s, got, want)
		}
	})
	s, err := NewMinSep(4, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	x := toeplitzGram([]float64{1, 0, 0, 1}) // columns 0 and 3 share a row, columns 0 and 2 do not
	got, err := s.Sensitivity(x)
	if earliest := sumOfMagnitudes(submatrix(x, s.earliest())); err != nil || got.Squared != 5 || earliest != 3 {
		t.Errorf("sens² %v (%v), the earliest pattern has %v; want 5 and 3", got.Squared, err, earliest)
	}
}

// TestMinSepExactWithBandsOfTwoSeparations: with X[s,t] = 0 for |s-t| ≥ 2b only steps that follow one another in a
// pattern meet, and the bound is the largest sum itself. The bounds by rows and by majorant alone gave up to twice as
// much.
func TestMinSepExactWithBandsOfTwoSeparations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(1, 11).Draw(t, "T")
		b := rapid.IntRange(1, steps).Draw(t, "b")
		s, err := NewMinSep(steps, rapid.IntRange(1, (steps-1)/b+1).Draw(t, "k"), b)
		if err != nil {
			t.Fatal(err)
		}
		x := drawGram(t, s)
		for i := range steps {
			for j := i + 2*b; j < steps; j++ {
				x.SetSym(i, j, 0)
			}
		}
		var largest float64
		for _, pattern := range allPatterns(s) {
			largest = math.Max(largest, sumOfMagnitudes(submatrix(x, pattern)))
		}
		got, err := s.Sensitivity(x)
		if err != nil || got.Squared > largest*(1+1e-13) || got.Squared < largest*(1-1e-15) {
			t.Fatalf("%v: sens² %v (%v), but the largest sum is %v", s, got.Squared, err, largest)
		}
		if sum := sumOfMagnitudes(submatrix(x, got.Pattern)); math.Abs(sum-largest) > 1e-13*largest {
			t.Fatalf("%v: the pattern %v has %v, the largest sum is %v", s, got.Pattern, sum, largest)
		}
	})
}

// toeplitzGram returns CᵀC of the lower-triangular Toeplitz matrix of c.
func toeplitzGram(c []float64) *mat.SymDense {
	n := len(c)
	x := mat.NewSymDense(n, nil)
	for s := range n {
		for t := s; t < n; t++ {
			var sum float64
			for row := t; row < n; row++ {
				sum += c[row-s] * c[row-t]
			}
			x.SetSym(s, t, sum)
		}
	}
	return x
}

// TestBudgetsKeepTheSensitivity draws diagonals from the budgets: no pattern's sum is above one, and some pattern of
// every schema reaches it.
func TestBudgetsKeepTheSensitivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		d := make([]float64, s.Steps())
		covered := 0
		for _, budget := range s.Budgets() {
			values := make([]float64, len(budget.Groups))
			var sum float64
			for i := range values {
				values[i] = rapid.Float64Range(0.01, 1).Draw(t, "δ")
				sum += budget.Cost * values[i]
			}
			for i, group := range budget.Groups {
				for _, step := range group {
					d[step] = values[i] / sum
					covered++
				}
			}
		}
		if covered != s.Steps() || slices.Min(d) <= 0 {
			t.Fatalf("%v: budgets do not hold every step once", s)
		}
		var largest float64
		for _, pattern := range allPatterns(s) {
			var sum float64
			for _, step := range pattern {
				sum += d[step]
			}
			largest = math.Max(largest, sum)
		}
		if math.Abs(largest-1) > 1e-12 {
			t.Fatalf("%v: diagonal %v has a pattern of sum %v", s, d, largest)
		}
	})
}

func TestRelaxationIsOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		r := Relaxation(s)
		if !IsPartition(r) {
			t.Fatalf("%v: the relaxation is no partition", s)
		}
		for _, pattern := range s.Disjoint() {
			if !belongs(s, pattern) {
				t.Fatalf("%v: %v is no pattern", s, pattern)
			}
		}
		x := drawGram(t, s)
		strict, err := s.Sensitivity(x)
		if err != nil {
			t.Fatal(err)
		}
		loose, err := r.Sensitivity(x)
		if err != nil || loose.Squared > strict.Squared*(1+1e-13) {
			t.Fatalf("%v: sens² %v, relaxed %v, %v", s, strict.Squared, loose.Squared, err)
		}
	})
}

func TestTogetherIsThePatterns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		want := make([]bool, s.Steps()*s.Steps())
		for _, pattern := range allPatterns(s) {
			for _, i := range pattern {
				for _, j := range pattern {
					want[i*s.Steps()+j] = true
				}
			}
		}
		for i := range s.Steps() {
			for j := range s.Steps() {
				if i != j && s.Together(i, j) != want[i*s.Steps()+j] {
					t.Fatalf("%v: Together(%d, %d) = %v", s, i, j, s.Together(i, j))
				}
			}
		}
	})
}

func TestReadPatterns(t *testing.T) {
	for name, tc := range map[string]struct{ text, err string }{
		"blanks, commas, comments": {"# two patterns\r\n0, 2 4\r\n\r\n1,3 # odd\n", ""},
		"overlapping patterns":     {"0 1 2\n2 3 4\n", ""},
		"out of range":             {"0 1 2\n3 5\n4\n", "line 2: step 5 is not one of 0..4"},
		"negative":                 {"0 1 2 3 4\n-1\n", "line 2: step -1"},
		"twice in a line":          {"0 1 2 3 4 2\n", "line 1: step 2 is there twice"},
		"twice in the file":        {"0 1 2\n3 4\n2 1 0\n", "[0 1 2] is there twice"},
		"no number":                {"0 1 2 3 four\n", `line 1: "four" is not a step`},
		"a step left out":          {"0 1 2\n4\n", "step 3 of 0..4 is in no pattern"},
		"empty":                    {"# nothing\n", "no pattern"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := ReadPatterns(strings.NewReader(tc.text), 5)
			if tc.err == "" {
				if err != nil || l.Participations() != 3 {
					t.Errorf("%v, %v", l, err)
				}
				return
			}
			if !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("error %v, want one with %q", err, tc.err)
			}
		})
	}
}
