package workload

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
	"mafalda/internal/dense"
	"mafalda/internal/fault"
	"mafalda/internal/lists"
)

// drawCurvature draws some directions, unstable ones, too: a Gram matrix has them all.
func drawCurvature(t *rapid.T) Curvature {
	return lists.Make(rapid.IntRange(1, 3).Draw(t, "directions"), func(int) Direction {
		return Direction{rapid.Float64Range(0, 0.5).Draw(t, "x"), rapid.Float64Range(0.1, 3).Draw(t, "weight")}
	})
}

// stableCurvature draws a curvature under which errors do not grow: halved until they do not.
func stableCurvature(t *rapid.T, s Spec, w *graph.CSR, steps int) Curvature {
	c := drawCurvature(t)
	for c.Check(s, w, steps) != nil {
		for i := range c {
			if c[i].X /= 2; c[i].X < 1e-6 {
				c[i].X = 0
			}
		}
	}
	return c
}

func TestCurvedGramIsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, steps := rapid.IntRange(1, 5).Draw(t, "n"), rapid.IntRange(1, 8).Draw(t, "T")
		s := drawSpec(t, steps)
		w := randomGossip(t, n, rapid.Bool().Draw(t, "symmetric"))
		if rapid.Bool().Draw(t, "uniform gossip") {
			w = uniformGossip(t, n)
		}
		c := stableCurvature(t, s, w, steps)
		want, err := explicitGramsOfNodes(networksOf(t, s, w), steps, s, c)
		if err != nil {
			t.Fatal(err)
		}
		k, err := NewKernel(t.Context(), w, steps, Options{Spec: s, Curvature: c})
		if err != nil {
			t.Fatal(err)
		}
		sum := mat.NewSymDense(steps, nil)
		for _, h := range want {
			sum.AddSym(sum, h)
		}
		if d := largestDifference(k.Gram(), sum); d > tolerance {
			t.Fatalf("fast and explicit Gram matrices differ by %g", d)
		}
		if s.Kind == Prefix {
			return
		}
		err = NodeGrams(t.Context(), w, steps, Options{Spec: s, Curvature: c}, func(i int, h *mat.SymDense) error {
			if d := largestDifference(h, want[i]); d > tolerance {
				t.Fatalf("node %d differs by %g", i, d)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if !k.HasSteps() {
			return
		}
		y := dense.NewSym(steps, func(i, j int) float64 { return math.Exp(-float64(i-j)*float64(i-j)) / float64(1+i+j) })
		if got, want := floats.Sum(k.StepErrors(y)), product(sum, y); math.Abs(got-want) > 1e-10*math.Abs(want) {
			t.Fatalf("errors of the steps sum up to %v, not %v", got, want)
		}
	})
}

// Noise that nodes share: H(M) and K(Y) are of one bilinear form, and of all nodes' own noise H.
func TestCurvedSpaceTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, steps := rapid.IntRange(1, 5).Draw(t, "n"), rapid.IntRange(1, 7).Draw(t, "T")
		s := drawSpec(t, steps)
		if s.Kind == Prefix { // which has no nodes
			s.Kind = Model
		}
		w := randomGossip(t, n, false)
		c := stableCurvature(t, s, w, steps)
		of, err := NewSpaceTime(w, steps, Options{Spec: s, Curvature: c})
		if err != nil {
			t.Fatal(err)
		}
		m := dense.NewSym(n, func(i, j int) float64 { return math.Exp(-math.Abs(float64(i - j))) })
		y := dense.NewSym(steps, func(i, j int) float64 { return math.Exp(-math.Abs(float64(i-j)) / 2) })
		h, err := of.TimeGram(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		k, err := of.SpaceGram(t.Context(), y)
		if errors.As(err, new(*fault.Argument)) && (s.Momentum > 0 || s.GradientTracking) && !s.evenly() {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, want := product(k, m), product(h, y); math.Abs(got-want) > 1e-10*math.Abs(want) {
			t.Fatalf("⟨K(Y), M⟩ = %v, ⟨H(M), Y⟩ = %v", got, want)
		}
	})
}

func product(a, b mat.Symmetric) (sum float64) {
	n := a.SymmetricDim()
	for i := range n {
		for j := range n {
			sum += a.At(i, j) * b.At(i, j)
		}
	}
	return sum
}

