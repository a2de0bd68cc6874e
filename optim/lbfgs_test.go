package optim

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize/functions"
	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
)

// smooth adapts a function and its gradient.
type smooth struct {
	f    func(x []float64) float64
	grad func(g, x []float64)
	last []float64
}

func (s *smooth) Value(x []float64) float64 {
	s.last = append(s.last[:0], x...)
	return s.f(x)
}
func (s *smooth) GradientTo(g []float64) { s.grad(g, s.last) }

func smallGradient(tol float64) func(Iteration) bool {
	return func(it Iteration) bool { return floats.Norm(it.Gradient, 2) <= tol }
}

func TestKnownMinima(t *testing.T) {
	for name, tc := range map[string]struct {
		f     func([]float64) float64
		grad  func(g, x []float64)
		start []float64
		want  float64
	}{
		"Rosenbrock": {functions.ExtendedRosenbrock{}.Func, functions.ExtendedRosenbrock{}.Grad,
			[]float64{-1.2, 1, -1.2, 1}, 0},
		"Beale": {functions.Beale{}.Func, functions.Beale{}.Grad, []float64{1, 1}, 0},
		"Wood":  {functions.Wood{}.Func, functions.Wood{}.Grad, []float64{-3, -1, -3, -1}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			x := append([]float64(nil), tc.start...)
			res := Minimize(context.Background(), &smooth{f: tc.f, grad: tc.grad}, x,
				Options{Done: smallGradient(1e-8)})
			if res.Status != Converged || math.Abs(res.Value-tc.want) > 1e-12 || tc.f(x) != res.Value {
				t.Errorf("%+v at %v", res, x)
			}
		})
	}
}

// A barrier: f(x) = cᵀx - Σ log x_i is finite for positive x only; its minimum is x_i = 1/c_i. Steps of one leave the
// domain from almost everywhere.
func barrier(c []float64) *smooth {
	return &smooth{
		f: func(x []float64) float64 {
			v := floats.Dot(c, x)
			for _, xi := range x {
				if xi <= 0 {
					return math.Inf(1)
				}
				v -= math.Log(xi)
			}
			return v
		},
		grad: func(g, x []float64) {
			for i, xi := range x {
				g[i] = c[i] - 1/xi
			}
		},
	}
}

func TestStaysInTheDomain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
		c, x := make([]float64, n), make([]float64, n)
		for i := range c {
			c[i], x[i] = math.Exp(rng.NormFloat64()), math.Exp(rng.NormFloat64())
		}
		// Σ (c_i x_i - 1)² is the squared Newton decrement of this self-concordant function, which bounds the error.
		opts := Options{Done: func(it Iteration) bool {
			var decrement float64
			for i, g := range it.Gradient {
				decrement += g * g * it.X[i] * it.X[i]
			}
			return decrement < 1e-8
		}}
		if rapid.Bool().Draw(t, "precondition") { // the inverse Hessian at the minimum
			opts.Precondition = func(dst, g []float64) {
				for i := range g {
					dst[i] = g[i] / (c[i] * c[i])
				}
			}
		}
		res := Minimize(context.Background(), barrier(c), x, opts)
		for i := range x {
			if res.Status != Converged || math.Abs(x[i]*c[i]-1) > 1e-3 {
				t.Fatalf("%+v: x[%d] = %v, want %v", res, i, x[i], 1/c[i])
			}
		}
	})
}

// On a quadratic the exact preconditioner ends in one step.
func TestExactPreconditioner(t *testing.T) {
	h := []float64{1, 100, 1e4, 1e6}
	q := &smooth{
		f: func(x []float64) float64 {
			var v float64
			for i := range x {
				v += h[i] * (x[i] - 1) * (x[i] - 1) / 2
			}
			return v
		},
		grad: func(g, x []float64) {
			for i := range x {
				g[i] = h[i] * (x[i] - 1)
			}
		},
	}
	precondition := func(dst, g []float64) { floats.DivTo(dst, g, h) }
	x := make([]float64, 4)
	res := Minimize(context.Background(), q, x, Options{Precondition: precondition, Done: smallGradient(1e-9)})
	if res.Status != Converged || res.Iterations != 1 {
		t.Errorf("preconditioned: %+v", res)
	}
	x = make([]float64, 4)
	if res = Minimize(context.Background(), q, x, Options{Done: smallGradient(1e-6)}); res.Status != Converged ||
		res.Iterations < 2 {
		t.Errorf("plain: %+v", res)
	}
}

func TestEndings(t *testing.T) {
	c := []float64{1, 2, 3}
	start := func() []float64 { return []float64{9, 9, 9} }
	x := start()
	if res := Minimize(context.Background(), barrier(c), x,
		Options{MaxIterations: 2}); res.Status != IterationLimit || res.Iterations != 2 {
		t.Errorf("limit: %+v", res)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if res := Minimize(ctx, barrier(c), x, Options{}); res.Status != Interrupted {
		t.Errorf("cancelled: %+v", res)
	}
	x = start()
	if res := Minimize(context.Background(), barrier(c), x, Options{}); res.Status != Stalled ||
		math.Abs(x[2]*3-1) > 1e-6 {
		t.Errorf("no stopping rule: %+v at %v", res, x)
	}
	if res := Minimize(context.Background(), barrier(c), []float64{-1, 1, 1}, Options{}); res.Status != Stalled ||
		res.Iterations != 0 {
		t.Errorf("start outside the domain: %+v", res)
	}
}

// The same start gives the same run, bit for bit.
func TestDeterministic(t *testing.T) {
	var values [2]float64
	for i := range values {
		x := []float64{-1.2, 1, 3, 4}
		r := functions.ExtendedRosenbrock{}
		values[i] = Minimize(context.Background(), &smooth{f: r.Func, grad: r.Grad}, x,
			Options{MaxIterations: 17}).Value
	}
	if values[0] != values[1] {
		t.Errorf("two runs ended at %v", values)
	}
}
