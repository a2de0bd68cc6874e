package factorize

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

func drawToeplitz(t *rapid.T, steps int, scaled bool) *Toeplitz {
	rng := random(t)
	c := make([]float64, rapid.IntRange(1, steps).Draw(t, "bands"))
	for i := range c {
		c[i] = rng.NormFloat64() / float64(i+1) / 2
	}
	c[0] = 1
	var columns []float64
	if scaled {
		for range steps {
			columns = append(columns, 0.5+rng.Float64())
		}
	}
	p, err := NewToeplitz(steps, c, columns)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestToeplitzStrategy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(1, 12).Draw(t, "T")
		p := drawToeplitz(t, steps, rapid.Bool().Draw(t, "scaled"))
		var c, inverse, want mat.TriDense
		p.StrategyTo(&c)
		if err := p.NoisingTo(&inverse); err != nil {
			t.Fatal(err)
		}
		if err := want.InverseTri(&c); err != nil || !mat.EqualApprox(&inverse, &want, 1e-8*mat.Norm(&want, 1)) {
			t.Fatalf("C⁻¹ as a series differs (%v)", err)
		}
		var doubled mat.TriDense
		p.Scaled(2).StrategyTo(&doubled)
		c.ScaleTri(2, &c)
		if !mat.Equal(&doubled, &c) {
			t.Fatal("Scaled(2) is not twice the strategy")
		}
	})
	for name, err := range map[string]error{
		"no coefficient":  second(NewToeplitz(3, nil, nil)),
		"too many":        second(NewToeplitz(1, []float64{1, 1}, nil)),
		"zero first":      second(NewToeplitz(3, []float64{0, 1}, nil)),
		"NaN":             second(NewToeplitz(3, []float64{1, math.NaN()}, nil)),
		"columns missing": second(NewToeplitz(3, []float64{1}, []float64{1})),
		"negative column": second(NewToeplitz(2, []float64{1}, []float64{1, -1})),
		"square root":     second(SquareRoot(3, 4)),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func second(_ *Toeplitz, err error) error { return err }

// The square root of the prefix workload squares to it, and its loss under single participation is known:
// sens² = Σ c_j², squared error Σ (T-j) c_j² (A C⁻¹ = C).
func TestSquareRoot(t *testing.T) {
	const steps = 20
	p, err := SquareRoot(steps, steps)
	if err != nil {
		t.Fatal(err)
	}
	var c mat.TriDense
	var square mat.Dense
	p.StrategyTo(&c)
	square.Mul(&c, &c)
	for i := range steps {
		for j := range i + 1 {
			if math.Abs(square.At(i, j)-1) > 1e-13 {
				t.Fatalf("C²[%d,%d] = %v", i, j, square.At(i, j))
			}
		}
	}
	var sens, squared float64
	for j := range steps { // c_j = binom(2j, j)/4^j
		cj := math.Exp(lgamma(2*j+1) - 2*lgamma(j+1) - float64(j)*math.Log(4))
		sens += cj * cj
		squared += float64(steps-j) * cj * cj
	}
	q, err := Evaluate(p, prefixGram(steps), schema(t, 1, steps))
	if err != nil || math.Abs(q.Sensitivity.Squared-sens) > 1e-12 || math.Abs(q.SquaredError-squared) > 1e-11 {
		t.Errorf("%+v, want sens² %v and squared error %v (%v)", q, sens, squared, err)
	}
	// banded, under (k,b) with w ≤ b bands: columns of one pattern are orthogonal
	banded, err := SquareRoot(steps, 5)
	if err != nil {
		t.Fatal(err)
	}
	sens = 0
	for _, v := range banded.Coefficients() {
		sens += 4 * v * v
	}
	q, err = Evaluate(banded, prefixGram(steps), schema(t, 4, 5))
	if err != nil || math.Abs(q.Sensitivity.Squared-sens) > 1e-12 {
		t.Errorf("banded: sens² %v, want %v (%v)", q.Sensitivity.Squared, sens, err)
	}
}

func lgamma(n int) float64 { v, _ := math.Lgamma(float64(n)); return v }

// Of a tree over T = 2^d steps under single participation: sens² = d+1 nodes a step.
func TestTree(t *testing.T) {
	c, err := Tree(16)
	if err != nil {
		t.Fatal(err)
	}
	q, err := Evaluate(c, prefixGram(16), schema(t, 1, 16))
	if err != nil || math.Abs(q.Sensitivity.Squared-5) > 1e-12 {
		t.Errorf("sens² %v, want 5 (%v)", q.Sensitivity.Squared, err)
	}
	for steps := 1; steps <= 20; steps++ { // X by the definition: EᵀE for the encoder E
		var rows [][2]int
		for size := 1; size < 2*steps; size *= 2 {
			for from := 0; from < steps; from += size {
				rows = append(rows, [2]int{from, min(from+size, steps)})
			}
		}
		e := mat.NewDense(len(rows), steps, nil)
		for i, r := range rows {
			for s := r[0]; s < r[1]; s++ {
				e.Set(i, s, 1)
			}
		}
		var want mat.Dense
		want.Mul(e.T(), e)
		c, err := Tree(steps)
		if err != nil || !mat.EqualApprox(gramOf(c), &want, 1e-12) {
			t.Errorf("T = %d: CᵀC is not EᵀE (%v)", steps, err)
		}
	}
	if _, err := Tree(0); err == nil {
		t.Error("a tree over nothing")
	}
}

// The objective is the logarithm of the loss by definition, and its gradient the derivative.
func TestToeplitzObjective(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		h := randomGram(t, s.Steps())
		bands := rapid.IntRange(1, s.Steps()).Draw(t, "bands")
		scaled := rapid.Bool().Draw(t, "scaled")
		o := newSeriesObjective(h, s, freeSeries(bands), scaled)
		rng := random(t)
		x := make([]float64, o.dimension())
		for i := range x {
			x[i] = rng.NormFloat64() / float64(2+i%bands)
		}
		value := o.Value(x)
		p, err := NewToeplitz(s.Steps(), o.c, o.d)
		if err != nil {
			t.Fatal(err)
		}
		if want := math.Log(lossByDefinition(p, h, s.Patterns())); math.Abs(value-want) > 1e-8 {
			t.Fatalf("log loss %v, by definition %v", value, want)
		}
		gradient := make([]float64, len(x))
		o.GradientTo(gradient)
		for i := range x {
			const step = 1e-6
			at := func(d float64) float64 {
				y := append([]float64(nil), x...)
				y[i] += d
				return o.Value(y)
			}
			forward, backward := (at(step)-value)/step, (value-at(-step))/step
			want := (forward + backward) / 2
			// at a kink, where a sign of X or the worst pattern changes, the one-sided derivatives differ
			if math.Abs(gradient[i]-want) > math.Abs(forward-backward)+1e-4*(1+math.Abs(want)) {
				t.Fatalf("derivative %d of %d: %v, by differences %v", i, len(x), gradient[i], want)
			}
		}
	})
}

