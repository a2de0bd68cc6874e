package factorize_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
	"mafalda/participation"
	"mafalda/strategy"
)

// semidefinite returns a random T×T Gram matrix of that rank.
func semidefinite(rng *rand.Rand, steps, rank int) *mat.SymDense {
	a := mat.NewDense(rank, steps, nil)
	for i := range rank {
		for j := range steps {
			a.Set(i, j, rng.NormFloat64())
		}
	}
	var h mat.SymDense
	h.SymOuterK(1, a.T())
	return &h
}

// The noise of some steps costs nothing: the search still ends at a certified gap, and no strategy, the search's own
// included, is below the bound, nor below that which is made again from the strategy.
func TestSingularGram(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	schema, err := participation.NewCyclic(8, 2, 4)
	if err != nil {
		t.Fatal(err)
	}
	for _, rank := range []int{1, 3, 7} {
		h := semidefinite(rng, 8, rank)
		for _, class := range []factorize.Class{factorize.Dense{}, factorize.Banded{Bandwidth: 3}} {
			r, err := class.Optimize(t.Context(), factorize.Mean(h), schema, factorize.Options{Gap: 2e-2})
			if err != nil {
				t.Fatal(err)
			}
			bound := max(r.LowerBound, r.ClassBound)
			if !(r.Gap <= 2e-2) || !(bound <= r.Loss) || !(bound >= r.Loss/1.021) {
				t.Errorf("rank %d, %s: loss %v, bound %v, gap %v", rank, class.Name(), r.Loss, bound, r.Gap)
			}
			again, err := factorize.LowerBound(h, strategy.GramOf(r.Strategy), schema)
			if err != nil || !(again <= r.Loss) {
				t.Errorf("rank %d, %s: again %v, %v", rank, class.Name(), again, err)
			}
			for range 200 {
				q, err := factorize.Evaluate(nearby(rng, r.Strategy), factorize.Mean(h), schema)
				if err != nil {
					t.Fatal(err)
				}
				if bound := math.Max(again, r.LowerBound); class.Name() == "dense" && q.Loss < bound*(1-1e-12) {
					t.Fatalf("rank %d: a strategy of loss %v is below the bound %v", rank, q.Loss, bound)
				}
			}
		}
	}
}

// nearby returns a strategy that differs a little from s.
func nearby(rng *rand.Rand, s strategy.Strategy) strategy.Strategy {
	x := strategy.GramOf(s)
	n := x.SymmetricDim()
	scale := math.Pow(10, -4*rng.Float64())
	d := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			d.Set(i, j, scale*rng.NormFloat64())
		}
		d.Set(i, i, 1+d.At(i, i))
	}
	var dx mat.Dense
	dx.Product(d.T(), x, d)
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			sym.SetSym(i, j, dx.At(i, j))
		}
	}
	c, err := strategy.FromGram(sym)
	if err != nil {
		panic(err)
	}
	return c
}

func TestIndefiniteGram(t *testing.T) {
	h := mat.NewSymDense(2, []float64{1, 2, 2, 1})
	schema, err := participation.NewCyclic(2, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (factorize.Dense{}).Optimize(t.Context(), factorize.Mean(h), schema,
		factorize.Options{}); !errors.Is(err, factorize.ErrGram) {
		t.Errorf("%v, want ErrGram", err)
	}
	if _, err := factorize.LowerBound(h, mat.NewSymDense(2, []float64{1, 0, 0, 1}), schema); !errors.Is(err,
		factorize.ErrGram) {
		t.Errorf("bound: %v, want ErrGram", err)
	}
}
