package factorize

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/participation"
	"mafalda/strategy"
)

// For white noise X and Λ are the identity; otherwise X is zero at multiples of b, and both are positive definite.
func TestStationaryIsFeasible(t *testing.T) {
	white := mat.NewSymDense(12, nil)
	for i := range 12 {
		white.SetSym(i, i, 16)
	}
	s := newStationary(white, 4)
	for lag := range 12 {
		want := 0.0
		if lag == 0 {
			want = 1
		}
		if math.Abs(s.primal[lag]-want) > 1e-12 || math.Abs(s.dual[lag]-want*s.dual[0]) > 1e-12 {
			t.Errorf("white noise, lag %d: %v and %v", lag, s.primal[lag], s.dual[lag])
		}
	}
	for _, b := range []int{1, 5, 12, 48} {
		s := newStationary(momentumGram(t, 48), b)
		x, lambda := mat.NewSymDense(48, s.gram()), mat.NewSymDense(48, nil)
		for i := range 48 {
			for j := i; j < 48; j++ {
				lambda.SetSym(i, j, s.dual[j-i])
			}
			if i > 0 && i%b == 0 && math.Abs(s.primal[i]) > 1e-12 {
				t.Errorf("b = %d: %v at lag %d", b, s.primal[i], i)
			}
			if i%b != 0 && math.Abs(s.dual[i]) > 1e-12*s.dual[0] {
				t.Errorf("b = %d: Λ has %v at lag %d", b, s.dual[i], i)
			}
		}
		var chol mat.Cholesky
		if !chol.Factorize(x) || !chol.Factorize(lambda) {
			t.Errorf("b = %d: not positive definite", b)
		}
	}
}

// Where to start from is within a third of the optimum for momentum and rates that change.
func TestStationaryIsNearTheOptimum(t *testing.T) {
	const steps = 96
	h := momentumGram(t, steps)
	s, err := participation.NewCyclic(steps, 8, 12)
	if err != nil {
		t.Fatal(err)
	}
	best, err := Dense{}.Optimize(t.Context(), Mean(h), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := dualOfSteps(t, h, 8, 12)
	o := newMaskedObjective(h, mat.NewTriDense(steps, mat.Upper, n.root), denseMask(s))
	if got := o.Value(startFor(h, o)); got > 4./3*best.Loss {
		t.Errorf("starts from %v, the optimum is %v", got, best.Loss)
	}
	if p, ok := n.start(nil); !ok || p.value < best.Loss/2 {
		t.Errorf("the dual starts from %v, the optimum is %v", p.value, best.Loss)
	}
	if best.Iterations > 12 {
		t.Errorf("took %d iterations", best.Iterations)
	}
	x := mat.DenseCopyOf(strategy.GramOf(best.Strategy)).RawMatrix().Data
	o.Value(x)
	o.GradientTo(make([]float64, steps*steps))
	if p, ok := n.start(o.lambda); !ok || p.value < best.Loss*(1-1e-3) {
		t.Errorf("from the optimum the dual starts from %v, the optimum is %v", p.value, best.Loss)
	}
}

// With a single pattern the metric is the inverse of the curvature.
func TestDualMetricOfOnePattern(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	n := dualOfSteps(t, momentumGram(t, 9), 9, 1)
	p, ok := n.evaluate(definiteUnknowns(rng, n))
	if !ok {
		t.Fatal("Λ is not positive definite")
	}
	m := newDualMetric(n, &p)
	direction, got := make([]float64, n.size), make([]float64, n.size)
	for i := range direction {
		direction[i] = rng.NormFloat64()
	}
	m.solveTo(got, curvatureOf(n, &p, direction))
	floats.Sub(got, direction)
	if off := floats.Norm(got, 2); off > 1e-5*floats.Norm(direction, 2) {
		t.Errorf("off by %v of %v", off, floats.Norm(direction, 2))
	}
}

// With several patterns it is symmetric and positive definite.
func TestDualMetricIsMetric(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	n := dualOfSteps(t, momentumGram(t, 11), 3, 4)
	p, ok := n.evaluate(definiteUnknowns(rng, n))
	if !ok {
		t.Fatal("Λ is not positive definite")
	}
	m := newDualMetric(n, &p)
	all := mat.NewDense(n.size, n.size, nil)
	unit := make([]float64, n.size)
	for i := range unit {
		unit[i] = 1
		m.solveTo(all.RawRowView(i), unit)
		unit[i] = 0
	}
	half := mat.NewSymDense(n.size, nil)
	largest := mat.Norm(all, math.Inf(1))
	for i := range n.size {
		for j := i; j < n.size; j++ {
			if math.Abs(all.At(i, j)-all.At(j, i)) > 1e-8*largest {
				t.Fatalf("(%d, %d): %v and %v", i, j, all.At(i, j), all.At(j, i))
			}
			half.SetSym(i, j, (all.At(i, j)+all.At(j, i))/2)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(half, false) || eigen.Values(nil)[0] <= 0 {
		t.Errorf("smallest eigenvalue %v", eigen.Values(nil)[0])
	}
}
