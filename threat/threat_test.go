package threat

import (
	"context"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
	_ "mafalda/internal/seeded"
	"mafalda/strategy"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// drawGossip draws a row-stochastic matrix of up to 7 nodes, directed or with a symmetric support, some of them without
// a weight for themselves.
func drawGossip(t *rapid.T) *graph.CSR { return drawGossipOf(t, 1, 7) }

// drawGossipOf draws a gossip matrix of least to most nodes.
func drawGossipOf(t *rapid.T, least, most int) *graph.CSR {
	n := rapid.IntRange(least, most).Draw(t, "n")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	directed := rapid.Bool().Draw(t, "directed")
	selfless := rapid.Bool().Draw(t, "selfless")
	w := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			if i != j && rng.IntN(3) == 0 {
				w.Set(i, j, 0.1+rng.Float64())
				if !directed {
					w.Set(j, i, 0.1+rng.Float64())
				}
			}
		}
	}
	for i := range n {
		if !selfless || rng.IntN(2) == 0 || mat.Sum(w.RowView(i)) == 0 {
			w.Set(i, i, 0.1+rng.Float64())
		}
	}
	for i := range n {
		row := w.RowView(i).(*mat.VecDense)
		row.ScaleVec(1/mat.Sum(row), row)
	}
	return graph.NewCSRFromDense(w)
}

