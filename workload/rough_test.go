package workload

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
)

// What few Lanczos steps cost is not more than is said, where chance has no part.
func TestFewStepsAreSaid(t *testing.T) {
	const steps = 200
	for _, spec := range []string{"cycle:40", "path:40", "grid:5x8", "barabasi:40,2", "star:40"} {
		g, _, err := graph.ByName(spec, graph.BuiltinOptions{Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, scheme := range []graph.Scheme{graph.Uniform, graph.Metropolis} {
			w, err := graph.NewGossip(g, scheme)
			if err != nil {
				t.Fatal(err)
			}
			pi, _ := w.Stationary()
			exact, ok, err := ExactResponse(w.Matrix(), pi, Spec{}, nil, steps)
			if err != nil || !ok {
				t.Fatal(err, ok)
			}
			for _, m := range []int{2, 3, 6, 12} {
				s, err := NewSketch(context.Background(), w.Matrix(), pi, Options{Probes: 40, LanczosSteps: m})
				if err != nil {
					t.Fatal(err)
				}
				whole, err := s.Response(steps)
				if err != nil {
					t.Fatal(err)
				}
				for _, decay := range []float64{1, 0.5, 0.97} {
					r := make([]float64, steps)
					r[0] = 1
					for i := 1; i < steps; i++ {
						r[i] = -0.9 * (1 - decay) * math.Pow(decay, float64(i-1))
					}
					standard, said, err := s.LossError(context.Background(), steps, seriesError(r))
					if err != nil || standard != 0 {
						t.Fatal(standard, err)
					}
					estimate := whole.Error(nil, r)
					missed := math.Abs(estimate-exact.Error(nil, r)) / estimate
					if missed > said+1e-10 {
						t.Errorf("%s %v, %d Lanczos steps, decay %v: the error is %v, said to be %v",
							spec, scheme, m, decay, missed, said)
					}
				}
			}
		}
	}
}

// A pinned run has the ends of the spectrum for eigenvalues.
func TestPinned(t *testing.T) {
	r := &run{alpha: []float64{0.3, -0.2, 0.1, 0.4}, beta: []float64{0.5, 0.3, 0.4, 0.1}, scale: 1}
	m := len(r.alpha)
	p := r.pinSpectrum()
	tri := mat.NewSymDense(m, nil)
	for i := range m {
		tri.SetSym(i, i, p.alpha[i])
		if i+1 < m {
			tri.SetSym(i, i+1, p.beta[i])
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(tri, false) {
		t.Fatal("no eigenvalues")
	}
	if v := eigen.Values(nil); math.Abs(v[0]+1) > 1e-11 || math.Abs(v[m-1]-1) > 1e-11 {
		t.Errorf("eigenvalues %v", v)
	}
	if r.alpha[m-1] != 0.4 || r.beta[m-2] != 0.4 {
		t.Error("the run itself was changed")
	}
}
