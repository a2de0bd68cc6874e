package factorize

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/strategy"
)

// The bound from any X is below the loss of any strategy, and equal to the definition up to rounding.
func TestLowerBoundIsABound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		h := randomGram(t, s.Steps())
		x := strategy.GramOf(randomStrategy(t, s.Steps()))
		bound, err := LowerBound(h, x, s)
		if err != nil {
			t.Fatal(err)
		}
		want := boundByDefinition(h, x, s.Patterns())
		if bound > want*(1+1e-9) || bound < want*(1-1e-6) {
			t.Fatalf("bound %v, by definition %v", bound, want)
		}
		other, err := Evaluate(randomStrategy(t, s.Steps()), Mean(h), s)
		if err != nil {
			t.Fatal(err)
		}
		if bound > other.Loss {
			t.Fatalf("bound %v is above the loss %v of a strategy", bound, other.Loss)
		}
		if fast := certificateBound(t, h, x, s.Patterns()); fast > want*(1+1e-9) {
			t.Fatalf("fast certificate %v is above the definition %v", fast, want)
		}
	})
}

// certificateBound is maskedObjective.bound at X.
func certificateBound(t *rapid.T, h, x *mat.SymDense, patterns [][]int) float64 {
	s := schema(t, len(patterns[0]), len(patterns))
	o, _ := objectiveOf(t, h, denseMask(s))
	full := mat.DenseCopyOf(x).RawMatrix().Data
	if math.IsInf(o.Value(full), 0) {
		t.Fatal("X is not positive definite")
	}
	o.GradientTo(make([]float64, len(full)))
	bound, _, err := o.bound(full)
	if err != nil {
		t.Fatal(err)
	}
	return bound
}

// T = 1 and diagonal problems have closed forms that the bound must meet.
func TestLowerBoundAtTheOptimum(t *testing.T) {
	one := mat.NewSymDense(1, []float64{7})
	bound, err := LowerBound(one, mat.NewSymDense(1, []float64{3}), schema(t, 1, 1))
	if err != nil || math.Abs(bound-7) > 1e-10 || bound > 7 {
		t.Errorf("T = 1: %v, %v", bound, err)
	}
	h := mat.NewSymDense(2, []float64{4, 0, 0, 9}) // b = 1: (√4 + √9)²
	x := mat.NewSymDense(2, []float64{2, 0, 0, 3})
	bound, err = LowerBound(h, x, schema(t, 2, 1))
	if err != nil || math.Abs(bound-25) > 1e-9 || bound > 25 {
		t.Errorf("diagonal: %v, %v", bound, err)
	}
}

func TestLowerBoundErrors(t *testing.T) {
	indefinite := mat.NewSymDense(2, []float64{1, 2, 2, 1})
	good := prefixGram(2)
	if _, err := LowerBound(indefinite, good, schema(t, 1, 2)); err == nil {
		t.Error("indefinite H accepted")
	}
	if _, err := LowerBound(good, indefinite, schema(t, 1, 2)); err == nil {
		t.Error("indefinite X accepted")
	}
	if _, err := LowerBound(good, good, schema(t, 1, 3)); err == nil {
		t.Error("wrong size accepted")
	}
}

// A block that is not positive definite by rounding is shrunk, and its factor stays a factor of a unit-diagonal matrix.
func TestFactorOfIndefiniteBlock(t *testing.T) {
	for _, off := range []float64{1, 1 + 1e-15, 1.5} {
		var f mat.TriDense
		factorOf(mat.NewSymDense(2, []float64{1, off, off, 1})).LTo(&f)
		var product mat.Dense
		product.Mul(&f, f.T())
		if math.Abs(product.At(0, 0)-1) > 1e-12 || math.Abs(product.At(1, 1)-1) > 1e-12 || math.Abs(product.At(0, 1)) > 1 {
			t.Errorf("off-diagonal %v: F Fᵀ = %v", off, mat.Formatted(&product))
		}
	}
}
