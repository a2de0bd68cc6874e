package simulate

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/factorize"
	_ "mafalda/internal/seeded"
	"mafalda/strategy"
	"mafalda/workload"
)

// optimum returns the optimal strategy of a run, with or without its network.
func optimum(t testing.TB, c Config, prefix bool) strategy.Strategy {
	h, err := workload.Gram(context.Background(), c.Gossip, c.Schema.Steps(), workload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if prefix {
		h = workload.PrefixGram(c.Schema.Steps())
	}
	r, err := factorize.Dense{}.Optimize(context.Background(), factorize.Mean(h), c.Schema, factorize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Strategy
}

// Noise is C⁻¹Z, of any width, wider than what is multiplied at once.
func TestNoiseIsCInverseZ(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(1, 12).Draw(t, "T")
		d := rapid.SampledFrom([]int{1, 5, columns, columns + 3}).Draw(t, "d")
		seed := rapid.Uint64().Draw(t, "seed")
		s := drawStrategy(steps, rand.New(rand.NewPCG(seed, 1)))
		c := correlation(t, 1, Shared(s), cyclic(t, steps, 1, steps))
		got := make([]float32, steps*d)
		c.noiseTo(got, 0, 2, seed)
		z, r := mat.NewDense(steps, d, nil), random(seed, forNoise, 0)
		for i := range z.RawMatrix().Data {
			z.RawMatrix().Data[i] = 2 * r.NormFloat64()
		}
		var noising mat.TriDense
		if err := s.NoisingTo(&noising); err != nil {
			t.Fatal(err)
		}
		var want mat.Dense
		want.Mul(&noising, z)
		for i, v := range want.RawMatrix().Data {
			if scale := 10 * mat.Norm(&noising, math.Inf(1)); math.Abs(float64(got[i])-v) > 1e-6*scale {
				t.Fatalf("number %d is %v, must be %v", i, got[i], v)
			}
		}
	})
}

// Independent noise has the standard deviation clip·√k/(μ·m), of all nodes alike, and nodes and seeds have noise of their own.
func TestNoiseLevel(t *testing.T) {
	c := florentine(t, 40, 10, 4)
	noise := &Noise{Correlation: correlation(t, 15, Shared(strategy.Identity(40)), c.Schema), Mu: 0.5}
	const clip, m, d = 2., 13, 3000
	want := clip * math.Sqrt(10) / (0.5 * m)
	for u := range 15 {
		if std, err := noise.std(u, m, clip); err != nil || math.Abs(std-want) > 1e-12 || std < want {
			t.Fatalf("std of node %d is %v, %v; must be %v", u, std, err, want)
		}
	}
	a, b := make([]float32, 40*d), make([]float32, 40*d)
	noise.Correlation.noiseTo(a, 0, want, 1)
	noise.Correlation.noiseTo(b, 1, want, 1)
	var product float64
	for i, v := range a {
		product += float64(v) * float64(b[i])
	}
	n := float64(len(a)) // variance and correlation are off by √(2/n) and √(1/n): five times that here
	if v := squaredNorm(a) / n / (want * want); math.Abs(v-1) > 5*math.Sqrt(2/n) {
		t.Errorf("variance is %v of what it must be", v)
	}
	if v := product / n / (want * want); math.Abs(v) > 5/math.Sqrt(n) {
		t.Errorf("two nodes are correlated by %v", v)
	}
}

func TestCorrelationShares(t *testing.T) {
	schema := cyclic(t, 6, 2, 3)
	a, b := drawStrategy(6, rand.New(rand.NewPCG(1, 1))), drawStrategy(6, rand.New(rand.NewPCG(2, 1)))
	c := correlation(t, 5, func(u int) strategy.Strategy { return []strategy.Strategy{a, b}[u%2] }, schema)
	if len(c.layers) != 2 || c.schema != schema {
		t.Errorf("%d layers for two strategies under %v", len(c.layers), c.schema)
	}
	for u := range 5 {
		sens, err := strategy.Sensitivity([]strategy.Strategy{a, b}[u%2], schema)
		if got := c.Sensitivity(u); err != nil || got < math.Sqrt(sens.Squared) || got > math.Sqrt(sens.Squared)*(1+1e-15) {
			t.Errorf("sensitivity of node %d is %v, must be √%v, %v", u, got, sens.Squared, err)
		}
	}
}
