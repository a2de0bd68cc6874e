package workload

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
)

// The definition: error(M, Y) is Σ_t weights[t]·(what A (Y ⊗ M) Aᵀ has for the nodes of step t), with the explicit
// workload A, whose rows and columns are "time, then node".
func TestSpaceTimeIsTheDefinition(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		w := randomGossip(t, n, rapid.Bool().Draw(t, "symmetric"))
		steps := rapid.IntRange(1, 6).Draw(t, "T")
		spec := drawSpec(t, steps)
		if spec.Kind == Prefix {
			spec.Kind = Message
		}
		m, y := drawCovariance(t, n), drawCovariance(t, steps)
		want := explicitError(t, w, spec, m, y)

		s, err := NewSpaceTime(w, steps, Options{Spec: spec})
		if err != nil {
			t.Fatal(err)
		}
		h, err := s.TimeGram(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		k, err := s.SpaceGram(ctx, y)
		if err != nil {
			t.Fatal(err)
		}
		sum := mat.NewSymDense(steps, nil) // of the columns of L, M = LLᵀ
		var root mat.Cholesky
		root.Factorize(m)
		var lower mat.TriDense
		root.LTo(&lower)
		for j := range n {
			part, err := s.VectorGram(ctx, mat.Col(nil, j, &lower))
			if err != nil {
				t.Fatal(err)
			}
			sum.AddSym(sum, part)
		}
		for name, got := range map[string]float64{"TimeGram": inner(h, y), "SpaceGram": inner(k, m),
			"VectorGram": inner(sum, y)} {
			if math.Abs(got-want) > 1e-10*want+1e-12 {
				t.Fatalf("%s: error %v, want %v", name, got, want)
			}
		}
	})
}

func explicitError(t *rapid.T, w *graph.CSR, spec Spec, m, y *mat.SymDense) float64 {
	return errorOf(t, w, spec, m, y, Absence{}.sent(0, m.SymmetricDim(), y.SymmetricDim()))
}

// Where nodes miss steps the error is expected: the definition is the mean over all ways to miss them, each node for
// itself, of the explicit workload with the rows of noise that are sent.
func TestSpaceTimeOfMissedStepsIsTheDefinition(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "n")
		w := randomGossip(t, n, rapid.Bool().Draw(t, "symmetric"))
		steps := rapid.IntRange(1, 8/n).Draw(t, "T")
		spec := drawSpec(t, steps)
		if spec.Kind == Prefix {
			spec.Kind = Message
		}
		absence := Absence{MissedSteps: rapid.Float64Range(0.01, 0.9).Draw(t, "p"), Carry: rapid.Bool().Draw(t, "carry")}
		m, y := drawCovariance(t, n), drawCovariance(t, steps)
		var want float64
		for missed := range 1 << (n * steps) { // bit u·T + t: node u misses step t
			want += absence.probability(missed, n*steps) * errorOf(t, w, spec, m, y, absence.sent(missed, n, steps))
		}

		spec.Absence = absence
		s, err := NewSpaceTime(w, steps, Options{Spec: spec})
		if err != nil {
			t.Fatal(err)
		}
		k, err := s.TimeKernel(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		of, err := s.SpaceGram(ctx, y)
		if err != nil {
			t.Fatal(err)
		}
		ones := make([]float64, steps)
		for i := range ones {
			ones[i] = 1
		}
		for name, got := range map[string]float64{"TimeGram": inner(k.Gram(), y), "WeightedGram": inner(k.WeightedGram(ones), y),
			"SpaceGram": inner(of, m), "StepErrors": floats.Sum(k.StepErrors(y))} {
			if math.Abs(got-want) > 1e-10*want+1e-12 {
				t.Fatalf("%s: error %v, want %v", name, got, want)
			}
		}
		b, variances, diagonal := make([]float64, n), make([]float64, n), mat.NewSymDense(n, nil)
		for i := range b {
			b[i] = float64(i%3) - 1 // also zeros
			variances[i] = m.At(i, i)
			diagonal.SetSym(i, i, variances[i])
		}
		own, err := s.VarianceKernel(ctx, variances)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := inner(own.Gram(), y), inner(of, diagonal); math.Abs(got-want) > 1e-10*want+1e-12 {
			t.Fatalf("VarianceKernel: error %v, want %v", got, want)
		}
		h, err := s.VectorGram(ctx, b)
		if err != nil {
			t.Fatal(err)
		}
		outer := mat.NewSymDense(n, nil)
		outer.SymOuterK(1, mat.NewVecDense(n, b))
		if got, want := inner(h, y), inner(of, outer); math.Abs(got-want) > 1e-10*math.Abs(want)+1e-10 {
			t.Fatalf("VectorGram: error %v, want %v", got, want)
		}
	})
}

