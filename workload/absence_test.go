package workload

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// Rows that are lost or carried, by all ways to be absent; and the errors of single steps are the other way round.
func TestAbsenceIsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, steps := rapid.IntRange(1, 4).Draw(t, "n"), rapid.IntRange(1, 7).Draw(t, "T")
		s := drawSpec(t, steps)
		s.Absence = Absence{MissedSteps: rapid.Float64Range(0.01, 0.95).Draw(t, "p"), Carry: rapid.Bool().Draw(t, "carry")}
		w := randomGossip(t, n, false)
		want, err := explicitGram(networksOf(t, s, w), steps, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		k, err := NewKernel(context.Background(), w, steps, Options{Spec: s})
		if err != nil {
			t.Fatal(err)
		}
		h := k.Gram()
		if d := difference(s, h, want); d > 1e-12 {
			t.Fatalf("Gram matrices differ by %g", d)
		}
		z := randomDense(t, "z", steps, steps)
		y := mat.NewSymDense(steps, nil)
		y.SymOuterK(1, z)
		var product mat.Dense
		product.Mul(h, y)
		var sum float64
		for _, e := range k.StepErrors(y) {
			sum += e
		}
		if total := mat.Trace(&product); math.Abs(sum-total) > 1e-11*(1+total) {
			t.Fatalf("errors add up to %v, not %v", sum, total)
		}
	})
}

// Carrying loses only rows that are never sent, whatever is sent later: with nobody absent it is the same.
func TestCarryAtTheEnd(t *testing.T) {
	h := PrefixGram(3)
	Absence{MissedSteps: 0.5, Carry: true}.gram(h)
	if got := h.At(2, 2); got != 0.5 { // sent in the last step, or not
		t.Errorf("the last row counts %v", got)
	}
	if got := h.At(0, 0); math.Abs(got-(0.5*3+0.25*2+0.125)) > 1e-15 {
		t.Errorf("the first row counts %v", got)
	}
}
