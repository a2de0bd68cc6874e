package graph

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// The number of edges of G(n,p) over many seeds against its mean and variance.
func TestErdosHasItsMean(t *testing.T) {
	const n, p, draws = 40, 0.5, 200
	var sum float64
	for seed := range uint64(draws) {
		sum += float64(builtin(t, fmt.Sprintf("erdos:%d,%v", n, p), seed).Edges())
	}
	mean := float64(n*(n-1)) / 2 * p
	if z := (sum/draws - mean) / math.Sqrt(mean*(1-p)/draws); math.Abs(z) > 4 {
		t.Errorf("mean of %v edges is %.1f standard deviations from %v", sum/draws, z, mean)
	}
}

// These graphs must stay what they are, on every machine: results are published with nothing but their name and seed.
func TestRandomGraphsAreFixed(t *testing.T) {
	for spec, want := range map[string]string{
		"erdos:100,0.2":      "df46b41ca249ba22",
		"geometric:200,0.15": "d74b9fe025860718",
		"regular:30,3":       "93763109c30e6c35",
		"barabasi:50,3":      "c186ed328244f391",
		"watts:30,4,0.3":     "901a50ef10898760",
	} {
		got := fmt.Sprintf("%x", sha256.Sum256([]byte(describe(builtin(t, spec, 7)))))[:16]
		if got != want {
			t.Errorf("%s with seed 7 has the edges %s, want %s", spec, got, want)
		}
	}
}

// Looking into neighbouring cells only finds all pairs.
func TestGeometricIsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, radius := rapid.IntRange(1, 60).Draw(t, "n"), rapid.Float64Range(0, 1.5).Draw(t, "radius")
		seed := rapid.Uint64().Draw(t, "seed")
		g, err := geometric([]float64{float64(n), radius}, rand.New(rand.NewPCG(seed, 0)))
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(seed, 0))
		x, y := make([]float64, n), make([]float64, n)
		for v := range n {
			x[v], y[v] = rng.Float64(), rng.Float64()
			for u := range v {
				if near := math.Hypot(x[u]-x[v], y[u]-y[v]) < radius; near != (g.Adjacency().At(u, v) == 1) {
					t.Fatalf("points %d and %d: near %v", u, v, near)
				}
			}
		}
	})
}

// Every size and degree there can be is drawn, sparse or dense, with the degrees asked for.
func TestRegularOfAllDegrees(t *testing.T) {
	for n := 3; n <= 24; n++ {
		for d := 2; d < n; d++ {
			if n*d%2 != 0 {
				continue
			}
			g := builtin(t, fmt.Sprintf("regular:%d,%d", n, d), 5)
			if least, most := degrees(g); g.Nodes() != n || least != d || most != d {
				t.Errorf("regular:%d,%d has %d nodes of degrees %d to %d", n, d, g.Nodes(), least, most)
			}
		}
	}
}

// Parameters at random: either a connected simple graph of n nodes, twice the same, or an error.
func TestRandomGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k, p := rapid.IntRange(1, 30).Draw(t, "n"), rapid.IntRange(1, 30).Draw(t, "k"), rapid.Float64Range(0, 1).Draw(t, "p")
		spec := rapid.SampledFrom([]string{
			fmt.Sprintf("erdos:%d,%v", n, p), fmt.Sprintf("regular:%d,%d", n, k), fmt.Sprintf("barabasi:%d,%d", n, k),
			fmt.Sprintf("watts:%d,%d,%v", n, k, p), fmt.Sprintf("geometric:%d,%v", n, p),
		}).Draw(t, "spec")
		g, known, err := ByName(spec, BuiltinOptions{Seed: 3})
		if !known || (err == nil) != (g != nil) {
			t.Fatalf("%s: known %v, %v", spec, known, err)
		}
		if err != nil {
			return
		}
		again, _, err := ByName(spec, BuiltinOptions{Seed: 3})
		if err != nil || describe(again) != describe(g) || g.Nodes() != n || len(g.Components()) != 1 || g.Weighted() {
			t.Fatalf("%s: %d nodes, %d components, %v", spec, g.Nodes(), len(g.Components()), err)
		}
	})
}

// The draw is the floor of log u / log(1-p), from the same u.
func TestGapsAreLogarithms(t *testing.T) {
	for _, p := range []float64{1e-9, 0.001, 0.2, 0.5, 0.97, 1} {
		x := newGaps(p)
		draws, logs := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
		for range 2000 {
			got := float64(x.draw(draws))
			want := math.Log(1-logs.Float64()) / math.Log1p(-p)
			// a draw on the edge between two whole numbers may fall to either side
			if got != math.Floor(want) && math.Abs(want-math.Round(want)) > 1e-7*(1+want) {
				t.Fatalf("p = %v: %v, want the floor of %v", p, got, want)
			}
		}
	}
}

func TestGapsWithoutSuccess(t *testing.T) {
	if got := newGaps(0).draw(rand.New(rand.NewPCG(1, 2))); got != 1<<62-1 {
		t.Errorf("%d failures, want 2⁶²-1", got)
	}
}
