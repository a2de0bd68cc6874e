package factorize

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting/bins"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// The objective and its gradient are their definition: a trace, an inner product, differences.
func TestBinsObjectiveIsItsDefinition(t *testing.T) {
	const steps, number, bands = 7, 3, 4
	h := workload.PrefixGram(steps)
	p := Bins{Number: number, Bandwidth: bands}
	o := newBinsObjective(h, p, p.Blend(0.3))
	theta := make([]float64, steps*steps)
	c := mat.NewDense(steps, steps, nil)
	for r := range steps {
		for s := max(0, r-bands+1); s <= r; s++ {
			theta[r*steps+s] = 1/float64(1+r-s) + 0.1*math.Sin(float64(3*r+5*s))
			c.Set(r, s, theta[r*steps+s]*theta[r*steps+s])
		}
	}
	var inverse, half, product mat.Dense
	if err := inverse.Inverse(c); err != nil {
		t.Fatal(err)
	}
	half.Mul(h, &inverse)
	product.Mul(inverse.T(), &half)
	mechanism, err := bins.New(c, number)
	if err != nil {
		t.Fatal(err)
	}
	var privacy float64
	for i := range number {
		for j := range number {
			privacy += p.Blend(0.3).At(i, j) * mechanism.Gram().At(i, j)
		}
	}
	want := math.Log(mat.Trace(&product)) + math.Log(privacy)
	if got := o.Value(theta); math.Abs(got-want) > 1e-12 {
		t.Fatalf("value %v, by the definition %v", got, want)
	}
	checkGradient(t, o, theta)
}

// checkGradient compares the gradient at theta with differences.
func checkGradient(t *testing.T, o *binsObjective, theta []float64) {
	t.Helper()
	o.Value(theta)
	gradient := make([]float64, len(theta))
	o.GradientTo(gradient)
	for i := range theta {
		const step = 1e-6
		moved := slices.Clone(theta)
		if r, s := i/o.steps, i%o.steps; s > r || s <= r-o.bands {
			if gradient[i] != 0 {
				t.Fatalf("a slope %v outside the bands", gradient[i])
			}
			continue
		}
		moved[i] += step
		up := o.Value(moved)
		moved[i] -= 2 * step
		if slope := (up - o.Value(moved)) / (2 * step); math.Abs(slope-gradient[i]) > 1e-7 {
			t.Fatalf("entry %d: slope %v, gradient %v", i, slope, gradient[i])
		}
	}
}

// Without weights the largest norm counts.
func TestBinsObjectiveOfTheLargestNorm(t *testing.T) {
	const steps, number = 6, 2
	h, p := workload.PrefixGram(steps), Bins{Number: number}
	o := newBinsObjective(h, p, nil)
	theta := make([]float64, steps*steps)
	for r := range steps {
		for s := range r + 1 {
			theta[r*steps+s] = 1/float64(1+r-s) + 0.1*math.Cos(float64(r+4*s))
		}
	}
	value := o.Value(theta)
	c := o.matrix()
	mechanism, err := bins.New(c, number)
	if err != nil {
		t.Fatal(err)
	}
	for j := range number {
		if v := mechanism.Gram().At(j, j); math.Abs(v-1) > 1e-12 {
			t.Errorf("|m_%d|² = %v", j, v)
		}
	}
	of, err := strategy.NewDense(c)
	if err != nil {
		t.Fatal(err)
	}
	if squared, err := Mean(h).squaredError(of); err != nil || math.Abs(math.Log(squared)-value) > 1e-12 {
		t.Errorf("value %v for an error of %v, %v", value, squared, err)
	}
	checkGradient(t, o, theta)
}

// What the sign costs: never less than the optimum among all strategies, and little for the prefix workload; and where
// that optimum has no negative entry, nothing.
func TestStrategiesWithoutNegativeEntries(t *testing.T) {
	ctx := t.Context()
	h := workload.PrefixGram(24)
	schema, err := participation.Complete(24, 4, 0)
	if err != nil {
		t.Fatal(err)
	}
	optimum, err := Dense{}.Optimize(ctx, Mean(h), schema, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := Bins{Number: 6}
	found, ended, err := p.Minimize(ctx, h, nil, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	quality, err := Evaluate(found, Mean(h), schema)
	if err != nil {
		t.Fatal(err)
	}
	if ratio := quality.Loss / optimum.LowerBound; ratio < 1 || ratio > 1.25 {
		t.Errorf("loss %v of the bound (%v)", ratio, ended)
	}
	single, err := participation.NewCyclic(24, 1, 24)
	if err != nil {
		t.Fatal(err)
	}
	if optimum, err = (Dense{}).Optimize(ctx, Mean(h), single, Options{}); err != nil {
		t.Fatal(err)
	}
	one := Bins{Number: 24} // every column a pattern
	if found, _, err = one.Minimize(ctx, h, nil, nil, Options{}); err != nil {
		t.Fatal(err)
	}
	if quality, err = Evaluate(found, Mean(h), single); err != nil || quality.Loss > optimum.Loss*1.002 {
		t.Errorf("single participation: loss %v, the optimum %v, %v", quality.Loss, optimum.Loss, err)
	}
}

func TestBinsRefuse(t *testing.T) {
	h := workload.PrefixGram(4)
	for field, of := range map[string]Bins{"Number": {}, "Bandwidth": {Number: 2, Bandwidth: 5},
		"Objective": {Number: 2}} {
		gram := h
		if field == "Objective" {
			gram = nil
		}
		_, _, err := of.Minimize(t.Context(), gram, nil, nil, Options{})
		var argument *fault.Argument
		if !errors.As(err, &argument) || argument.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