// The result is not worse than the closed forms it may start from, not better than the dense certified optimum allows, and
// column scales only help.
func TestOptimizeToeplitz(t *testing.T) {
	for _, k := range []int{1, 3} {
		s := schema(t, k, 24/k)
		h := prefixGram(24)
		best, err := Optimize(context.Background(), h, s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		banded, err := SquareRoot(24, s.Separation())
		if err != nil {
			t.Fatal(err)
		}
		closed, err := Evaluate(banded, h, s)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := OptimizeToeplitz(context.Background(), h, s, ToeplitzOptions{Bandwidth: s.Separation()})
		if err != nil || plain.Loss > closed.Loss || plain.Loss < best.LowerBound || plain.Sensitivity.Squared > 1 {
			t.Errorf("k = %d: loss %v, closed form %v, bound %v (%v)", k, plain.Loss, closed.Loss, best.LowerBound, err)
		}
		free, err := OptimizeToeplitz(context.Background(), h, s, ToeplitzOptions{})
		if err != nil || free.Loss > plain.Loss*(1+1e-9) || free.Loss < best.LowerBound {
			t.Errorf("k = %d: free %v, banded %v (%v)", k, free.Loss, plain.Loss, err)
		}
		scaled, err := OptimizeToeplitz(context.Background(), h, s, ToeplitzOptions{Bandwidth: s.Separation(), ScaleColumns: true})
		if err != nil || scaled.Loss > plain.Loss*(1+1e-9) || scaled.Loss < best.LowerBound {
			t.Errorf("k = %d: scaled %v, plain %v (%v)", k, scaled.Loss, plain.Loss, err)
		}
		diagonal, err := OptimizeToeplitz(context.Background(), h, s, ToeplitzOptions{Bandwidth: 1, ScaleColumns: true})
		one, err2 := OptimizeBanded(context.Background(), h, s, 1, Options{Gap: 1e-9})
		if err != nil || err2 != nil || math.Abs(diagonal.Loss/one.Loss-1) > 1e-8 {
			t.Errorf("k = %d: one scaled coefficient %v, one band %v (%v, %v)", k, diagonal.Loss, one.Loss, err, err2)
		}
	}
}

func ExampleOptimizeToeplitz() {
	s := schema(nil, 2, 8)
	r, err := OptimizeToeplitz(context.Background(), prefixGram(16), s, ToeplitzOptions{Bandwidth: 8})
	if err != nil {
		panic(err)
	}
	best, err := Optimize(context.Background(), prefixGram(16), s, Options{})
	fmt.Printf("%.3f of the dense optimum %v\n", r.Loss/best.Loss, err)
	// Output: 1.100 of the dense optimum <nil>
}
