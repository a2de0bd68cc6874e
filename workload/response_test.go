package workload

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
)

// toeplitzError is tr(RᵀHR) for the Toeplitz matrix R of r.
func toeplitzError(h *mat.SymDense, r []float64) float64 {
	steps := len(r)
	m := mat.NewDense(steps, steps, nil)
	for t := range steps {
		for s := range t + 1 {
			m.Set(t, s, r[t-s])
		}
	}
	var hm, product mat.Dense
	hm.Mul(h, m)
	product.Mul(m.T(), &hm)
	return mat.Trace(&product)
}

// A response gives the squared error that the Gram matrix gives, and its derivative.
func TestResponseIsGram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(1, 40).Draw(t, "T")
		if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
			steps = rowsAtOnce + 3
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		r := make([]float64, steps)
		for i := range r {
			r[i] = rng.NormFloat64() * math.Pow(0.8, float64(i))
		}
		var response *Response
		var h *mat.SymDense
		if rapid.IntRange(0, 4).Draw(t, "prefix") == 0 {
			s := drawInvariant(t, steps).Centralized()
			var err error
			if response, err = CentralizedResponse(s, nil, steps); err != nil {
				t.Fatal(err)
			}
			if h, err = Gram(context.Background(), nil, steps, Options{Spec: s}); err != nil {
				t.Fatal(err)
			}
		} else {
			w, pi := reversible(t)
			s := drawInvariant(t, steps)
			var err error
			if h, err = Gram(context.Background(), w, steps, Options{Spec: s}); err != nil {
				t.Fatal(err)
			}
			exact, ok, err := ExactResponse(w, pi, s, nil, steps)
			if err != nil {
				t.Fatal(err)
			}
			if !ok || !HasExactResponse(w, pi) {
				t.Fatal("no exact response in detailed balance")
			}
			if response = exact; rapid.Bool().Draw(t, "sketch") {
				if response, err = everything(t, w, pi, s).Response(steps); err != nil {
					t.Fatal(err)
				}
			}
		}
		grad := make([]float64, steps)
		got, want := response.Error(grad, r), toeplitzError(h, r)
		if math.Abs(got-want) > 1e-10*want || got != response.Error(nil, r) {
			t.Fatalf("error %v, must be %v", got, want)
		}
		checkColumns(t, response, h, r)
		at := rng.IntN(steps)
		const step = 1e-4
		r[at] += step
		up := toeplitzError(h, r)
		r[at] -= 2 * step
		slope := (up - toeplitzError(h, r)) / (2 * step) // exact for a quadratic form
		if math.Abs(grad[at]-slope) > 1e-6*(math.Abs(slope)+want) {
			t.Fatalf("derivative %d is %v, must be %v", at, grad[at], slope)
		}
	})
}

// seriesError returns the error of r by a response.
func seriesError(r []float64) func(*Response) (float64, error) {
	return func(x *Response) (float64, error) { return x.Error(nil, r), nil }
}

// checkColumns compares the error of scaled columns with what the Gram matrix gives; where steps have weights there is
// none.
func checkColumns(t *rapid.T, response *Response, h *mat.SymDense, r []float64) {
	steps := len(r)
	q, err := response.Columns(r, 3)
	if !response.spec.CountsAll() {
		if err == nil {
			t.Fatal("scaled columns with weights of steps")
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	e := mat.NewVecDense(3, []float64{1, -0.7, 0.4})
	m := mat.NewDense(steps, steps, nil)
	for s := range steps {
		u := float64(s) / float64(steps)
		for j := range s + 1 {
			m.Set(s, j, (1-0.7*u+0.4*u*u)*r[s-j])
		}
	}
	var hm, product mat.Dense
	hm.Mul(h, m)
	product.Mul(m.T(), &hm)
	if got, want := mat.Inner(e, q, e), mat.Trace(&product); math.Abs(got-want) > 1e-9*want {
		t.Fatalf("error %v with scaled columns, must be %v", got, want)
	}
}

// A sketch's response is its kernel's Gram matrix.
func TestSketchResponse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, pi := reversible(t)
		steps := rapid.IntRange(1, 30).Draw(t, "T")
		s, err := NewSketch(context.Background(), w, pi, Options{Spec: drawInvariant(t, steps), Probes: 4, LanczosSteps: 4,
			Seed: rapid.Uint64().Draw(t, "seed")})
		if err != nil {
			t.Fatal(err)
		}
		response, err := s.Response(steps)
		if err != nil {
			t.Fatal(err)
		}
		r := make([]float64, steps)
		r[0] = 1
		for i := 1; i < steps; i++ {
			r[i] = -0.5 * r[i-1]
		}
		got, want := response.Error(nil, r), toeplitzError(s.Kernel(steps).Gram(), r)
		if math.Abs(got-want) > 1e-10*want {
			t.Fatalf("error %v, must be %v", got, want)
		}
		standard, truncation, err := s.LossError(context.Background(), steps, seriesError(r))
		if err != nil || !(standard >= 0) || !(truncation >= 0) || standard > 10 {
			t.Fatalf("errors %v and %v, %v", standard, truncation, err)
		}
	})
}

// A reduced response is good enough for a search: an error of 2e-4 in the objective moves the optimum's loss by its
// square.
func TestReducedResponse(t *testing.T) {
	steps := 700
	if testing.Short() {
		steps = 300
	}
	for _, spec := range []string{"barabasi:400,3", "cycle:300", "grid:15x20", "star:200"} {
		g, _, err := graph.ByName(spec, graph.BuiltinOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, scheme := range []graph.Scheme{graph.Uniform, graph.Metropolis} {
			w, err := graph.NewGossip(g, scheme)
			if err != nil {
				t.Fatal(err)
			}
			pi, _ := w.Stationary()
			s, err := NewSketch(context.Background(), w.Matrix(), pi, Options{Probes: 6, LanczosSteps: 30})
			if err != nil {
				t.Fatal(err)
			}
			whole, err := s.Response(steps)
			if err != nil {
				t.Fatal(err)
			}
			if exact, ok, err := ExactResponse(w.Matrix(), pi, Spec{}, nil, steps); err != nil {
				t.Fatal(err)
			} else if ok {
				whole = exact
			}
			reduced, err := whole.Reduced()
			if err != nil {
				t.Fatal(err)
			}
			modes := 0
			for _, g := range reduced.groups {
				modes += len(g.theta)
			}
			if modes > reducedModes {
				t.Errorf("%s: %d modes", spec, modes)
			}
			for _, decay := range []float64{0, 0.5, 0.99} {
				r := make([]float64, steps)
				r[0] = 1
				for i := 1; i < steps; i++ {
					r[i] = -(1 - decay) * math.Pow(decay, float64(i-1)) * 0.9
				}
				a, b := whole.Error(nil, r), reduced.Error(nil, r)
				if math.Abs(a-b) > 2e-4*a {
					t.Errorf("%s %v, decay %v: error %v, reduced %v", spec, scheme, decay, a, b)
				}
			}
		}
	}
}
