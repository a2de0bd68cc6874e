package factorize

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/internal/lists"
	"mafalda/internal/series"
	"mafalda/participation"
	"mafalda/strategy"
)

// definedResponse is the response by the definition: tr(RᵀHR) = rᵀGr with G[p,q] = Σ_j H[j+p,j+q].
type definedResponse struct {
	g *mat.SymDense
	h mat.Symmetric
}

func newDefinedResponse(h mat.Symmetric) definedResponse {
	n := h.SymmetricDim()
	g := mat.NewSymDense(n, nil)
	for p := range n {
		for q := p; q < n; q++ {
			var sum float64
			for j := range n - q {
				sum += h.At(j+p, j+q)
			}
			g.SetSym(p, q, sum)
		}
	}
	return definedResponse{g, h}
}

func (g definedResponse) Error(grad, r []float64) float64 {
	x := mat.NewVecDense(len(r), r)
	var gx mat.VecDense
	gx.MulVec(g.g, x)
	for i := range grad {
		grad[i] = 2 * gx.AtVec(i)
	}
	return mat.Dot(x, &gx)
}

// Columns is eᵀQe by the definition, for unit vectors e and their sums.
func (g definedResponse) Columns(r []float64, size int) (*mat.SymDense, error) {
	steps := len(r)
	scaled := func(m int) *mat.Dense { // diag((t/T)^m)·T(r)
		x := mat.NewDense(steps, steps, nil)
		for t := range steps {
			for s := range t + 1 {
				x.Set(t, s, math.Pow(float64(t)/float64(steps), float64(m))*r[t-s])
			}
		}
		return x
	}
	q := mat.NewSymDense(size, nil)
	for m := range size {
		for n := m; n < size; n++ {
			var hx, xhx mat.Dense
			hx.Mul(g.h, scaled(n))
			xhx.Mul(scaled(m).T(), &hx)
			q.SetSym(m, n, mat.Trace(&xhx))
		}
	}
	return q, nil
}

// responsesOf cuts H from its end: the last steps are a shorter run.
func responsesOf(h *mat.SymDense) Responses {
	return func(steps int, _ bool) (Response, error) {
		n := h.SymmetricDim()
		return newDefinedResponse(h.SliceSym(n-steps, n)), nil
	}
}

// overlapping draws cyclic schemas with T = kb and not.
func overlapping(t *rapid.T) participation.Cyclic {
	steps := rapid.IntRange(1, 40).Draw(t, "T")
	b := rapid.IntRange(1, steps).Draw(t, "b")
	s, err := participation.NewCyclic(steps, rapid.IntRange(1, (steps-1)/b+1).Draw(t, "k"), b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What a long strategy costs is what the dense formula says; and 1/c is the inverse of c.
func TestEvaluateLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := overlapping(t)
		h := randomGram(t, s.Steps())
		rng := random(t)
		w := rapid.IntRange(1, min(4, s.Steps())).Draw(t, "w")
		few := []float64{1}
		for range w - 1 {
			few = append(few, 0.6*rng.NormFloat64()/float64(w))
		}
		section := strategy.Section{P: 0.5 * rng.Float64(), Q: 0.2 * rng.Float64(), A: rng.Float64(),
			B: 0.3 * rng.Float64()}
		for _, c := range []strategy.Strategy{must(strategy.NewToeplitz(s.Steps(), few, nil)),
			must(strategy.NewBandedInverse(s.Steps(), few)),
			must(strategy.NewBLT(s.Steps(), 2, []strategy.Section{section, {A: 0.7, P: 0.2}})),
			strategy.Identity(s.Steps()), strategy.AntiPGD(s.Steps()), scaledComb(s.Steps(), section)} {
			want, err := Evaluate(c, Mean(h), s)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Evaluate(c, Long(responsesOf(h)), s)
			if err != nil || math.Abs(got.Loss-want.Loss) > 1e-10*want.Loss || math.Abs(got.SquaredError-want.SquaredError) > 1e-10*want.SquaredError {
				t.Fatalf("%T: %+v, must be %+v, %v", c, got, want, err)
			}
			inverse, e, _ := strategy.ResponseOf(c)
			if e != nil {
				checkGramColumns(t, c, h)
				continue
			}
			coefficients := c.(*strategy.Toeplitz).Series()
			for i, v := range series.Invert(coefficients, s.Steps()) {
				if math.Abs(v-inverse[i]) > 1e-9*(1+math.Abs(v)) {
					t.Fatalf("%T: coefficient %d of the inverse is %v, must be %v", c, i, inverse[i], v)
				}
			}
		}
	})
}

// scaledComb is a comb with scaled columns, or the identity of a single step.
func scaledComb(steps int, section strategy.Section) strategy.Strategy {
	if steps < 3 {
		return strategy.Identity(steps)
	}
	return must(must(strategy.NewComb(steps, 2, []strategy.Section{section}, steps/2, strategy.Teeth{P: 0.5, A: -0.2})).WithColumns(
		strategy.Polynomial{1, -0.8, 0.5}))
}

// checkGramColumns compares the quadratic form of a Gram matrix with the definition.
func checkGramColumns(t *rapid.T, c strategy.Strategy, h *mat.SymDense) {
	inverse, e, _ := strategy.ResponseOf(c)
	fast := gramColumns(h, inverse, len(e))
	want, _ := newDefinedResponse(h).Columns(inverse, len(e))
	if !mat.EqualApprox(fast, want, 1e-10*mat.Max(want)) {
		t.Fatalf("%v, must be %v", mat.Formatted(fast), mat.Formatted(want))
	}
}

