package strategy

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/participation"
)

// C = [1 0; -1 1]·[…] such that X = CᵀC vanishes off the diagonal, and the leading block's does not: what a block of X would
// say is too little.
func TestLeadingBlockIsNotABlockOfX(t *testing.T) {
	c, err := NewDense(mat.NewDense(3, 3, []float64{
		1, 0, 0,
		1, 1, 0,
		-1, 1, 1,
	}))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := participation.NewCyclic(3, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGrowth(c, schema)
	if err != nil {
		t.Fatal(err)
	}
	if x := GramOf(c); x.At(0, 1) != 0 {
		t.Fatalf("X[0,1] is %v", x.At(0, 1))
	}
	for steps, want := range map[int]float64{1: 1, 2: 2 + 1 + 2} { // ‖c_0 + c_1‖² of two rows
		if s, err := g.Sensitivity(steps); err != nil || math.Abs(s.Squared-want) > 1e-12 {
			t.Errorf("%d steps: %v, %v; want %v", steps, s.Squared, err, want)
		}
	}
}

// Without negative entries the sensitivity is exact: never below the sum of fractions, and above it by rounding only. Squares that no
// number holds are refused.
func TestGrowthWithoutNegativeEntries(t *testing.T) {
	schema, err := participation.NewPatternList(5, [][]int{{0, 2}, {1, 2, 4}, {3}})
	if err != nil {
		t.Fatal(err)
	}
	grown := func(scale float64, steps int) (*Dense, participation.Sensitivity, error) {
		lower := mat.NewDense(5, 5, nil)
		for i := range 5 {
			for j := range i + 1 {
				lower.Set(i, j, scale/float64(3+i*j+j))
			}
		}
		c, err := NewDense(lower)
		if err != nil {
			t.Fatal(err)
		}
		g, err := NewGrowth(c, schema)
		if err != nil {
			t.Fatal(err)
		}
		s, err := g.Sensitivity(steps)
		return c, s, err
	}
	for steps := 1; steps <= 5; steps++ {
		c, s, err := grown(1, steps)
		want := new(big.Rat)
		for _, pattern := range schema.Patterns() {
			total := new(big.Rat)
			for i := range steps {
				row := new(big.Rat)
				for _, at := range pattern {
					row.Add(row, new(big.Rat).SetFloat64(c.c.At(i, at)))
				}
				total.Add(total, row.Mul(row, row))
			}
			if total.Cmp(want) > 0 {
				want = total
			}
		}
		least, _ := want.Float64()
		if err != nil || !s.Exact || new(big.Rat).SetFloat64(s.Squared).Cmp(want) < 0 || s.Squared > least*(1+1e-14) {
			t.Errorf("%d steps: %+v, %v; want %v", steps, s, err, least)
		}
	}
	for _, scale := range []float64{1e-200, 1e200} {
		if _, _, err := grown(scale, 5); err == nil || !strings.Contains(err.Error(), "out of range") {
			t.Errorf("entries about %v: %v", scale, err)
		}
	}
}

// Of very many steps the first ones have the sensitivity of a strategy with the coefficients before them, row by row.
func TestGrowthOfManySteps(t *testing.T) {
	const steps = LongSteps + 100
	coefficients := make([]float64, 40)
	for j := range coefficients {
		coefficients[j] = 1 / float64(1+j)
		if j%5 == 4 {
			coefficients[j] = -coefficients[j] // a bound then
		}
	}
	for _, tc := range []struct {
		k, b int
		c    []float64
	}{{3, 50, coefficients}, {5, 7, coefficients[:4]}, {600, 7, coefficients[:4]}, {1, steps, coefficients}} {
		c, err := Parameters{Class: "toeplitz", Bandwidth: len(tc.c), Coefficients: tc.c}.Build(steps)
		if err != nil {
			t.Fatal(err)
		}
		schema, err := participation.NewCyclic(steps, tc.k, tc.b)
		if err != nil {
			t.Fatal(err)
		}
		g, err := NewGrowth(c, schema)
		if err != nil {
			t.Fatal(err)
		}
		var sum, before float64
		for at := range steps {
			var row float64
			for i := 0; i < tc.k && i*tc.b <= at; i++ {
				if lag := at - i*tc.b; lag < len(tc.c) {
					row += math.Abs(tc.c[lag])
				}
			}
			sum += row * row
			if at%311 != 0 && at != steps-1 {
				continue
			}
			s, err := g.Sensitivity(at + 1)
			if err != nil || s.Squared < sum*(1-1e-12) || s.Squared > sum*(1+1e-11) || s.Squared < before {
				t.Fatalf("k = %d, b = %d, %d steps: %v, %v; want %v", tc.k, tc.b, at+1, s.Squared, err, sum)
			}
			before = s.Squared
		}
	}
}

// Under min-sep a later step's bound may be the smaller one; none is below what some signs reach.
func TestGrowthUnderMinSep(t *testing.T) {
	schema, err := participation.NewMinSep(10, 3, 3)
	if err != nil {
		t.Fatal(err)
	}
	lower := mat.NewDense(10, 10, nil)
	for i := range 10 {
		for j := range i + 1 {
			lower.Set(i, j, math.Cos(float64(3*i+j*j)))
		}
		lower.Set(i, i, 1)
	}
	c, err := NewDense(lower)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGrowth(c, schema)
	if err != nil {
		t.Fatal(err)
	}
	last := 0.0
	for steps := 1; steps <= 10; steps++ {
		s, err := g.Sensitivity(steps)
		if err != nil || s.Squared < last || s.Attained > s.Squared {
			t.Fatalf("%d steps: %+v, %v", steps, s, err)
		}
		last = s.Squared
	}
	whole, err := Sensitivity(c, schema)
	if err != nil || last > whole.Squared {
		t.Errorf("all steps: %v, then %v, %v", last, whole.Squared, err)
	}
}

// Of any strategy, whatever its signs, the first steps have the sensitivity that the best vectors reach, found by ascent from
// random ones; never less, and no more than the proof's gap above it.
func TestGrowthIsWhatVectorsReach(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 12 {
		steps := 2 + r.IntN(7)
		lower := mat.NewDense(steps, steps, nil)
		for i := range steps {
			for j := range i {
				lower.Set(i, j, r.NormFloat64())
			}
			lower.Set(i, i, 0.5+r.Float64())
		}
		c, err := NewDense(lower)
		if err != nil {
			t.Fatal(err)
		}
		b := 1 + r.IntN(2)
		schema, err := participation.NewCyclic(steps, 1+r.IntN((steps-1)/b+1), b)
		if err != nil {
			t.Fatal(err)
		}
		g, err := NewGrowth(c, schema)
		if err != nil {
			t.Fatal(err)
		}
		for s := 1; s <= steps; s++ {
			got, err := g.Sensitivity(s)
			if err != nil {
				t.Fatal(err)
			}
			var want float64
			for _, pattern := range schema.Patterns() {
				if end := slices.IndexFunc(pattern, func(u int) bool { return u >= s }); end >= 0 {
					pattern = pattern[:end]
				}
				want = math.Max(want, reached(lower, pattern, s, r))
			}
			if got.Squared < want*(1-1e-12) || got.Squared > want*(1+2e-6) {
				t.Fatalf("%v after %d steps: %v, vectors reach %v", schema, s, got.Squared, want)
			}
		}
	}
}

// reached returns ‖Σ c_s g_sᵀ‖² of the first rows of the columns of a pattern, for unit vectors g found by ascent.
func reached(c *mat.Dense, pattern []int, steps int, r *rand.Rand) (best float64) {
	k := len(pattern)
	for range 3 {
		g := mat.NewDense(max(k, 1), max(k, 1), nil)
		for i := range k {
			for j := range k {
				g.Set(i, j, r.NormFloat64())
			}
		}
		columns := mat.NewDense(steps, max(k, 1), nil)
		for i, s := range pattern {
			for t := range steps {
				columns.Set(t, i, c.At(t, s))
			}
		}
		var x, sum mat.Dense
		x.Mul(columns.T(), columns)
		for range 600 {
			for i := range k {
				pull := mat.NewVecDense(k, nil)
				for j := range k {
					if j != i {
						pull.AddScaledVec(pull, x.At(i, j), g.RowView(j))
					}
				}
				if norm := pull.Norm(2); norm > 0 {
					pull.ScaleVec(1/norm, pull)
				} else {
					pull.SetVec(0, 1)
				}
				g.SetRow(i, pull.RawVector().Data)
			}
		}
		if k > 0 {
			sum.Mul(columns, g)
			best = math.Max(best, math.Pow(mat.Norm(&sum, 2), 2))
		}
	}
	return best
}
