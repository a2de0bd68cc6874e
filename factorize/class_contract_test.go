package factorize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/optim"
	"mafalda/participation"
)

// contractClasses are all classes with their defaults, and some with parameters, fewer of them with -short.
func contractClasses() map[string]Class {
	all := map[string]Class{
		"banded, 3 bands":           Banded{Bandwidth: 3},
		"toeplitz, 5 coefficients":  Toeplitz{Bandwidth: 5},
		"toeplitz, scaled":          Toeplitz{Bandwidth: 3, ScaleColumns: true},
		"blt, 1 buffer":             BLT{Buffers: 1},
		"blt, 3 buffers":            BLT{Buffers: 3},
		"banded-inverse, 1 of C⁻¹":  BandedInverse{Bandwidth: 1},
		"banded-inverse, 12 of C⁻¹": BandedInverse{Bandwidth: 12},
		"comb, scaled":              Comb{Buffers: 1, Bandwidth: 2, ScaleColumns: true},
	}
	if testing.Short() {
		all = map[string]Class{"banded, 3 bands": Banded{Bandwidth: 3}, "toeplitz, scaled": Toeplitz{Bandwidth: 3, ScaleColumns: true},
			"blt, 1 buffer": BLT{Buffers: 1}, "banded-inverse, 1 of C⁻¹": BandedInverse{Bandwidth: 1}}
	}
	for _, c := range Classes() {
		all[c.Name()] = c
	}
	return all
}

// contractSchemas are of 12 steps.
func contractSchemas(t *testing.T) map[string]participation.Schema {
	runs, err := participation.NewPatternList(12, [][]int{{0, 1, 2, 3}, {3, 4, 5, 6, 7}, {6, 7, 8, 9, 10, 11}})
	if err != nil {
		t.Fatal(err)
	}
	overlap, err := participation.NewCyclic(12, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]participation.Schema{"cyclic": schema(t, 3, 4), "single": schema(t, 1, 12),
		"every step": schema(t, 12, 1), "overlapping": overlap, "min-sep": mustMinSep(t, 12, 3, 3), "patterns": runs}
}

// contractObjectives are one of each kind, of 12 steps.
func contractObjectives() []Objective {
	h := prefixLike(12)
	var e stepGrams
	for last := range 12 { // sums of the noise so far, and a little of every single step
		one := mat.NewSymDense(12, nil)
		for s := range last + 1 {
			for t := range s + 1 {
				one.SetSym(s, t, 1)
			}
			one.SetSym(s, s, 1.5)
		}
		e = append(e, one)
	}
	return []Objective{Mean(h), Worst(e), Last(e), Long(responsesOf(h))}
}

// TestClassContract: what Class, Options and Result promise holds for every class, every kind of objective and every schema.
func TestClassContract(t *testing.T) {
	for schemaName, s := range contractSchemas(t) {
		for _, o := range contractObjectives() {
			for className, c := range contractClasses() {
				t.Run(fmt.Sprintf("%s/%v/%s", schemaName, o.Kind(), className), func(t *testing.T) {
					t.Parallel()
					if err := Supports(c, o.Kind(), s); err != nil {
						unsupported(t, c, o, s, err)
						return
					}
					if !c.Traits().Has(o.Kind()) {
						t.Fatalf("supported, but not among %v", c.Traits().Kinds)
					}
					r := optimized(t, c, o, s)
					isOfClass(t, r, c, s)
					isMeasured(t, r, o, s)
					isBounded(t, r, c, o, s)
					endsEarly(t, c, o, s)
				})
			}
		}
	}
}

func unsupported(t *testing.T, c Class, o Objective, s participation.Schema, says error) {
	r, err := c.Optimize(context.Background(), o, s, Options{})
	if r != nil || !errors.Is(err, ErrUnsupported) || !errors.Is(says, ErrUnsupported) || err.Error() != says.Error() {
		t.Errorf("%v, %v; beforehand: %v", r, err, says)
	}
}

// optimized checks that Progress is called in order, one call at a time, and that it changes nothing: the zero Options find
// the same.
func optimized(t *testing.T, c Class, o Objective, s participation.Schema) *Result {
	t.Helper()
	var before Iteration
	var within atomic.Int32
	calls := 0
	r, err := c.Optimize(context.Background(), o, s, Options{Progress: func(it Iteration) {
		if within.Add(1) != 1 {
			t.Error("two calls of Progress at a time")
		}
		defer within.Add(-1)
		calls++
		if it.Count < before.Count || it.LowerBound > 0 && it.LowerBound < before.LowerBound {
			t.Errorf("%+v after %+v", it, before)
		}
		if next := before.Done%max(before.Total, 1) + 1; it.Total > 0 && (it.Done != next || it.Done > it.Total) {
			t.Errorf("%d of %d after %d of %d", it.Done, it.Total, before.Done, before.Total)
		}
		if !(it.Loss >= 0) || math.IsInf(it.Gap, 1) != (it.LowerBound == 0) {
			t.Errorf("%+v", it)
		}
		before = Iteration{Count: it.Count, LowerBound: it.LowerBound, Done: it.Done, Total: it.Total}
	}})
	if err != nil || calls == 0 {
		t.Fatalf("%d calls of Progress, %v", calls, err)
	}
	again, err := c.Optimize(context.Background(), o, s, Options{})
	if err != nil || again.Loss != r.Loss || again.Iterations != r.Iterations || again.Status != r.Status {
		t.Errorf("%+v, and %+v (%v) without Progress", r, again, err)
	}
	return r
}

