package spacetime

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/lists"
	_ "mafalda/internal/seeded"
	"mafalda/participation"
	"mafalda/secrets"
	"mafalda/workload"
)

// drawSetting draws who shares secrets and who colludes.
func drawSetting(t *rapid.T, n int) Setting {
	var pairs []secrets.Pair
	for u := range n {
		for v := u + 1; v < n; v++ {
			if rapid.Bool().Draw(t, "pair") {
				pairs = append(pairs, secrets.Pair{U: u, V: v})
			}
		}
	}
	g, err := secrets.NewGraph(n, pairs)
	if err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "all of a size") {
		a, err := secrets.Colluding(n, rapid.IntRange(0, 2).Draw(t, "size"))
		if err != nil {
			t.Fatal(err)
		}
		return Setting{Secrets: g, Attackers: drawWeights(t, a)}
	}
	var list [][]int
	for range rapid.IntRange(0, 5).Draw(t, "coalitions") {
		list = append(list, rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n-1, rapid.ID).Draw(t, "coalition"))
	}
	a, err := secrets.NewAttackers(n, list)
	if err != nil {
		t.Fatal(err)
	}
	return Setting{Secrets: g, Attackers: drawWeights(t, a)}
}

// drawWeights draws privacy levels of nodes, or one for all.
func drawWeights(t *rapid.T, a *secrets.Attackers) *secrets.Attackers {
	if rapid.Bool().Draw(t, "one level") {
		return a
	}
	weights := make([]float64, a.Nodes())
	for v := range weights {
		weights[v] = rapid.SampledFrom([]float64{1, 0.3, 0.02}).Draw(t, "weight")
	}
	weighing, err := a.Weighing(weights)
	if err != nil {
		t.Fatal(err)
	}
	return weighing
}

// drawGram draws a positive definite K.
func drawGram(t *rapid.T, n int) *mat.SymDense {
	f := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			f.Set(i, j, rapid.Float64Range(0, 1).Draw(t, "entry"))
		}
		f.Set(i, i, f.At(i, i)+0.5)
	}
	k := mat.NewSymDense(n, nil)
	k.SymOuterK(1, f)
	return k
}

func drawPoint(t *rapid.T, d *design) []float64 {
	x := make([]float64, d.size())
	for i := range x {
		x[i] = rapid.Float64Range(0.05, 3).Draw(t, "x")
	}
	return x
}

// noiseOf makes noise of all variances of x.
func noiseOf(t interface{ Fatal(...any) }, s Setting, x []float64) *secrets.Noise {
	n := s.Secrets.Nodes()
	noise := &secrets.Noise{Own: lists.Map(x[:n], math.Sqrt)}
	for i, p := range s.Secrets.Pairs() {
		if e := x[n+i]; e != 0 {
			noise.Pairs = append(noise.Pairs, secrets.Shared{Pair: p, Deviation: math.Sqrt(e)})
		}
	}
	if err := noise.Check(); err != nil {
		t.Fatal(err)
	}
	return noise
}

// slowReach is 1/[M_A⁻¹]_vv by the definition.
func slowReach(noise *secrets.Noise, attacker []int, v int) float64 {
	m, others := noise.Unknown(attacker)
	var inverse mat.Dense
	if err := inverse.Inverse(m); err != nil {
		return math.NaN()
	}
	for i, u := range others {
		if u == v {
			return 1 / inverse.At(i, i)
		}
	}
	return math.NaN()
}

// slowLeast is the smallest of all attackers and victims.
func slowLeast(noise *secrets.Noise, a *secrets.Attackers) float64 {
	least := math.Inf(1)
	for _, c := range allowed(a) {
		m, others := noise.Unknown(c)
		var inverse mat.Dense
		if err := inverse.Inverse(m); err != nil {
			return math.NaN()
		}
		for i := range others {
			least = math.Min(least, 1/inverse.At(i, i)/a.Weight(others[i]))
		}
	}
	return least
}

// single returns the setting of a graph's edges and curious nodes, up to so many together.
func single(t testing.TB, g *graph.Graph, size int) Setting {
	a, err := secrets.Colluding(g.Nodes(), size)
	if err != nil {
		t.Fatal(err)
	}
	return Setting{Secrets: secrets.OfEdges(g), Attackers: a}
}

func network(t testing.TB, name string) *graph.Network {
	n, err := graph.LoadNetwork(context.Background(), graph.NetworkOptions{Source: name, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// problem is the model workload on a built-in graph, with (k,b)-participation and dense strategies.
func problem(t testing.TB, name string, steps, k int) Problem {
	n := network(t, name)
	w, err := workload.NewSpaceTime(n.Gossip.Matrix(), steps, workload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := participation.Complete(steps, k, 0)
	if err != nil {
		t.Fatal(err)
	}
	return Problem{w, schema, factorize.Dense{}, single(t, n.Graph, 1)}
}

// ones returns the identity.
func ones(n int) *mat.SymDense {
	m := mat.NewSymDense(n, nil)
	for i := range n {
		m.SetSym(i, i, 1)
	}
	return m
}

// allowed returns every coalition, and every part of one: who may put together what they know.
func allowed(a *secrets.Attackers) [][]int {
	var all [][]int
	for _, c := range a.Coalitions() {
		for set := range 1 << len(c) {
			var part []int
			for i, v := range c {
				if set>>i&1 == 1 {
					part = append(part, v)
				}
			}
			all = append(all, part)
		}
	}
	return all
}