func drawAttacker(t *rapid.T, n int) Attacker {
	a := Attacker{Trust: rapid.SampledFrom([]Trust{LDP, PNDP, SecLDP, Eavesdropper}).Draw(t, "trust")}
	if a.Trust == LDP || a.Trust == Eavesdropper {
		return a
	}
	count := rapid.IntRange(1, n).Draw(t, "attackers")
	a.Nodes = rapid.Permutation(upTo(n)).Draw(t, "who")[:count]
	if a.Trust == PNDP {
		a.SecureSummation = rapid.Bool().Draw(t, "secure")
		a.ForgetOwnNoise = a.SecureSummation && rapid.Bool().Draw(t, "forget")
	}
	return a
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func drawStrategy(t *rapid.T, steps int) strategy.Strategy {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "strategy"), 2))
	lower := mat.NewTriDense(steps, mat.Lower, nil)
	bands := rapid.IntRange(1, steps).Draw(t, "bands")
	for i := range steps {
		for j := max(0, i-bands+1); j < i; j++ {
			lower.SetTri(i, j, (rng.Float64()-0.5)/2)
		}
		lower.SetTri(i, i, 0.5+rng.Float64())
	}
	coefficients := make([]float64, bands)
	coefficients[0] = 0.5 + rng.Float64()
	for i := 1; i < bands; i++ {
		coefficients[i] = (rng.Float64() - 0.5) / 2
	}
	columns := make([]float64, steps)
	for i := range columns {
		columns[i] = 0.5 + rng.Float64()
	}
	var c strategy.Strategy
	var err error
	class := rapid.SampledFrom([]string{"dense", "banded", "toeplitz", "scaled", "blt", "comb", "banded-inverse"}).Draw(t, "class")
	switch class {
	case "dense":
		c, err = strategy.NewDense(lower)
	case "banded":
		c, err = strategy.NewBanded(lower, bands)
	case "toeplitz":
		c, err = strategy.NewToeplitz(steps, coefficients, nil)
	case "scaled":
		c, err = strategy.NewToeplitz(steps, coefficients, columns)
	case "blt", "comb":
		scale, sections := 0.5+rng.Float64(), []strategy.Section{
			{P: rng.Float64(), Q: 0.2 * rng.Float64(), A: rng.Float64() / 2, B: 0.3 * rng.Float64()}, {P: rng.Float64() / 2, A: rng.Float64() / 3}}
		c, err = strategy.NewBLT(steps, scale, sections)
		if err == nil && class == "comb" && steps > 1 {
			c, err = strategy.NewComb(steps, scale, sections, 1+rng.IntN(steps-1), strategy.Teeth{P: 0.8, A: rng.Float64() / 2})
		}
	default:
		c, err = strategy.NewBandedInverse(steps, coefficients)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func drawAlgorithm(t *rapid.T, nodes, steps int) Algorithm {
	var a Algorithm
	var err error
	switch rapid.SampledFrom([]string{"dp-d-sgd", "antipgd", "muffliato", "decor", "zip-dl", "mf-d-sgd", "per node"}).Draw(t, "algorithm") {
	case "per node":
		first, second := drawStrategy(t, steps), drawStrategy(t, steps)
		each := make([]strategy.Strategy, nodes)
		for v := range each {
			each[v] = first
			if v%2 == 1 {
				each[v] = second
			}
		}
		a = MFDSGDPerNode(each)
	case "dp-d-sgd":
		a = DPDSGD()
	case "antipgd":
		a = AntiPGD()
	case "muffliato":
		a, err = Muffliato(rapid.IntRange(1, 3).Draw(t, "K"))
	case "decor":
		a, err = DECOR(rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "own"), rapid.SampledFrom([]float64{0.5, 2}).Draw(t, "shared"))
	case "zip-dl":
		a = ZipDL()
	default:
		a = MFDSGD(drawStrategy(t, steps))
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// account collects the exposures of all victims.
func account(t rapid.TB, w *graph.CSR, a Algorithm, attacker Attacker, steps int) (map[int]Exposure, error) {
	found := map[int]Exposure{}
	err := Account(context.Background(), Scenario{w, a, attacker, every(t, steps)}, func(e Exposure) error {
		if _, twice := found[e.Victim]; twice {
			t.Fatalf("victim %d twice", e.Victim)
		}
		found[e.Victim] = e
		return nil
	})
	return found, err
}

// TestAccountIsDefinition compares with the view written out and its pseudo-inverse: all algorithms, trust models,
// coalitions, directed and undirected graphs, nodes without a weight for themselves.
func TestAccountIsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawGossip(t)
		n, _ := w.Dims()
		steps := rapid.IntRange(1, 6).Draw(t, "T")
		a := drawAlgorithm(t, n, steps)
		attacker := drawAttacker(t, n)
		found, err := account(t, w, a, attacker, steps)
		if errors.Is(err, ErrUnclear) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		view, err := Explicit(Scenario{w, a, attacker, every(t, steps)})
		if err != nil {
			t.Fatal(err)
		}
		if len(found)+len(attacker.Nodes) != n {
			t.Fatalf("%d victims of %d nodes", len(found), n)
		}
		for victim, got := range found {
			want, err := view.Exposure(victim)
			if err != nil {
				t.Fatal(err)
			}
			if got.Infinite != want.Infinite {
				t.Fatalf("%s, %+v: victim %d is infinite: %v, by definition %v", a.Name(), attacker, victim, got.Infinite, want.Infinite)
			}
			if got.Infinite {
				continue
			}
			// Messages have noise of variance about one, and 1/norm(M) is what is left of it against the attacker: either
			// way rounds that to 2⁻⁵² of a message.
			norm := mat.Norm(want.M, 2)
			tolerance := (1 + norm) * (1e-8 + 0x1p-52*norm)
			for s := range steps {
				for u := range steps {
					if math.Abs(got.M.At(s, u)-want.M.At(s, u)) > tolerance {
						t.Fatalf("%s, %+v: M[%d,%d] of victim %d is %v, by definition %v", a.Name(), attacker, s, u, victim, got.M.At(s, u), want.M.At(s, u))
					}
				}
			}
		}
		for _, known := range attacker.Nodes {
			if e, err := view.Exposure(known); err != nil || !e.Infinite || slices.Contains(keys(found), known) {
				t.Fatalf("attacker %d: %+v, %v", known, e, err)
			}
		}
	})
}

func keys(m map[int]Exposure) []int {
	var k []int
	for v := range m {
		k = append(k, v)
	}
	return k
}
