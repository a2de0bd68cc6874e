package factorize

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// drawAnySchema draws a schema of any kind with T ≤ 20.
func drawAnySchema(t *rapid.T) participation.Schema {
	steps := rapid.IntRange(1, 20).Draw(t, "T")
	b := rapid.IntRange(1, steps).Draw(t, "b")
	k := rapid.IntRange(1, (steps-1)/b+1).Draw(t, "k")
	var s participation.Schema
	var err error
	switch rapid.SampledFrom([]string{"cyclic", "min-sep", "patterns"}).Draw(t, "schema") {
	case "cyclic":
		s, err = participation.NewCyclic(steps, k, b)
	case "min-sep":
		s, err = participation.NewMinSep(steps, k, b)
	default: // neighbouring runs that may overlap
		var patterns [][]int
		for first := 0; first < steps; {
			var run []int
			for i := range min(rapid.IntRange(1, 5).Draw(t, "length"), steps-first) {
				run = append(run, first+i)
			}
			patterns = append(patterns, run)
			first += max(1, len(run)-rapid.IntRange(0, 1).Draw(t, "overlap"))
		}
		s, err = participation.NewPatternList(steps, patterns)
		if errors.Is(err, participation.ErrSchema) { // a run inside another one, twice
			s, err = participation.NewCyclic(steps, k, b)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOptimizeUnderEverySchema checks what holds under every schema: sens² is one by the schema's own measure, the
// certified gap is reached, no member of the class is below the class bound, and nothing is below the relaxed bound.
func TestOptimizeUnderEverySchema(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawAnySchema(t)
		h := randomGram(t, s.Steps())
		r, err := Dense{}.Optimize(context.Background(), Mean(h), s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != optim.Converged || r.Sensitivity.Squared > 1 || r.Sensitivity.Squared < 1-1e-12 ||
			participation.IsPartition(s) && !r.Sensitivity.Exact {
			t.Fatalf("%v: %v, %+v", s, r.Status, r.Sensitivity)
		}
		relaxed, err := Dense{}.Optimize(context.Background(), Mean(h), participation.Relaxation(s), Options{})
		if err != nil || relaxed.LowerBound > r.Loss {
			t.Fatalf("%v: bound %v above the loss %v (%v)", s, relaxed.LowerBound, r.Loss, err)
		}
		if participation.IsPartition(s) && math.Abs(relaxed.LowerBound-r.LowerBound) > 1e-5*r.LowerBound {
			t.Fatalf("%v: bounds %v and %v", s, relaxed.LowerBound, r.LowerBound)
		}
		for _, c := range []strategy.Strategy{strategy.Identity(s.Steps()), strategy.AntiPGD(s.Steps()), randomStrategy(t, s.Steps())} {
			if q, err := Evaluate(c, Mean(h), s); err != nil || q.Loss < relaxed.LowerBound {
				t.Fatalf("%v: %T has the loss %v, below the bound %v (%v)", s, c, q.Loss, relaxed.LowerBound, err)
			}
		}
		member := randomMember(t, denseMask(s))
		var chol mat.Cholesky
		if !chol.Factorize(member) {
			t.Fatal("the random member is not positive definite")
		}
		var inverse mat.SymDense
		if err := chol.InverseTo(&inverse); err != nil {
			t.Fatal(err)
		}
		if loss := mat.Trace(product(h, &inverse)); loss < r.LowerBound {
			t.Fatalf("%v: an X of the class has the loss %v, below the bound %v", s, loss, r.LowerBound)
		}
	})
}

func product(a, b mat.Matrix) *mat.Dense {
	var p mat.Dense
	p.Mul(a, b)
	return &p
}

// randomMember draws a positive definite X in the mask's domain.
func randomMember(t *rapid.T, k mask) *mat.SymDense {
	n := k.schema.Steps()
	rng := random(t)
	x := make([]float64, n*n)
	for i := range n {
		x[i*n+i] = 1 + rng.Float64()
		for j := range i {
			if k.keep[i*k.schema.Steps()+j] {
				x[i*n+j] = (2*rng.Float64() - 1) / float64(2*n)
				x[j*n+i] = x[i*n+j]
			}
		}
	}
	k.feasible(x)
	before := append([]float64(nil), x...)
	k.project(x)
	k.feasible(before) // nothing is left to do
	return mat.NewSymDense(n, before)
}

// TestProjectionKeepsTheDomain moves a member along projected directions: it stays in the domain, and projecting again
// changes nothing.
func TestProjectionKeepsTheDomain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := newMask(drawAnySchema(t), rapid.IntRange(1, 20).Draw(t, "bands"))
		n := k.schema.Steps()
		x := mat.DenseCopyOf(randomMember(t, k)).RawMatrix().Data
		rng := random(t)
		v := make([]float64, n*n)
		for i := range v {
			v[i] = rng.Float64() - 0.5
		}
		k.project(v)
		again := append([]float64(nil), v...)
		k.project(again)
		for i := range v {
			x[i] += 1e-3 * v[i] / float64(n)
			if math.Abs(again[i]-v[i]) > 1e-14 {
				t.Fatalf("projecting twice gives %v after %v", again[i], v[i])
			}
		}
		moved := append([]float64(nil), x...)
		k.feasible(moved)
		for i := range x {
			if math.Abs(moved[i]-x[i]) > 1e-12 {
				t.Fatalf("entry %d left the domain: %v, feasible %v", i, x[i], moved[i])
			}
		}
	})
}

