package measure

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/workload"
)

// The kernel of several networks is the weighted sum of theirs, and no strategy that is best for some mixture has a worst
// ratio below what any mixture proves.
func TestFamilyBound(t *testing.T) {
	schema, err := participation.NewCyclic(8, 2, 4)
	if err != nil {
		t.Fatal(err)
	}
	on := Source{Workload: workload.Spec{Kind: workload.Model}}
	for i, name := range []string{"florentine", "cycle:5", "star:7"} {
		n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: name})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			on.Network = n
		} else {
			on.Others = append(on.Others, n)
		}
	}
	family, reached, err := on.Family(t.Context(), factorize.Dense{}, schema, 1e-6)
	if err != nil || len(family.Grams) != 3 {
		t.Fatal(len(family.Grams), err)
	}
	bounds, worst, rng := []float64{}, []float64{}, rand.New(rand.NewPCG(1, 2))
	for range 10 {
		on.Mixture = []float64{rng.Float64(), rng.Float64(), rng.Float64()}
		k, _, err := on.Kernel(t.Context(), 8)
		if err != nil {
			t.Fatal(err)
		}
		sum := mat.NewSymDense(8, nil)
		for i, h := range family.Grams {
			var part mat.SymDense
			part.ScaleSym(on.Mixture[i], h)
			sum.AddSym(sum, &part)
		}
		if !mat.EqualApprox(sum, k.Gram(), 1e-12) {
			t.Fatalf("mixture %v has another Gram matrix", on.Mixture)
		}
		r, err := (factorize.Dense{}).Optimize(t.Context(), factorize.Mean(k.Gram()), schema, factorize.Options{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := DescribeFamily(r.Strategy, schema, family, on.Mixture, reached, r.LowerBound)
		if err != nil {
			t.Fatal(err)
		}
		bounds, worst = append(bounds, d.Bound), append(worst, slices.Max(d.Ratios))
	}
	if most := slices.Max(bounds); most > slices.Min(worst) || most < 1 {
		t.Errorf("bounds %v, worst ratios %v", bounds, worst)
	}
}