func TestLongGradients(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := overlapping(t)
		if s.Steps() < 6 {
			return
		}
		buffers := rapid.IntRange(1, 5).Draw(t, "buffers")
		bands := min(4, s.Steps())
		dimensions := []int{2*buffers + 2, 2 * buffers, bands - 1, bands - 1}
		for i, f := range []family{combSeries{rationalSeries{buffers}, 3}, rationalSeries{buffers}, freeSeries{bands: bands},
			freeSeries{bands: bands, inverse: true}} {
			response, _ := responsesOf(randomGram(t, s.Steps()))(s.Steps(), true)
			o := newSeriesObjective(response, f, &cyclicSum{schema: s}, s.Steps())
			rng := random(t)
			x := make([]float64, dimensions[i])
			for i := range x {
				x[i] = 0.5 * rng.NormFloat64()
			}
			value := o.Value(x)
			if math.IsInf(value, 1) {
				continue
			}
			g := make([]float64, len(x))
			o.GradientTo(g)
			for i := range x {
				const h = 1e-6
				x[i] += h
				after := o.Value(x) - value
				x[i] -= 2 * h
				before := value - o.Value(x)
				x[i] += h
				slope, kink := (after+before)/(2*h), math.Abs(after-before)/h // where another pattern is the worst
				if kink < 1e-4*(1+math.Abs(slope)) && math.Abs(slope-g[i]) > 1e-4*(1+math.Abs(slope)) {
					t.Fatalf("%T: derivative %d is %v, must be %v", f, i, g[i], slope)
				}
			}
		}
	})
}

// Optimizing without matrices ends where optimizing with them does, or lower.
func TestLongOptimaAreTheDenseOnes(t *testing.T) {
	ctx := context.Background()
	s, err := participation.NewCyclic(96, 6, 16)
	if err != nil {
		t.Fatal(err)
	}
	h := prefixLike(96)
	responses := responsesOf(h)
	for _, c := range []Class{BLT{Buffers: 3}, Toeplitz{Bandwidth: 16}, Toeplitz{Bandwidth: 32}, BandedInverse{Bandwidth: 4}, Comb{Buffers: 2},
		Comb{Buffers: 2, ScaleColumns: true}} {
		want, err := c.Optimize(ctx, Mean(h), s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Optimize(ctx, Long(responses), s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Loss > want.Loss*1.003 || got.Sensitivity.Squared > 1 {
			t.Errorf("%s: loss %v (sens² %v), with matrices %v", c.Name(), got.Loss, got.Sensitivity.Squared, want.Loss)
		}
	}
}

// prefixLike is the Gram matrix of centralized learning, and a little of every single step.
func prefixLike(steps int) *mat.SymDense {
	h := mat.NewSymDense(steps, nil)
	for s := range steps {
		for t := s; t < steps; t++ {
			h.SetSym(s, t, float64(steps-t))
		}
		h.SetSym(s, s, 3*float64(steps-s))
	}
	return h
}

// A strategy whose coefficients leave the range of numbers has no sensitivity, least of all a small one.
func TestLongSensitivityOfNoNumbers(t *testing.T) {
	s, err := participation.NewCyclic(strategy.LongSteps+4, 2, strategy.LongSteps/2+2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []strategy.Strategy{must(strategy.NewBandedInverse(s.Steps(), []float64{1, -3})),
		must(strategy.NewBandedInverse(s.Steps(), []float64{1, 3})),
		must(strategy.NewToeplitz(s.Steps(), []float64{1, 1}, nil)).Scaled(math.NaN())} {
		if got, err := strategy.Sensitivity(c, s); err == nil {
			t.Errorf("%T: %+v", c, got)
		}
		if _, err := strategy.Normalize(c, s); err == nil {
			t.Errorf("%T was normalized", c)
		}
	}
}

func must[S strategy.Strategy](c S, err error) S {
	if err != nil {
		panic(err)
	}
	return c
}

func TestHorizons(t *testing.T) {
	for _, tc := range []struct{ steps, k, b, count int }{{100, 10, 10, 1}, {100000, 100, 1000, 3}, {8192, 8, 1024, 2}, {1 << 20, 1, 1 << 20, 1}} {
		s, err := participation.NewCyclic(tc.steps, tc.k, tc.b)
		if err != nil {
			t.Fatal(err)
		}
		all, err := horizons(s, 1)
		steps := lists.Map(all, participation.Cyclic.Steps)
		if err != nil || len(all) != tc.count || !slices.IsSorted(steps) || steps[len(all)-1] != tc.steps {
			t.Errorf("%v: %v", s, all)
		}
	}
	narrow, err := participation.NewCyclic(10000, 100, 100)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := horizons(narrow, 1001); err != nil || all[0].Steps() < 1001 || len(all) != 2 {
		t.Errorf("for 1001 coefficients: %v", all)
	}
	s, err := participation.NewMinSep(8192, 8, 1024)
	if err != nil {
		t.Fatal(err)
	}
	_, err = BLT{Buffers: 2}.Optimize(context.Background(), Long(responsesOf(prefixLike(4))), s, Options{})
	if !errors.Is(err, ErrUnsupported) {
		t.Errorf("min-sep: %v", err)
	}
}