// Networks that change, without momentum: the sum over directions of the definition, for networks that take turns.
func TestCurvedSequenceIsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, steps := rapid.IntRange(1, 4).Draw(t, "n"), rapid.IntRange(1, 7).Draw(t, "T")
		s := drawSpec(t, steps)
		s.Kind, s.Momentum, s.Nesterov, s.GradientTracking = Model, 0, false, false
		s.GraphSequence = drawSequence(t, n)
		c := stableCurvature(t, s, s.GraphSequence.At(0), steps)
		want, err := explicitGram(networksOf(t, s, s.GraphSequence.At(0)), steps, s, c)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Gram(t.Context(), s.GraphSequence.At(0), steps, Options{Spec: s, Curvature: c})
		if err != nil {
			t.Fatal(err)
		}
		if d := largestDifference(got, want); d > 1e-11 {
			t.Fatalf("Gram matrices differ by %g", d)
		}
	})
}

// A curvature of 0 that counts once is no curvature.
func TestNoCurvature(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(1, 9).Draw(t, "T")
		s := Spec{Kind: drawKind(t), Weights: drawWeights(t, steps)}
		w := randomGossip(t, 4, rapid.Bool().Draw(t, "symmetric"))
		var of [2]*mat.SymDense
		for i, c := range []Curvature{nil, {{0, 1}}} {
			var err error
			if of[i], err = Gram(t.Context(), w, steps, Options{Spec: s, Curvature: c}); err != nil {
				t.Fatal(err)
			}
		}
		if !mat.Equal(of[0], of[1]) {
			t.Fatalf("differ by %g", maxRelativeDifference(of[0], of[1]))
		}
	})
}

// The cycle of 12 nodes with momentum 0.9 is stable at x = 0.39 and not at 0.41: (1 + a)(1 - β)/a with -a = -1/3, its
// least eigenvalue.
func TestStability(t *testing.T) {
	cycle := cycle(12)
	for _, tc := range []struct {
		name string
		spec Spec
		x    float64
		ok   bool
	}{
		{"momentum", Spec{Optimizer: Optimizer{Momentum: 0.9}}, 0.399, true},
		{"too much for momentum", Spec{Optimizer: Optimizer{Momentum: 0.9}}, 0.401, false},
		{"plain", Spec{}, 1.99, true},
		{"too much", Spec{}, 2.01, false},
		{"decay", Spec{Optimizer: Optimizer{WeightDecay: 0.1}}, 1.89, true},
		{"too much with decay", Spec{Optimizer: Optimizer{WeightDecay: 0.1}}, 1.91, false},
		{"tracking", Spec{Optimizer: Optimizer{GradientTracking: true}}, 0.1, true},
		{"too much for tracking", Spec{Optimizer: Optimizer{GradientTracking: true}}, 1.5, false},
		{"rates", Spec{Optimizer: Optimizer{LearningRates: ListedRates([]float64{1.2, 0.5, 1, 0.1})}}, 1.9, true},
		{"rates that grow", Spec{Optimizer: Optimizer{LearningRates: ListedRates([]float64{1, 2, 2, 2})}}, 1.9, false},
	} {
		err := Curvature{{tc.x, 1}}.Check(tc.spec, cycle, 4)
		if (err == nil) != tc.ok {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	for name, c := range map[string]Curvature{"negative": {{-1, 1}}, "no number": {{math.NaN(), 1}}, "nothing counts": {{0, 0}}} {
		if c.Check(Spec{}, cycle, 4) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// What Check calls stable dies down, and what it refuses does not: by running it for long.
func TestStabilityIsDecay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawInvariant(t, 1)
		s.Kind, s.Weights = Model, Weights{}
		w := uniformGossip(t, rapid.IntRange(1, 5).Draw(t, "n"))
		x := rapid.Float64Range(0.05, 3).Draw(t, "x")
		n, _ := w.Dims()
		const steps = 4000
		var early, late float64
		r := rule{s, x}
		state := r.begin(steps, n, 1)
		for tau := range steps {
			impulses := make([]float64, n)
			if tau == 0 {
				for i := range impulses {
					impulses[i] = float64(i + 1)
				}
			}
			r.step(state, impulses, constantNetwork(w), func(models []float64) {
				size := floats.Norm(models, 2)
				if tau < steps/2 {
					early = math.Max(early, size)
				} else {
					late = math.Max(late, size)
				}
			})
		}
		stable := Curvature{{x, 1}}.Check(s, w, 1) == nil
		if grows := !(late < 1e3*early); stable == grows && !(late > 1e-3*early) {
			t.Fatalf("stable: %v, but from %v to %v", stable, early, late)
		}
		if stable && !(late < 10*early) {
			t.Fatalf("called stable, but from %v to %v", early, late)
		}
	})
}

// A probe of every sign has the Gram matrix for its mean, with feedback, momentum and networks that are given.
func TestCurvedSampledIsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, steps := rapid.IntRange(1, 4).Draw(t, "n"), rapid.IntRange(1, 6).Draw(t, "T")
		s := drawSpec(t, steps)
		s.Kind = Model
		s.GraphSequence = drawSequence(t, n)
		if s.GradientTracking {
			s.Momentum, s.Nesterov = 0, false
		}
		w := s.GraphSequence.At(0)
		c := stableCurvature(t, s, w, steps)
		want, err := explicitGram(networksOf(t, s, w), steps, s, c)
		if err != nil {
			t.Fatal(err)
		}
		p := &probing{Spec: s, steps: steps, curvature: c, reacts: true}
		p.weights, _ = s.Weights.Vector(steps)
		sum := mat.NewSymDense(steps, nil)
		for signs := range 1 << n {
			z := lists.Make(n, func(i int) float64 { return float64(2*(signs>>i&1) - 1) })
			for _, d := range c {
				h, networks := mat.NewSymDense(steps, nil), networksOf(t, s, w)
				p.apart = p.separates(networks)
				if err := p.respond(t.Context(), h, networks, z, nil, d.X, func(int) {}); err != nil {
					t.Fatal(err)
				}
				h.ScaleSym(d.Weight/float64(int(1)<<n), h)
				sum.AddSym(sum, h)
			}
		}
		if d := largestDifference(sum, want); d > 1e-11 {
			t.Fatalf("the mean of all signs differs by %g", d)
		}
	})
}

