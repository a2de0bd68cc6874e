package factorize

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// curvatureOf is -∇²D by its definition: the blocks of S W Sᵀ, W[i,j] = (SᵀAS)[i,j]/(d_i + d_j).
func curvatureOf(n *dualSearch, p *dualPoint, direction []float64) []float64 {
	a, s := mat.NewDense(n.steps, n.steps, nil), mat.NewDense(n.steps, n.steps, p.s)
	n.unknowns(func(pattern []int, at int) {
		next := at + 1
		for r, i := range pattern {
			a.Set(i, i, direction[at])
			for _, j := range pattern[:r] {
				a.Set(i, j, direction[next])
				a.Set(j, i, direction[next])
				next++
			}
		}
	})
	var w, out mat.Dense
	w.Product(s.T(), a, s)
	w.Apply(func(i, j int, v float64) float64 { return v / (p.d[i] + p.d[j]) }, &w)
	out.Product(s, &w, s.T())
	blocks := make([]float64, n.size)
	n.unknowns(func(pattern []int, at int) {
		next := at + 1
		for r, i := range pattern {
			blocks[at] += out.At(i, i)
			for _, j := range pattern[:r] {
				blocks[next] = 2 * out.At(i, j)
				next++
			}
		}
	})
	return blocks
}

// In single precision it is the same, at any scale of the direction.
func TestDualCurvature(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, tc := range []struct{ steps, k, b int }{{1, 1, 1}, {5, 5, 1}, {11, 3, 4}, {48, 4, 12}} {
		n := dualOfSteps(t, momentumGram(t, tc.steps), tc.k, tc.b)
		p, ok := n.evaluate(definiteUnknowns(rng, n))
		if !ok {
			t.Fatal("Λ is not positive definite")
		}
		c := newDualCurvature(n, &p)
		for _, scale := range []float64{1, 1e-30, 1e30, 0} {
			direction := make([]float64, n.size)
			for i := range direction {
				direction[i] = scale * rng.NormFloat64()
			}
			got, want := c.hessianTimes(direction), curvatureOf(n, &p, direction)
			floats.Sub(got, want)
			if floats.Norm(got, 2) > 1e-5*floats.Norm(want, 2) {
				t.Errorf("T = %d, scale %v: off by %v of %v", tc.steps, scale, floats.Norm(got, 2), floats.Norm(want, 2))
			}
		}
	}
}
