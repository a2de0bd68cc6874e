package strategy_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/strategy"
)

// What the contract says of filters.

// run returns the rows that a filter makes of the rows of z, and what it keeps in the end. What it was given for a step is
// no longer what it was in the next.
func run(t *rapid.T, c strategy.Strategy, z *mat.Dense) (rows *mat.Dense, kept [][]float64) {
	f, err := c.Filter()
	if err != nil {
		t.Fatal(err)
	}
	steps, dim := z.Dims()
	rows, kept = mat.NewDense(steps, dim, nil), make([][]float64, f.Memory())
	row, fresh := make([]float64, dim), make([]float64, dim)
	for s := range steps {
		spoil(row)
		copy(fresh, z.RawRowView(s))
		f.StepTo(row, fresh, kept, s)
		if !slices.Equal(fresh, z.RawRowView(s)) {
			t.Fatal("a step has changed its row of Z")
		}
		rows.SetRow(s, row)
		spoil(fresh)
	}
	return rows, kept
}

func spoil(list []float64) {
	for i := range list {
		list[i] = math.NaN()
	}
}

func normal(rng *rand.Rand, rows, cols int) *mat.Dense {
	m := mat.NewDense(rows, cols, nil)
	for i := range rows {
		for j := range cols {
			m.Set(i, j, rng.NormFloat64())
		}
	}
	return m
}

// The filter keeps what the cost says: as many rows, and none that it does not come to need.
func checkCost(t *rapid.T, c strategy.Strategy) {
	cost := c.NodeCost()
	_, kept := run(t, c, normal(random(t), c.Steps(), 2))
	used := 0
	for _, row := range kept {
		if row != nil {
			used++
		}
	}
	if len(kept) != cost.Floats || used < min(cost.Floats, c.Steps()) {
		t.Fatalf("%d rows are kept in the place of %d, the cost is %+v", used, len(kept), cost)
	}
	if cost.Flops < 1 {
		t.Fatalf("the cost is %+v", cost)
	}
}

// The filter makes the rows of C⁻¹Z, for many streams at a time, and for as many steps as it says.
func checkFilter(t *rapid.T, c strategy.Strategy) {
	z := normal(random(t), c.Steps(), 3)
	rows, _ := run(t, c, z)
	inverse := inverseOf(t, c)
	var want mat.Dense
	want.Mul(inverse, z)
	if !mat.EqualApprox(rows, &want, 1e-12*mat.Norm(inverse, math.Inf(1))*mat.Norm(z, 1)) {
		t.Fatalf("the rows are %v, not those of C⁻¹Z", mat.Formatted(rows))
	}
	f, err := c.Filter()
	if err != nil {
		t.Fatal(err)
	}
	if f.Steps() != 0 && f.Steps() != c.Steps() {
		t.Fatalf("a filter of %d steps for %d", f.Steps(), c.Steps())
	}
	first, second := make([][]float64, f.Memory()), make([][]float64, f.Memory())
	row, other := make([]float64, 3), make([]float64, 3)
	for s := range c.Steps() {
		f.StepTo(row, z.RawRowView(s), first, s)
		f.StepTo(other, z.RawRowView(s), second, s)
		if !slices.Equal(row, rows.RawRowView(s)) || !slices.Equal(other, row) {
			t.Fatal("two streams of one filter disturb each other")
		}
		if r, ok := f.(strategy.Recombiner); ok {
			r.RecombineTo(other, z.RawRowView(s), s, z.RawRowView)
			if !slices.Equal(other, row) {
				t.Fatalf("with rows of Z made again, row %d is %v, not %v", s, other, row)
			}
		}
	}
}

// Steps with unit vectors for what is kept and z are all there is to know of a filter: noise from these coefficients
// is the same.
func checkStateSpace(t *rapid.T, c strategy.Strategy) {
	f, err := c.Filter()
	if err != nil {
		t.Fatal(err)
	}
	z := normal(random(t), c.Steps(), 1)
	want, _ := run(t, c, z)
	memory := f.Memory()
	state := make([]float64, memory+1) // what is kept, and z
	for s := range c.Steps() {
		state[memory] = z.At(s, 0)
		units := make([][]float64, memory+1)
		for i := range units {
			units[i] = make([]float64, memory+1)
			units[i][i] = 1
		}
		kept, row := units[:memory], make([]float64, memory+1)
		f.StepTo(row, units[memory], kept, s)
		if got := dot(row, state); math.Abs(got-want.At(s, 0)) > 1e-11*(1+math.Abs(got)) {
			t.Fatalf("row %d is %v by its coefficients, and %v", s, got, want.At(s, 0))
		}
		next := make([]float64, memory+1)
		for i, k := range kept {
			next[i] = dot(k, state)
		}
		state = next
	}
}

func dot(a, b []float64) float64 {
	return mat.Dot(mat.NewVecDense(len(a), a), mat.NewVecDense(len(b), b))
}
