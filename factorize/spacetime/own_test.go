package spacetime

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/secrets"
)

// A node whose noise costs next to nothing and whom all trust may have any own variance: the more it has, the less the
// others lose of what they share with it.
func TestOwnVarianceIsWhatPays(t *testing.T) {
	const leaves, small = 20, 1e-4
	var pairs []secrets.Pair
	for v := range leaves {
		pairs = append(pairs, secrets.Pair{U: 0, V: v + 1})
	}
	g, err := secrets.NewGraph(leaves+1, pairs)
	if err != nil {
		t.Fatal(err)
	}
	a, err := secrets.Colluding(leaves+1, 0)
	if err != nil {
		t.Fatal(err)
	}
	u := mat.NewVecDense(leaves+1, nil) // K = uuᵀ
	for i := range leaves + 1 {
		u.SetVec(i, 1)
	}
	u.SetVec(0, small)
	k := mat.NewSymDense(leaves+1, nil)
	k.SymOuterK(1, u)
	s := Setting{Secrets: g, Attackers: a}
	r := space(t, k, s, SpaceOptions{})

	// By hand: own variances of the centre alone.
	x := make([]float64, 2*leaves+1)
	x[0] = math.Sqrt(leaves) / small
	for i := range leaves {
		x[leaves+1+i] = 1
		x[1+i] = 1e-9
	}
	noise := noiseOf(t, s, x)
	noise = noise.Scaled(1 / math.Sqrt(slowLeast(noise, a)))
	if loss := Loss(k, noise); loss < r.LowerBound {
		t.Errorf("a loss of %v is reached; the bound says %v", loss, r.LowerBound)
	} else {
		t.Log(loss, r.LowerBound, r.Loss, r.Gap, r.Iterations, r.Status)
	}
}

// A step that arithmetic makes no number of is none.
func TestNoStepIsNaN(t *testing.T) {
	p := problem(t, "cycle:4", 2, 1)
	k, err := p.Workload.SpaceGram(context.Background(), ones(2))
	if err != nil {
		t.Fatal(err)
	}
	search, err := newSpaceSearch(k, p.Setting, SpaceOptions{Gap: 1e-5})
	if err != nil {
		t.Fatal(err)
	}
	in := search.interior
	w := search.look()
	in.matrix.assemble(in.position, w, make([]float64, len(in.x)))
	in.matrix.factorize()
	pairs := in.pairs(w)
	aim := slices.Repeat([]float64{math.NaN()}, len(pairs.value))
	d := in.solve(w, pairs, aim)
	if in.move(w, pairs, d, math.NaN(), math.NaN()) {
		t.Error("moved")
	}
}