func isOfClass(t *testing.T, r *Result, c Class, s participation.Schema) {
	t.Helper()
	p := r.Strategy.Parameters()
	if r.Strategy.Name() != c.Name() || p.Class != c.Name() || r.Strategy.Steps() != s.Steps() {
		t.Fatalf("%d steps of %s, %s", r.Strategy.Steps(), r.Strategy.Name(), p.Class)
	}
	width := func(asked int) int {
		if asked == 0 {
			return c.Traits().Bandwidth(s)
		}
		return asked
	}
	is, want := [3]int{p.Bandwidth, p.Buffers, len(p.Columns)}, [3]int{}
	switch c := c.(type) {
	case Banded:
		want[0] = width(c.Bandwidth)
	case Toeplitz:
		if want[0] = width(c.Bandwidth); c.ScaleColumns {
			want[2] = s.Steps()
		}
	case BLT:
		if want[1] = c.Buffers; want[1] == 0 {
			want[1] = c.Traits().Buffers
		}
	case BandedInverse:
		want[0] = width(c.Bandwidth)
	case Comb:
		want[0] = width(c.Bandwidth)
		if want[1] = c.Buffers; want[1] == 0 {
			want[1] = c.Traits().Buffers
		}
		if c.ScaleColumns {
			want[2] = columnScales
		}
	}
	if is != want {
		t.Errorf("bandwidth, buffers and columns %v, not %v", is, want)
	}
}

func isMeasured(t *testing.T, r *Result, o Objective, s participation.Schema) {
	t.Helper()
	q, err := Evaluate(r.Strategy, o, s)
	if err != nil || math.Abs(q.Loss-r.Loss) > 1e-12*q.Loss || math.Abs(q.SquaredError-r.SquaredError) > 1e-12*q.Loss {
		t.Errorf("%+v, evaluated %+v, %v", r.Quality, q, err)
	}
	if sens := r.Sensitivity.Squared; sens > 1 || sens < 1-1e-11 {
		t.Errorf("sens² = %v", sens)
	}
}

func isBounded(t *testing.T, r *Result, c Class, o Objective, s participation.Schema) {
	t.Helper()
	if r.Bound() > r.Loss || r.Gap != GapOf(r.Loss, r.Bound()) || math.IsInf(r.Gap, 1) == c.Traits().Certified {
		t.Errorf("loss %v, bounds %v and %v, gap %v", r.Loss, r.LowerBound, r.ClassBound, r.Gap)
	}
	if c.Traits().Certified && participation.IsPartition(s) &&
		(r.Status != optim.Converged || !(r.Gap <= o.Kind().DefaultGap())) {
		t.Errorf("%v with a gap of %v", r.Status, r.Gap)
	}
	var sum float64
	if r.Weights != nil {
		sum = floats.Sum(r.Weights)
	}
	if (o.Kind() == WorstStep) != (math.Abs(sum-1) < 1e-12) {
		t.Errorf("weights %v", r.Weights)
	}
	if o.Kind() == MeanError || o.Kind() == ManySteps { // the same objective
		best, err := Dense{}.Optimize(context.Background(), contractObjectives()[0], s, Options{})
		if err != nil || r.Loss < best.LowerBound {
			t.Errorf("loss %v, no strategy is below %v (%v)", r.Loss, best.LowerBound, err)
		}
	}
}

// endsEarly: a search that is cancelled, or has few iterations, still has a strategy, or says why not.
func endsEarly(t *testing.T, c Class, o Objective, s participation.Schema) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	switch r, err := c.Optimize(ctx, o, s, Options{}); {
	case o.Kind() == ManySteps:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v, %v", r, err)
		}
	case err != nil || r.Status != optim.Interrupted && r.Status != optim.Converged:
		t.Errorf("cancelled: %+v, %v", r, err)
	default:
		isMeasured(t, r, o, s)
	}
	r, err := c.Optimize(context.Background(), o, s, Options{MaxIterations: 1})
	if err != nil {
		t.Fatalf("one iteration: %v", err)
	}
	isMeasured(t, r, o, s)
	if r.Bound() > r.Loss {
		t.Errorf("one iteration: loss %v, bound %v", r.Loss, r.Bound())
	}
}
