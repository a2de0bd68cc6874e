package factorize

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/optim"
	"mafalda/strategy"
)

// randomBanded draws a well-conditioned banded C.
func randomBanded(t *rapid.T, steps, bands int) *strategy.Banded {
	var lower mat.TriDense
	randomStrategy(t, steps).StrategyTo(&lower)
	c := mat.DenseCopyOf(&lower)
	for i := range steps {
		for j := 0; j+bands <= i; j++ {
			c.Set(i, j, 0)
		}
	}
	b, err := strategy.NewBanded(c, bands)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The banded optimum converges to its certificate; it lies between the dense optimum and any banded strategy; it is the
// dense optimum with T bands, and better with more bands.
func TestBandedOptimize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		bands := rapid.IntRange(1, s.Steps()).Draw(t, "bands")
		h := randomGram(t, s.Steps())
		opts := Options{Gap: 1e-8}
		r, err := Banded{Bandwidth: bands}.Optimize(context.Background(), Mean(h), s, opts)
		if err != nil || r.Status != optim.Converged {
			t.Fatalf("%+v, %v", r, err)
		}
		best, err := Dense{}.Optimize(context.Background(), Mean(h), s, opts)
		if err != nil {
			t.Fatal(err)
		}
		if !(r.ClassBound > 0) || r.Loss < best.LowerBound || (bands == s.Steps() && r.Loss > best.Loss*(1+2e-8)) {
			t.Fatalf("loss %v with %d bands, dense [%v, %v]", r.Loss, bands, best.LowerBound, best.Loss)
		}
		if loss := lossByDefinition(r.Strategy, h, s.Patterns()); math.Abs(loss-r.Loss) > 1e-10*loss {
			t.Fatalf("loss %v, by definition %v", r.Loss, loss)
		}
		for range 3 {
			other, err := Evaluate(randomBanded(t, s.Steps(), bands), Mean(h), s)
			if err != nil || other.Loss < r.ClassBound {
				t.Fatalf("a random strategy has the loss %v, below the bound %v (%v)", other.Loss, r.ClassBound, err)
			}
		}
		if bands > 1 {
			narrower, err := Banded{Bandwidth: bands - 1}.Optimize(context.Background(), Mean(h), s, opts)
			if err != nil || narrower.Loss < r.ClassBound {
				t.Fatalf("%d bands: %v, %d bands: %v (%v)", bands, r.Loss, bands-1, narrower.Loss, err)
			}
		}
	})
}

// The bound must stay a bound far from the optimum, for every X with the band's zeros.
func TestBandedBoundFarFromOptimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		bands := rapid.IntRange(1, s.Steps()).Draw(t, "bands")
		h := randomGram(t, s.Steps())
		k := newMask(s, bands)
		o, root := objectiveOf(t, h, k)
		x := mat.DenseCopyOf(strategy.GramOf(randomBanded(t, s.Steps(), bands))).RawMatrix().Data
		if math.IsInf(o.Value(x), 0) {
			t.Fatal("X is not positive definite")
		}
		o.GradientTo(make([]float64, len(x)))
		fast, _, err := o.bound(x)
		if err != nil {
			t.Fatal(err)
		}
		slow, err := singularValueBound(root, o.lambda, k, o.scratch)
		if err != nil {
			t.Fatal(err)
		}
		other, err := Evaluate(randomBanded(t, s.Steps(), bands), Mean(h), s)
		if err != nil || fast > slow*(1+1e-9) || slow > other.Loss {
			t.Fatalf("bounds %v and %v, loss of a strategy %v (%v)", fast, slow, other.Loss, err)
		}
	})
}

func TestBandedRefuses(t *testing.T) {
	for _, bands := range []int{-2, -1, 5} {
		_, err := Banded{Bandwidth: bands}.Optimize(context.Background(), Mean(prefixGram(4)), schema(t, 1, 4), Options{})
		if err == nil {
			t.Errorf("%d bands of four steps accepted", bands)
		}
	}
}
