package graph

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

func weightedGraph(t *rapid.T, directed bool) *Graph {
	g := drawGraph(t, directed)
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "weights"), 10))
	var edges []Edge
	g.Adjacency().DoNonZero(func(u, v int, _ float64) {
		if directed || u < v {
			edges = append(edges, Edge{u, v, rng.ExpFloat64() + 0.01})
		}
	})
	weighted, err := New(g.Labels(), edges, directed)
	if err != nil {
		t.Fatal(err)
	}
	return weighted
}

// The dense formulas of the package comment.
func gossipByDefinition(g *Graph, s Scheme) *mat.Dense {
	n := g.Nodes()
	a := g.Adjacency().ToDense()
	strength := func(u int) float64 { return mat.Sum(a.RowView(u)) }
	var largest float64
	for u := range n {
		largest = math.Max(largest, strength(u))
	}
	w := mat.NewDense(n, n, nil)
	for u := range n {
		var off float64
		for v := range n {
			if u == v || a.At(u, v) == 0 {
				continue
			}
			pair := math.Max(strength(u), strength(v))
			x := a.At(u, v) / []float64{Uniform: 1 + strength(u), Metropolis: 1 + pair, MaxDegree: pair, Laplacian: largest}[s]
			w.Set(u, v, x)
			off += x
		}
		w.Set(u, u, 1-off)
	}
	return w
}

func TestGossipIsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Scheme(rapid.IntRange(0, len(Schemes())-1).Draw(t, "scheme"))
		directed := s == Uniform && rapid.Bool().Draw(t, "directed")
		g := drawGraph(t, directed)
		if rapid.Bool().Draw(t, "weighted") {
			g = weightedGraph(t, directed)
		}
		w, err := NewGossip(g, s)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(w.Matrix(), gossipByDefinition(g, s), 1e-13) {
			t.Fatalf("%v of %v:\n%v", s, describe(g), mat.Formatted(w.Matrix()))
		}
		if err := errors.Join(w.validate(g.Labels()), w.supportedBy(g)); err != nil {
			t.Fatal(err)
		}
		if s != Uniform && (!w.Symmetric() || !w.DoublyStochastic()) {
			t.Fatalf("%v is not symmetric and doubly stochastic", s)
		}
	})
}

func TestGossipProperties(t *testing.T) {
	w, err := NewGossip(builtin(t, "star:4", 0), Uniform)
	if err != nil || w.Symmetric() || w.DoublyStochastic() {
		t.Errorf("uniform gossip on a star: %v", err)
	}
	pi, ok := w.Stationary()
	if want := []float64{0.4, 0.2, 0.2, 0.2}; !ok || !mat.EqualApprox(mat.NewVecDense(4, pi), mat.NewVecDense(4, want), 1e-15) {
		t.Errorf("stationary distribution %v, want %v", pi, want)
	}
	rotation := mat.NewDense(3, 3, []float64{0.5, 0.5, 0, 0, 0.5, 0.5, 0.5, 0, 0.5})
	if _, ok := (&Gossip{w: NewCSRFromDense(rotation)}).Stationary(); ok {
		t.Error("a rotation is in detailed balance")
	}
	g, err := New(numberLabels(2), []Edge{{0, 1, 1}}, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewGossip(g, Metropolis); !errors.Is(err, ErrDirected) {
		t.Errorf("metropolis on a directed graph: %v", err)
	}
	// node 0 averages over 1, not the other way round
	if w, err := NewGossip(g, Uniform); err != nil || w.Matrix().At(0, 1) != 0.5 || w.Matrix().At(1, 0) != 0 {
		t.Errorf("directed uniform: %v", err)
	}
	if one, err := NewGossip(builtin(t, "complete:1", 0), MaxDegree); err != nil || one.Matrix().At(0, 0) != 1 {
		t.Errorf("one node: %v", err)
	}
}

// No edge and no self-weight disappears, however small its share; what is rounding alone does.
func TestGossipKeepsSmallShares(t *testing.T) {
	for name, tc := range map[string]struct {
		weight float64 // of the edge 0-1; the edge 1-2 has 1
		u, v   int
		want   float64
	}{
		"faint edge":            {1e-17, 0, 1, 1e-17},
		"faint edge, in return": {1e-17, 1, 0, 0.5e-17},
		"heavy edge, self":      {1e18, 0, 0, 1e-18},
		"beside a heavy edge":   {1e18, 1, 2, 1e-18},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := New(numberLabels(3), []Edge{{0, 1, tc.weight}, {1, 2, 1}}, false)
			if err != nil {
				t.Fatal(err)
			}
			w, err := NewGossip(g, Uniform)
			if err != nil || math.Abs(w.Matrix().At(tc.u, tc.v)-tc.want) > 1e-15*tc.want {
				t.Errorf("W[%d,%d] = %v, %v; want %v", tc.u, tc.v, w.Matrix().At(tc.u, tc.v), err, tc.want)
			}
		})
	}
	w, err := NewGossip(builtin(t, "complete:700", 0), MaxDegree) // 699 shares of 1/699 leave nothing
	if err != nil || w.Matrix().NNZ() != 700*699 {
		t.Errorf("max-degree gossip on a complete graph: %d entries, %v", w.Matrix().NNZ(), err)
	}
}