func (a Absence) probability(missed, bits int) float64 {
	p := 1.0
	for bit := range bits {
		if missed>>bit&1 == 1 {
			p *= a.MissedSteps
		} else {
			p *= 1 - a.MissedSteps
		}
	}
	return p
}

// sent returns which rows of noise are sent when: rows and columns are "time, then node".
func (a Absence) sent(missed, n, steps int) *mat.Dense {
	s := mat.NewDense(n*steps, n*steps, nil)
	for u := range n {
		next := -1 // the first step from t on that is not missed
		for t := steps - 1; t >= 0; t-- {
			if missed>>(u*steps+t)&1 == 0 {
				next = t
			}
			if next == t || a.Carry && next >= 0 {
				s.Set(next*n+u, t*n+u, 1)
			}
		}
	}
	return s
}

// errorOf is the error of the definition for noise that is sent as a matrix says.
func errorOf(t *rapid.T, w *graph.CSR, spec Spec, m, y *mat.SymDense, sent *mat.Dense) float64 {
	n, steps := m.SymmetricDim(), y.SymmetricDim()
	networks, err := spec.Networks(w, 1)
	if err != nil {
		t.Fatal(err)
	}
	a, err := explicitWorkload(networks, steps, spec, 0)
	if err != nil {
		t.Fatal(err)
	}
	var both, messages, half, whole mat.Dense
	both.Kronecker(y, m)
	messages.Mul(a, sent)
	half.Mul(&messages, &both)
	whole.Mul(&half, messages.T())
	weights, err := spec.Weights.Vector(steps)
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for row := range n * steps {
		sum += weights[row/n] * whole.At(row, row)
	}
	return sum
}

// H(M) is linear and all of its entries are by the definition, not only what one Y sees of them; H(I) is Gram.
func TestTimeGramOfTheIdentityIsGram(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		w := randomGossip(t, n, rapid.Bool().Draw(t, "symmetric"))
		steps := rapid.IntRange(1, 9).Draw(t, "T")
		s, err := NewSpaceTime(w, steps, Options{})
		if err != nil {
			t.Fatal(err)
		}
		one := mat.NewSymDense(n, nil)
		for i := range n {
			one.SetSym(i, i, 1)
		}
		got, err := s.TimeGram(ctx, one)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Gram(ctx, w, steps, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(got, want, 1e-12) {
			t.Fatalf("H(I) = %v, want %v", mat.Formatted(got), mat.Formatted(want))
		}
	})
}

func TestSpaceTimeRefuses(t *testing.T) {
	w := cycle(4)
	for name, tc := range map[string]struct {
		steps int
		spec  Spec
	}{
		"no steps":        {0, Spec{}},
		"prefix":          {3, Spec{Kind: Prefix}},
		"failures":        {3, Spec{Changes: Changes{NodeFailures: 0.1}}},
		"links that fail": {3, Spec{Changes: Changes{LinkFailures: 0.1}}},
		"random gossip":   {3, Spec{Changes: Changes{RandomNeighbours: 2}}},

		"networks in turn": {3, Spec{Changes: Changes{GraphSequence: &Sequence{}}}},
	} {
		if _, err := NewSpaceTime(w, tc.steps, Options{Spec: tc.spec}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	s, err := NewSpaceTime(w, 3, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.TimeGram(context.Background(), mat.NewSymDense(4, nil)); err == nil {
		t.Error("a covariance of zero: no error")
	}
}

func inner(a, b *mat.SymDense) float64 {
	var product mat.Dense
	product.Mul(a, b)
	return mat.Trace(&product)
}

func drawCovariance(t *rapid.T, n int) *mat.SymDense {
	f := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			f.Set(i, j, rapid.Float64Range(-1, 1).Draw(t, "entry"))
		}
		f.Set(i, i, f.At(i, i)+2)
	}
	m := mat.NewSymDense(n, nil)
	m.SymOuterK(1, f)
	for i := range n {
		m.SetSym(i, i, m.At(i, i)+0.1)
	}
	return m
}
