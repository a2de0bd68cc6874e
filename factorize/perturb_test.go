package factorize

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// The optimum for one Gram matrix loses no more under another than Excess says; its loss there is what First says.
func TestPerturbationBoundsExcess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		n := s.Steps()
		h := randomGram(t, n)
		const gap = 1e-9
		best, err := Dense{}.Optimize(context.Background(), Mean(h), s, Options{Gap: math.Max(gap, MinGap(n))})
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPerturber(best.Strategy, h)
		if err != nil {
			t.Fatal(err)
		}
		size := math.Exp(rapid.Float64Range(-8, 0).Draw(t, "log size")) // up to as large as H
		other := randomGram(t, n)
		e := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				e.SetSym(i, j, size*(other.At(i, j)/mat.Trace(other)-h.At(i, j)/mat.Trace(h))*mat.Trace(h))
			}
		}
		var truth mat.SymDense
		truth.AddSym(h, e) // (1-size)·H + size·other: positive definite
		got, err := Evaluate(best.Strategy, Mean(&truth), s)
		if err != nil {
			t.Fatal(err)
		}
		optimum, err := Dense{}.Optimize(context.Background(), Mean(&truth), s, Options{Gap: math.Max(gap, MinGap(n))})
		if err != nil {
			t.Fatal(err)
		}
		by := p.By(e)
		if want := best.Loss * (1 + by.First); math.Abs(got.Loss-want) > 1e-8*want {
			t.Fatalf("loss %v, must be %v", got.Loss, want)
		}
		if excess := got.Loss/optimum.LowerBound - 1; excess > by.Excess()*(1+1e-3)+1e-4*math.Sqrt(gap)+4*gap {
			t.Fatalf("excess %v, bound %v (%+v)", excess, by.Excess(), by)
		}
	})
}
