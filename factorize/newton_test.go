package factorize

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/optim"
	"mafalda/participation"
	"mafalda/workload"
)

// unknowns calls visit for every pattern with where its unknowns start.
func (n *dualSearch) unknowns(visit func(pattern []int, at int)) {
	for i, p := range n.patterns {
		visit(p, n.starts[i])
	}
}

// momentumGram is the Gram matrix of centralized training with momentum and cosine rates.
func momentumGram(t testing.TB, steps int) *mat.SymDense {
	t.Helper()
	rates, err := workload.ParseSchedule("warmup-cosine")
	if err != nil {
		t.Fatal(err)
	}
	h, err := workload.Gram(context.Background(), nil, steps, workload.Options{Spec: workload.Spec{Kind: workload.Prefix,
		Optimizer: workload.Optimizer{Momentum: 0.9, LearningRates: rates}}})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func dualOfSteps(t testing.TB, h *mat.SymDense, k, b int) *dualSearch {
	t.Helper()
	s, err := participation.NewCyclic(h.SymmetricDim(), k, b)
	if err != nil {
		t.Fatal(err)
	}
	var root mat.TriDense
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		t.Fatal("H is not positive definite")
	}
	chol.UTo(&root)
	return newDualSearch(newMaskedObjective(h, &root, denseMask(s)))
}

// definiteUnknowns returns the unknowns of a random Λ: blocks with a constant diagonal and small entries beside it.
func definiteUnknowns(rng *rand.Rand, n *dualSearch) []float64 {
	theta := make([]float64, n.size)
	n.unknowns(func(p []int, at int) {
		theta[at] = 1 + rng.Float64()
		for i := range len(p) * (len(p) - 1) / 2 {
			theta[at+1+i] = rng.Float64()/2 - 0.2
		}
	})
	return theta
}

// The value is D's by its definition, at the best multiple of Λ; the gradient and the curvature are its differences.
func TestDualDerivatives(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	n := dualOfSteps(t, momentumGram(t, 11), 3, 4) // the last pattern has two steps
	theta := definiteUnknowns(rng, n)
	p, ok := n.evaluate(theta)
	if !ok {
		t.Fatal("Λ is not positive definite")
	}
	n.point = p
	lambda := mat.NewDense(n.steps, n.steps, n.matrix())
	var product mat.Dense // the square roots of the eigenvalues of HΛ
	product.Mul(mat.NewDense(n.steps, n.steps, n.h), lambda)
	var eigen mat.Eigen
	if !eigen.Factorize(&product, mat.EigenNone) {
		t.Fatal("no eigenvalues")
	}
	var want float64
	for _, v := range eigen.Values(nil) {
		want += 2 * math.Sqrt(math.Max(real(v), 0))
	}
	theta = p.theta
	n.unknowns(func(_ []int, at int) { want -= theta[at] })
	if math.Abs(p.value-want) > 1e-7*math.Abs(want) {
		t.Errorf("D = %v, by its definition %v", p.value, want)
	}
	direction := make([]float64, n.size)
	for i := range direction {
		direction[i] = rng.NormFloat64() / 10
	}
	const step = 1e-5
	shifted := func(by float64) dualPoint { // with the gradient there, not at the best multiple
		other := make([]float64, n.size)
		floats.AddScaledTo(other, theta, by, direction)
		q, ok := n.evaluate(other)
		if !ok {
			t.Fatal("Λ is not positive definite")
		}
		root := math.Sqrt(q.theta[0] / other[0]) // X(cΛ) = X(Λ)/√c
		n.unknowns(func(_ []int, at int) { q.gradient[at]++ })
		floats.Scale(root, q.gradient)
		n.unknowns(func(_ []int, at int) { q.gradient[at]-- })
		return q
	}
	up, down := shifted(step), shifted(-step)
	if got, want := floats.Dot(p.gradient, direction), (up.value-down.value)/(2*step); math.Abs(got-want) >
		1e-6*math.Abs(want) {
		t.Errorf("derivative %v, difference %v", got, want)
	}
	bend := curvatureOf(n, &p, direction)
	for i, v := range bend {
		if want := (down.gradient[i] - up.gradient[i]) / (2 * step); math.Abs(v-want) > 1e-5*floats.Norm(bend, 2) {
			t.Errorf("curvature %d: %v, difference %v", i, v, want)
		}
	}
}

// The way that Newton's step goes starts in its direction, and stays within the domain.
func TestAlongIsRetraction(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	n := dualOfSteps(t, momentumGram(t, 11), 3, 4)
	var ok bool
	if n.point, ok = n.evaluate(definiteUnknowns(rng, n)); !ok {
		t.Fatal("Λ is not positive definite")
	}
	direction := make([]float64, n.size)
	for i := range direction {
		direction[i] = n.point.theta[0] * rng.NormFloat64()
	}
	for _, length := range []float64{1e-6, 1, 1e6} {
		theta, ok := n.stepTo(direction, length)
		if _, _, definite := n.factors(theta); !ok || !definite {
			t.Fatalf("length %v: not positive definite", length)
		}
		if length > 1e-6 {
			continue
		}
		floats.Sub(theta, n.point.theta)
		floats.Scale(1/length, theta)
		floats.Sub(theta, direction)
		if floats.Norm(theta, 2) > 1e-4*floats.Norm(direction, 2) {
			t.Errorf("differs from the direction by %v of %v", floats.Norm(theta, 2), floats.Norm(direction, 2))
		}
	}
}

// Momentum and rates that change: descent alone needs many hundred iterations, or does not get there at all; the dual
// does, to the same optimum, and the bound holds.
func TestSlowDescentGoesOnInTheDual(t *testing.T) {
	h := momentumGram(t, 48)
	for _, kb := range [][2]int{{1, 48}, {4, 12}, {12, 4}} {
		s, err := participation.NewCyclic(48, kb[0], kb[1])
		if err != nil {
			t.Fatal(err)
		}
		counted := 0
		r, err := Dense{}.Optimize(t.Context(), Mean(h), s, Options{Gap: 1e-7, Progress: func(it Iteration) {
			if it.Count < counted || it.X == nil {
				t.Errorf("iteration %d after %d, X %v", it.Count, counted, it.X != nil)
			}
			counted = it.Count
		}})
		if err != nil || r.Status != optim.Converged || r.Iterations > 80 || r.Gap > 1e-7 || r.LowerBound > r.Loss {
			t.Errorf("k = %d: %+v, %v", kb[0], r, err)
			continue
		}
		coarse, err := Banded{Bandwidth: 48}.Optimize(t.Context(), Mean(h), s, Options{Gap: 1e-3})
		if err != nil || coarse.Loss < r.LowerBound || coarse.Bound() > r.Loss {
			t.Errorf("k = %d: %v to %v, and %v to %v by the other search, %v", kb[0], r.LowerBound, r.Loss,
				coarse.Bound(), coarse.Loss, err)
		}
	}
}

// A search whose context ends in the dual ends as any other.
func TestDualIsInterrupted(t *testing.T) {
	h := momentumGram(t, 48)
	s, err := participation.NewCyclic(48, 4, 12)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err := Dense{}.Optimize(ctx, Mean(h), s, Options{Gap: 1e-9, Progress: func(it Iteration) {
		if it.Count == 3 {
			cancel()
		}
	}})
	if err != nil || r.Status != optim.Interrupted || r.LowerBound > r.Loss {
		t.Errorf("%+v, %v", r, err)
	}
}

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