// TestSeriesUnderMinSep checks that Toeplitz strategies are normalized by the schema's own sensitivity.
func TestSeriesUnderMinSep(t *testing.T) {
	h := prefixGram(24)
	s, err := participation.NewMinSep(24, 3, 6)
	if err != nil {
		t.Fatal(err)
	}
	relaxed, err := Dense{}.Optimize(context.Background(), Mean(h), participation.Relaxation(s), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Class{Toeplitz{Bandwidth: 6}, BLT{Buffers: 2}, BandedInverse{Bandwidth: 3}} {
		r, err := c.Optimize(context.Background(), Mean(h), s, Options{})
		if err != nil || r.Sensitivity.Squared > 1 || r.Sensitivity.Squared < 1-1e-12 || r.Loss < relaxed.LowerBound {
			t.Errorf("%s: %+v (%v), bound %v", c.Name(), r, err, relaxed.LowerBound)
		}
	}
	_, err = Toeplitz{ScaleColumns: true}.Optimize(context.Background(), Mean(h), s, Options{})
	if !errors.Is(err, ErrUnsupported) {
		t.Errorf("scaled columns under min-sep: %v", err)
	}
}

// TestWideSeriesUnderMinSep: strategies that are wider than the separation are not worse than narrower ones. 12 steps,
// k = 4, b = 3: six coefficients cost 179.1 where three cost 165.6, because only steps exactly b apart were looked at.
func TestWideSeriesUnderMinSep(t *testing.T) {
	ctx := context.Background()
	h := prefixGram(12)
	s, err := participation.NewMinSep(12, 4, 3)
	if err != nil {
		t.Fatal(err)
	}
	relaxed, err := Dense{}.Optimize(ctx, Mean(h), participation.Relaxation(s), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, class := range map[string]func(size int) Class{
		"toeplitz":       func(size int) Class { return Toeplitz{Bandwidth: 3 * size} },
		"blt":            func(size int) Class { return BLT{Buffers: size} },
		"banded-inverse": func(size int) Class { return BandedInverse{Bandwidth: 2 * size} },
	} {
		before := math.Inf(1)
		for _, size := range []int{1, 2, 4} {
			r, err := class(size).Optimize(ctx, Mean(h), s, Options{})
			if err != nil || r.Loss > before*(1+1e-9) || r.Sensitivity.Squared > 1 || r.Loss < relaxed.LowerBound {
				t.Fatalf("%s of size %d: %+v (%v), and %v for the smaller one", name, size, r, err, before)
			}
			brute, err := participation.SumBound(strategy.GramOf(r.Strategy), everyPattern(s))
			if err != nil || brute.Squared > r.Sensitivity.Squared*(1+1e-12) {
				t.Fatalf("%s of size %d: sens² %v, by all patterns %v (%v)", name, size, r.Sensitivity.Squared, brute.Squared, err)
			}
			before = r.Loss
		}
		if before > 166.5 {
			t.Errorf("%s: loss %v, want at most 166.5", name, before)
		}
	}
}

// TestChainObjectiveGradient compares with differences, and the sensitivity with the schema's.
func TestChainObjectiveGradient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(2, 20).Draw(t, "T")
		b := rapid.IntRange(1, steps).Draw(t, "b")
		k := rapid.IntRange(1, (steps-1)/b+1).Draw(t, "k")
		s, err := participation.NewMinSep(steps, k, b)
		if err != nil || k == 1 {
			return
		}
		bands := rapid.IntRange(2, steps).Draw(t, "bands")
		h := randomGram(t, steps)
		o := newSeriesObjective(newGramResponse(h), freeSeries{bands: bands}, &chainSum{schema: s, beta: 2}, steps)
		rng := random(t)
		x, v, g := make([]float64, bands-1), make([]float64, bands-1), make([]float64, bands-1)
		for i := range x {
			x[i], v[i] = rng.NormFloat64()/2, rng.NormFloat64()
		}
		at := func(step float64) float64 {
			y := append([]float64(nil), x...)
			for i := range y {
				y[i] += step * v[i]
			}
			return o.Value(y)
		}
		o.Value(x)
		o.GradientTo(g)
		slope := mat.Dot(mat.NewVecDense(len(g), g), mat.NewVecDense(len(v), v))
		if want := (at(1e-6) - at(-1e-6)) / 2e-6; math.Abs(slope-want) > 1e-5*(1+math.Abs(want)) {
			t.Fatalf("%v: slope %v, by differences %v", s, slope, want)
		}
		o.Value(x)
		sens, err := participation.SumBound(seriesGram(o.support, steps), somePatterns(s))
		if err != nil || o.sens < sens.Squared*(1-1e-12) {
			t.Fatalf("%v: soft maximum %v is below the sensitivity %v (%v)", s, o.sens, sens.Squared, err)
		}
	})
}

// somePatterns lists every pattern of few steps, and those exactly b apart of more.
func somePatterns(s participation.MinSep) [][]int {
	if s.Steps() > 12 {
		return s.Cyclic().Patterns()
	}
	return everyPattern(s)
}
