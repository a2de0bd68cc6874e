package workload

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
)

// recursionError is Σ_l (T-l)‖F_l‖² with F_l = W·F_{l-1} + r_l·W^e, by matrices of n×n.
func recursionError(w *graph.CSR, kind Kind, r []float64) float64 {
	gossip := w.ToDense()
	n, _ := gossip.Dims()
	first := identity(n)
	if kind == Model {
		first = mat.DenseCopyOf(gossip)
	}
	var total float64
	f := mat.NewDense(n, n, nil)
	for l, v := range r {
		var next, input mat.Dense
		next.Mul(gossip, f)
		input.Scale(v, first)
		f.Add(&next, &input)
		norm := mat.Norm(f, 2)
		total += float64(len(r)-l) * norm * norm
	}
	return total
}

// Over more steps than there is room for matrices, uneven small networks have exact errors, too, which estimates from
// random vectors missed by two percent.
func TestExactResponseOfManySteps(t *testing.T) {
	const steps = rowsAtOnce*blocksAtOnce*2 + 77
	rng := rand.New(rand.NewPCG(3, 4))
	r := make([]float64, steps)
	r[0] = 1
	for i := 1; i < steps; i++ {
		r[i] = -0.02*math.Pow(0.98, float64(i)) + 1e-4*rng.NormFloat64()
	}
	dying := make([]float64, steps) // through subnormal numbers to 0
	for i := range dying {
		dying[i] = math.Pow(-0.5, float64(i))
	}
	for _, spec := range []string{"florentine", "path:5"} {
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
			for _, kind := range []Kind{Model, Message} {
				exact, ok, err := ExactResponse(w.Matrix(), pi, Spec{Kind: kind}, nil, steps)
				if err != nil || !ok {
					t.Fatal(err, ok)
				}
				series := [][]float64{r}
				if spec == "path:5" && kind == Model {
					series = append(series, dying)
				}
				for _, r := range series {
					want := recursionError(w.Matrix(), kind, r)
					if got := exact.Error(nil, r); math.Abs(got-want) > 1e-10*want {
						t.Errorf("%s %v %v: error %v, must be %v", spec, scheme, kind, got, want)
					}
				}
				if got := exact.Error(make([]float64, steps), r); got != exact.Error(nil, r) {
					t.Errorf("%s %v %v: error %v with a derivative, %v without",
						spec, scheme, kind, got, exact.Error(nil, r))
				}
			}
		}
	}
}

// Without detailed balance there is none.
func TestExactResponseNeedsBalance(t *testing.T) {
	w := graph.NewCSR(3, 3, []int{0, 2, 4, 6}, []int{0, 1, 1, 2, 0, 2}, []float64{0.5, 0.5, 0.5, 0.5, 0.5, 0.5})
	if _, ok, err := ExactResponse(w, nil, Spec{}, nil, 5); ok || err != nil {
		t.Errorf("without a distribution: %v, %v", ok, err)
	}
	if _, ok, err := ExactResponse(w, []float64{1. / 3, 1. / 3, 1. / 3}, Spec{}, nil, 5); ok || err != nil {
		t.Errorf("a circle: %v, %v", ok, err)
	}
}