func TestNewGossipRefuses(t *testing.T) {
	path := func(first, second float64) *Graph {
		g, err := New([]string{"a", "b", "c"}, []Edge{{0, 1, first}, {1, 2, second}}, false)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	for name, tc := range map[string]struct {
		g   *Graph
		s   Scheme
		say string
	}{
		"strength overflows": {path(1.5e308, 1.5e308), Uniform, "around node b"},
		"share underflows":   {path(1e-300, 1e300), Metropolis, "around node a"},
		"unknown scheme":     {path(1, 1), Scheme(9), "unknown gossip scheme Scheme(9)"},
	} {
		if _, err := NewGossip(tc.g, tc.s); err == nil || !strings.Contains(err.Error(), tc.say) {
			t.Errorf("%s: error %v, want one with %q", name, err, tc.say)
		}
	}
}

// A stationary distribution beyond the range of float64 is none; it is not searched for for ever.
func TestStationaryOutOfRange(t *testing.T) {
	const tiny = 1e-200
	w := &Gossip{w: NewCSRFromDense(mat.NewDense(4, 4, []float64{
		1 - tiny, tiny, 0, 0,
		0.5, 0.5 - tiny, tiny, 0,
		0, 0.5, 0.5 - tiny, tiny,
		0, 0, 0.5, 0.5,
	}))}
	if pi, ok := w.Stationary(); ok {
		t.Errorf("distribution %v", pi)
	}
}

// Detailed balance of the uniform scheme, weighted or not: π_u ∝ 1 + s_u.
func TestStationaryOfUniform(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := weightedGraph(t, false)
		g = g.Subgraph(g.Components()[0])
		w, err := NewGossip(g, Uniform)
		if err != nil {
			t.Fatal(err)
		}
		pi, ok := w.Stationary()
		if !ok {
			t.Fatal("no detailed balance")
		}
		strength := g.strengths()
		total := floats.Sum(strength) + float64(g.Nodes())
		for u, p := range pi {
			if want := (1 + strength[u]) / total; math.Abs(p-want) > 1e-12*want {
				t.Fatalf("π[%d] = %v, want %v", u, p, want)
			}
		}
	})
}

func TestParseScheme(t *testing.T) {
	for _, name := range Schemes() {
		if s, err := ParseScheme(name); err != nil || s.String() != name {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	if _, err := ParseScheme("mean"); err == nil {
		t.Error("unknown scheme accepted")
	}
}

func TestRestrict(t *testing.T) {
	w := &Gossip{w: NewCSRFromDense(mat.NewDense(3, 3, []float64{0.5, 0, 0.5, 0, 1, 0, 0.25, 0, 0.75}))}
	part, err := w.Restrict([]int{0, 2})
	if err != nil || !mat.Equal(part.Matrix(), mat.NewDense(2, 2, []float64{0.5, 0.5, 0.25, 0.75})) {
		t.Errorf("%v", err)
	}
	if _, err := w.Restrict([]int{1, 2}); !errors.Is(err, ErrGossip) || !strings.Contains(err.Error(), "node 2") {
		t.Errorf("a part that averages over the rest: %v", err)
	}
}