// The response has the squared error of Toeplitz strategies as the Gram matrix has it, with its derivative, and the
// impulses of a network are below it.
func TestCurvedResponse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(1, 12).Draw(t, "T")
		s := Spec{Optimizer: Optimizer{WeightDecay: rapid.SampledFrom([]float64{0, 0.1}).Draw(t, "decay"),
			GossipRounds: rapid.IntRange(1, 2).Draw(t, "rounds")}}
		w := uniformGossip(t, rapid.IntRange(1, 6).Draw(t, "n"))
		c := stableCurvature(t, s, w, steps)
		pi, _ := graph.DetailedBalance(w)
		r, ok, err := ExactResponse(w, pi, s, c, steps)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		h, err := Gram(t.Context(), w, steps, Options{Spec: s, Curvature: c})
		if err != nil {
			t.Fatal(err)
		}
		rs := lists.Make(steps, func(i int) float64 { return float64(rapid.IntRange(-8, 8).Draw(t, "r")) / 8 })
		rs[0] = 1
		y := dense.NewSym(steps, func(i, j int) float64 { // RRᵀ, R[t,s] = r[t-s]
			var sum float64
			for m := range min(i, j) + 1 {
				sum += rs[i-m] * rs[j-m]
			}
			return sum
		})
		grad := make([]float64, steps)
		got, want := r.Error(grad, rs), product(h, y)
		if math.Abs(got-want) > 1e-10*math.Abs(want) {
			t.Fatalf("squared error %v, by the Gram matrix %v", got, want)
		}
		if e := floats.Dot(grad, rs); math.Abs(e-2*got) > 1e-10*got { // homogeneous of degree 2
			t.Fatalf("derivative %v along r, error %v", e, got)
		}
		impulses, err := r.Impulses()
		if err != nil {
			t.Fatal(err)
		}
		var below float64
		for _, one := range impulses {
			for t := range steps {
				for s := range t + 1 {
					var v float64
					for m := s; m <= t; m++ {
						v += one[t-m] * rs[m-s]
					}
					below += v * v
				}
			}
		}
		if !(below <= want*(1+1e-9) && below >= want*(1-1e-6)) {
			t.Fatalf("squared error %v, by impulses %v", want, below)
		}
	})
}

// uniformGossip draws a connected graph and returns D⁻¹(A + I).
func uniformGossip(t *rapid.T, n int) *graph.CSR {
	d := mat.NewDense(n, n, nil)
	for i := range n {
		d.Set(i, i, 1)
		for j := range i {
			if j == i-1 || rapid.Bool().Draw(t, "edge") {
				d.Set(i, j, 1)
				d.Set(j, i, 1)
			}
		}
	}
	for i := range n {
		row := d.RawRowView(i)
		floats.Scale(1/floats.Sum(row), row)
	}
	return graph.NewCSRFromDense(d)
}
