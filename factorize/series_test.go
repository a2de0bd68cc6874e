package factorize

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/internal/series"
	"mafalda/strategy"
)

// Every family: c_0 = 1, and the pull is the transposed derivative of seriesTo.
func TestFamilyContract(t *testing.T) {
	for name, make := range map[string]func(size int) family{
		"free":     func(size int) family { return freeSeries{bands: size} },
		"inverse":  func(size int) family { return freeSeries{bands: size, inverse: true} },
		"rational": func(size int) family { return rationalSeries{buffers: size} },
		"comb":     func(size int) family { return combSeries{rationalSeries{size}, 3} },
	} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			size := rapid.IntRange(1, 5).Draw(t, "size")
			f := make(size)
			length := rapid.IntRange(size, 20).Draw(t, "length")
			rng := random(t)
			x, gc, gr := zeros(f.dimension()), zeros(length), zeros(length)
			for i := range x {
				x[i] = rng.NormFloat64() / 2
			}
			for i := range gc {
				gc[i], gr[i] = rng.NormFloat64(), rng.NormFloat64()
			}
			by := [][]float64{slices.Clone(gc), slices.Clone(gr)}
			var last pull
			at := func(y []float64) float64 {
				c, r := zeros(length), zeros(length)
				if last = f.seriesTo(c, r, y); last == nil || c[0] != 1 {
					t.Fatalf("series %v", c)
				}
				for j, want := range series.Invert(c, length) {
					if math.Abs(r[j]-want) > 1e-9*(1+math.Abs(want)) {
						t.Fatalf("1/c has the coefficient %v at %d, not %v", r[j], j, want)
					}
				}
				return floats.Dot(c, by[0]) + floats.Dot(r, by[1])
			}
			value := at(x)
			gradient := zeros(len(x))
			last(gradient, gc, gr)
			for i := range x {
				y := append([]float64(nil), x...)
				const step = 1e-5
				y[i] += step
				forward := at(y)
				y[i] -= 2 * step
				if want := (forward - at(y)) / (2 * step); math.Abs(gradient[i]-want) > 1e-5*(1+math.Abs(want)+math.Abs(value)) {
					t.Fatalf("derivative %d: %v, by differences %v", i, gradient[i], want)
				}
			}
		}))
	}
}

func zeros(n int) []float64 { return make([]float64, n) }

// All poles are within the unit circle, wherever the parameters are.
func TestPolesAreStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rationalSeries{buffers: rapid.IntRange(1, 5).Draw(t, "buffers")}
		rng := random(t)
		x := zeros(f.dimension())
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		p := must(strategy.NewBLT(9, 1.5, f.sectionsOf(x))).Parameters()
		if p.Buffers != f.buffers {
			t.Fatalf("%d poles of %d buffers", p.Buffers, f.buffers)
		}
		for _, pole := range p.Theta {
			if math.Hypot(pole[0], pole[1]) >= 1 {
				t.Fatalf("poles %v", p.Theta)
			}
		}
	})
}

// The optimum of one buffer is not beaten by a scan; more buffers are better; the strategy's pieces agree.
func TestBLTOptimize(t *testing.T) {
	s, h := schema(t, 2, 8), prefixGram(16)
	one, err := BLT{Buffers: 1}.Optimize(context.Background(), Mean(h), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for pole := 0.0; pole < 1; pole += 0.05 {
		for zero := 0.0; zero < 1; zero += 0.05 {
			q, err := Evaluate(must(strategy.NewBLT(16, 1, []strategy.Section{{A: pole, P: zero}})), Mean(h), s)
			if err != nil || q.Loss < one.Loss*(1-1e-9) {
				t.Fatalf("pole %v and zero %v: %v, optimum %v (%v)", pole, zero, q.Loss, one.Loss, err)
			}
		}
	}
	best, err := Dense{}.Optimize(context.Background(), Mean(h), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := one.Loss
	for _, d := range []int{2, 3} {
		r, err := BLT{Buffers: d}.Optimize(context.Background(), Mean(h), s, Options{})
		if err != nil || r.Loss > before*(1+1e-9) || r.Loss < best.LowerBound || r.Sensitivity.Squared > 1 {
			t.Errorf("%d buffers: %v, before %v (%v)", d, r.Loss, before, err)
		}
		before = r.Loss
		var c, inverse mat.TriDense
		var product mat.Dense
		r.Strategy.StrategyTo(&c)
		if err := r.Strategy.NoisingTo(&inverse); err != nil {
			t.Fatal(err)
		}
		product.Mul(&c, &inverse)
		for i := range 16 {
			if math.Abs(product.At(i, i)-1) > 1e-12 {
				t.Errorf("C·C⁻¹ is %v at %d", product.At(i, i), i)
			}
		}
	}
	for _, d := range []int{-1, 16} {
		if _, err := (BLT{Buffers: d}).Optimize(context.Background(), Mean(h), s, Options{}); err == nil {
			t.Errorf("%d buffers of 16 steps accepted", d)
		}
	}
}

func TestBandedInverseOptimize(t *testing.T) {
	s, h := schema(t, 2, 8), prefixGram(16)
	for _, bands := range []int{1, 2, 5, 16} {
		closed, err := strategy.BandedInverseSquareRoot(16, bands)
		if err != nil {
			t.Fatal(err)
		}
		before, err := Evaluate(closed, Mean(h), s)
		if err != nil {
			t.Fatal(err)
		}
		r, err := BandedInverse{Bandwidth: bands}.Optimize(context.Background(), Mean(h), s, Options{})
		if err != nil || r.Loss > before.Loss*(1+1e-9) || r.Sensitivity.Squared > 1 {
			t.Fatalf("%d bands: %+v, closed form %v (%v)", bands, r, before.Loss, err)
		}
		var inverse mat.TriDense
		if err := r.Strategy.NoisingTo(&inverse); err != nil {
			t.Fatal(err)
		}
		for j := bands; j < 16; j++ {
			if math.Abs(inverse.At(j, 0)) > 1e-10 {
				t.Errorf("%d bands: C⁻¹[%d,0] = %v", bands, j, inverse.At(j, 0))
			}
		}
	}
}
