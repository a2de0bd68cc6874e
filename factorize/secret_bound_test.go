package factorize

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/strategy"
)

// largest is what cells stand for, by the definition: the largest ⟨Γ, X⟩ on each of them.
func (c Cells) largest(t *rapid.T, x *mat.SymDense) float64 {
	var sum float64
	for i, cell := range c.Steps {
		one, err := participation.VectorSensitivity(x, [][]int{cell}, participation.VectorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		sum += c.Weights[i] * one.Squared
	}
	return sum
}

// No strategy has a smaller error than the bound for what it changes itself, whatever the guesses, cells and signs of
// its entries are; and where one kind of cells is a partition, the optimum reaches it.
func TestSecretBoundIsNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(1, 7).Draw(t, "steps")
		h := randomGram(t, steps)
		groups := rapid.IntRange(1, steps).Draw(t, "groups")
		apart := Cells{Guess: strategy.GramOf(randomStrategy(t, steps))}
		var all []int
		for g := range groups {
			var cell []int
			for s := g; s < steps; s += groups {
				cell = append(cell, s)
			}
			apart.Steps = append(apart.Steps, cell)
			apart.Weights = append(apart.Weights, rapid.Float64Range(0.1, 2).Draw(t, "weight"))
		}
		for s := range steps {
			all = append(all, s)
		}
		together := AllTogether(h, [][]int{all}, 0.3)
		bound, err := NewSecretBound(h, apart, together)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			c := randomStrategy(t, steps)
			q, err := Evaluate(c, Mean(h), single(t, steps))
			if err != nil {
				t.Fatal(err)
			}
			x := strategy.GramOf(c)
			first, second := apart.largest(t, x), together.largest(t, x)
			for _, limits := range [][2]float64{{first, second}, {first, math.Inf(1)}, {math.Inf(1), second}} {
				if got := bound.Error(limits[0], limits[1]); got > q.SquaredError*(1+1e-12) {
					t.Fatalf("an error of %v for limits %v, whose bound is %v", q.SquaredError, limits, got)
				}
			}
		}
		if bound.Error(math.Inf(1), math.Inf(1)) != 0 {
			t.Fatal("a bound without a limit")
		}
		best, err := Dense{}.Optimize(context.Background(), Mean(h), full(t, steps), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := bound.Error(math.Inf(1), 0.3); steps > 1 && (got > best.Loss || got < best.Loss*(1-1e-5)) {
			t.Fatalf("the loss of all steps together is %v, the bound %v", best.Loss, got)
		}
	})
}

func single(t *rapid.T, steps int) participation.Schema { return cyclic(t, steps, 1, steps) }
func full(t *rapid.T, steps int) participation.Schema   { return cyclic(t, steps, steps, 1) }

func cyclic(t *rapid.T, steps, k, b int) participation.Schema {
	s, err := participation.NewCyclic(steps, k, b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Gram matrices in which steps do not count have a bound as well.
func TestSecretBoundOfSingularGram(t *testing.T) {
	h := mat.NewSymDense(3, []float64{2, 1, 0, 1, 2, 0, 0, 0, 0})
	guess := mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})
	apart := Cells{Steps: [][]int{{0}, {1}, {2}}, Weights: []float64{1, 1, 1}, Guess: guess}
	b, err := NewSecretBound(h, apart, AllTogether(h, [][]int{{0, 1, 2}}, 1))
	if err != nil {
		t.Fatal(err)
	}
	// (tr H^(1/2))² = (1 + √3)² for changes of the steps apart, whose squares add up to 1
	if got, want := b.Error(1, math.Inf(1)), (1+math.Sqrt(3))*(1+math.Sqrt(3)); got > want || got < want*(1-1e-6) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestSecretBoundRefuses(t *testing.T) {
	h := mat.NewSymDense(2, []float64{1, 0, 0, 1})
	good := Cells{Steps: [][]int{{0}, {1}}, Weights: []float64{1, 1}, Guess: h}
	for name, bad := range map[string]Cells{
		"a step twice":   {Steps: [][]int{{0}, {0}}, Weights: []float64{1, 1}, Guess: h},
		"a step too far": {Steps: [][]int{{2}}, Weights: []float64{1}, Guess: h},
		"no weights":     {Steps: [][]int{{0}}, Guess: h},
	} {
		var argument *fault.Argument
		if _, err := NewSecretBound(h, good, bad); !errors.As(err, &argument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var argument *fault.Argument
	if _, err := NewSecretBound(mat.NewSymDense(SecretSteps+1, nil), good, good); !errors.As(err, &argument) {
		t.Error(err)
	}
}
