package factorize

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/strategy"
)

// Of many steps a dual point proves less than by all eigenvalues, nearly as much for workloads like its own, and never
// more: not of singular ones either.
func TestDualOfManySteps(t *testing.T) {
	const steps = 144
	s, h := schema(t, 4, steps/4), prefixLike(steps)
	r, err := Dense{}.Optimize(context.Background(), Mean(h), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDual(h, strategy.GramOf(r.Strategy), s)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	ofRank := func(rank int) *mat.SymDense {
		f := mat.NewDense(steps, rank, nil)
		for i := range steps {
			for j := range rank {
				f.Set(i, j, rnd.NormFloat64())
			}
		}
		m := mat.NewSymDense(steps, nil)
		m.SymOuterK(1, f)
		return m
	}
	near := mat.NewSymDense(steps, nil)
	near.AddSym(h, ofRank(3))
	scaled := mat.NewSymDense(steps, nil)
	scaled.ScaleSym(1e-9, h)
	for name, tc := range map[string]struct {
		h     *mat.SymDense
		least float64 // of the bound, relative to that by eigenvalues
	}{"its own": {h, 0.999}, "scaled": {scaled, 0.999}, "near": {near, 0.9}, "another": {ofRank(steps), 0.5},
		"of rank one": {ofRank(1), 0}, "zero": {mat.NewSymDense(steps, nil), 0}} {
		var eigen mat.EigenSym
		if !eigen.Factorize(d.product(tc.h), false) {
			t.Fatal("no eigenvalues")
		}
		var nuclear float64
		for _, v := range eigen.Values(nil) {
			nuclear += math.Sqrt(math.Max(v, 0))
		}
		want := nuclear * nuclear / d.total
		got, err := d.LowerBound(tc.h)
		if err != nil || got > want || got < tc.least*want {
			t.Errorf("%s: bound %v, by eigenvalues %v (%v)", name, got, want, err)
		}
	}
	if got, err := d.LowerBound(h); err != nil || got > r.Loss || got < 0.99*r.Loss {
		t.Errorf("bound %v of the loss %v (%v)", got, r.Loss, err)
	}
}
