package factorize

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/strategy"
)

func TestEvaluateIsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		h := randomGram(t, s.Steps())
		c := randomStrategy(t, s.Steps())
		got, err := Evaluate(c, Mean(h), s)
		if err != nil {
			t.Fatal(err)
		}
		if want := lossByDefinition(c, h, s.Patterns()); math.Abs(got.Loss-want) > 1e-9*want {
			t.Fatalf("loss %v, by definition %v", got.Loss, want)
		}
		normalized, err := strategy.Normalize(c, s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Evaluate(normalized, Mean(h), s)
		if err != nil {
			t.Fatal(err)
		}
		if again.Sensitivity.Squared > 1 || again.Sensitivity.Squared < 1-1e-12 || math.Abs(again.Loss-got.Loss) > 1e-9*got.Loss {
			t.Fatalf("normalized: sens² %v, loss %v; before %v", again.Sensitivity.Squared, again.Loss, got.Loss)
		}
	})
}

// Baselines on the prefix workload, where everything is a sum of small integers.
func TestBaselinesOnPrefix(t *testing.T) {
	const steps = 12
	s := schema(t, 3, 4)
	independent, err := Evaluate(strategy.Identity(steps), Mean(prefixGram(steps)), s)
	if err != nil || independent.Sensitivity.Squared != 3 || independent.SquaredError != steps*(steps+1)/2 {
		t.Errorf("identity: %+v, %v", independent, err)
	}
	// A C⁻¹ = I: every step has one unit of noise. sens² = Σ_{s,t} 12 - max(s,t) over {0,4,8} = 12 + 8 + 4 + 2·(8 + 4 + 4).
	antipgd, err := Evaluate(strategy.AntiPGD(steps), Mean(prefixGram(steps)), s)
	if err != nil || antipgd.Sensitivity.Squared != 56 || math.Abs(antipgd.SquaredError-steps) > 1e-12 {
		t.Errorf("AntiPGD: %+v, %v", antipgd, err)
	}
	if r := (Quality{Loss: 50}).RMSE(2, 4); r != 2.5 {
		t.Errorf("RMSE = %v", r)
	}
}

func TestEvaluateErrors(t *testing.T) {
	if _, err := Evaluate(strategy.Identity(3), Mean(prefixGram(4)), schema(t, 1, 3)); err == nil {
		t.Error("three steps on a Gram matrix of four")
	}
	tiny, err := strategy.NewDense(mat.NewTriDense(1, mat.Lower, []float64{1e-200}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := strategy.Normalize(tiny, schema(t, 1, 1)); err == nil {
		t.Error("a strategy whose square underflows was normalized")
	}
}
