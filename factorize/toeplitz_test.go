package factorize

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"mafalda/optim"
	"mafalda/strategy"
)

// The loss of the square root of the prefix workload under single participation is known: sens² = Σ c_j², squared error
// Σ (T-j) c_j² (A C⁻¹ = C).
func TestLossOfSquareRoot(t *testing.T) {
	const steps = 20
	p, err := strategy.SquareRoot(steps, steps)
	if err != nil {
		t.Fatal(err)
	}
	var sens, squared float64
	for j := range steps { // c_j = binom(2j, j)/4^j
		cj := math.Exp(lgamma(2*j+1) - 2*lgamma(j+1) - float64(j)*math.Log(4))
		sens += cj * cj
		squared += float64(steps-j) * cj * cj
	}
	q, err := Evaluate(p, Mean(prefixGram(steps)), schema(t, 1, steps))
	if err != nil || math.Abs(q.Sensitivity.Squared-sens) > 1e-12 || math.Abs(q.SquaredError-squared) > 1e-11 {
		t.Errorf("%+v, want sens² %v and squared error %v (%v)", q, sens, squared, err)
	}
	// banded, under (k,b) with w ≤ b bands: columns of one pattern are orthogonal
	banded, err := strategy.SquareRoot(steps, 5)
	if err != nil {
		t.Fatal(err)
	}
	sens = 0
	for _, v := range banded.Series() {
		sens += 4 * v * v
	}
	q, err = Evaluate(banded, Mean(prefixGram(steps)), schema(t, 4, 5))
	if err != nil || math.Abs(q.Sensitivity.Squared-sens) > 1e-12 {
		t.Errorf("banded: sens² %v, want %v (%v)", q.Sensitivity.Squared, sens, err)
	}
}

func lgamma(n int) float64 { v, _ := math.Lgamma(float64(n)); return v }

// The objective is the logarithm of the loss by definition, and its gradient the derivative.
func TestToeplitzObjective(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		h := randomGram(t, s.Steps())
		bands := rapid.IntRange(1, s.Steps()).Draw(t, "bands")
		scaled := rapid.Bool().Draw(t, "scaled")
		f := freeSeries{bands: bands}
		plain, columns := newSeriesObjective(newGramResponse(h), f, newPatternSums(s), s.Steps()), newColumnsObjective(h, s, f)
		o, dimension := optim.Objective(plain), f.dimension()
		c, d := plain.c, []float64(nil)
		if scaled {
			o, dimension = columns, dimension+s.Steps()
			c, d = columns.c, columns.d
		}
		rng := random(t)
		x := make([]float64, dimension)
		for i := range x {
			x[i] = rng.NormFloat64() / float64(2+i%bands)
		}
		value := o.Value(x)
		p, err := strategy.NewToeplitz(s.Steps(), c, d)
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

// The result is not worse than the closed forms it may start from, not better than the dense certified optimum allows,
// and column scales only help.
func TestToeplitzOptimize(t *testing.T) {
	for _, k := range []int{1, 3} {
		s := schema(t, k, 24/k)
		h := prefixGram(24)
		best, err := Dense{}.Optimize(context.Background(), Mean(h), s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		banded, err := strategy.SquareRoot(24, s.Separation())
		if err != nil {
			t.Fatal(err)
		}
		closed, err := Evaluate(banded, Mean(h), s)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := Toeplitz{Bandwidth: s.Separation()}.Optimize(context.Background(), Mean(h), s, Options{})
		if err != nil || plain.Loss > closed.Loss || plain.Loss < best.LowerBound || plain.Sensitivity.Squared > 1 {
			t.Errorf("k = %d: loss %v, closed form %v, bound %v (%v)", k, plain.Loss, closed.Loss, best.LowerBound, err)
		}
		free, err := Toeplitz{Bandwidth: s.Steps()}.Optimize(context.Background(), Mean(h), s, Options{})
		if err != nil || free.Loss > plain.Loss*(1+1e-9) || free.Loss < best.LowerBound {
			t.Errorf("k = %d: free %v, banded %v (%v)", k, free.Loss, plain.Loss, err)
		}
		scaled, err := Toeplitz{Bandwidth: s.Separation(), ScaleColumns: true}.Optimize(context.Background(), Mean(h), s, Options{})
		if err != nil || scaled.Loss > plain.Loss*(1+1e-9) || scaled.Loss < best.LowerBound {
			t.Errorf("k = %d: scaled %v, plain %v (%v)", k, scaled.Loss, plain.Loss, err)
		}
		diagonal, err := Toeplitz{Bandwidth: 1, ScaleColumns: true}.Optimize(context.Background(), Mean(h), s, Options{})
		one, err2 := Banded{Bandwidth: 1}.Optimize(context.Background(), Mean(h), s, Options{Gap: 1e-9})
		if err != nil || err2 != nil || math.Abs(diagonal.Loss/one.Loss-1) > 1e-8 {
			t.Errorf("k = %d: one scaled coefficient %v, one band %v (%v, %v)", k, diagonal.Loss, one.Loss, err, err2)
		}
	}
}
