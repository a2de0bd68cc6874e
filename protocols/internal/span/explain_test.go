package span

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mafalda/graph"
	"mafalda/internal/lists"
	_ "mafalda/internal/seeded"
	"mafalda/protocols/internal/consensus"
	"mafalda/protocols/internal/protocoltest"
)

// exactExposures is the definition of Exposures for Metropolis weights, in rational numbers: e_jᵀPe_j of every node j
// outside of the coalition. What is left of e_j, squared, is the quotient of two Gram determinants, which elimination
// finds as it goes.
func exactExposures(g *graph.Graph, observers []int, rounds int) []*big.Rat {
	n := g.Nodes()
	unit := func(v int) []*big.Rat {
		row := lists.Make(n, func(int) *big.Rat { return new(big.Rat) })
		row[v].SetInt64(1)
		return row
	}
	add := func(to, a, b *big.Rat) { to.Add(to, new(big.Rat).Mul(a, b)) }
	dot := func(a, b []*big.Rat) *big.Rat {
		sum := new(big.Rat)
		for i := range a {
			add(sum, a[i], b[i])
		}
		return sum
	}
	next := func(row []*big.Rat) []*big.Rat { // times W, whose rows sum to one
		product := lists.Map(row, func(x *big.Rat) *big.Rat { return new(big.Rat).Set(x) })
		g.Adjacency().DoNonZero(func(i, j int, _ float64) {
			weight := big.NewRat(1, int64(1+max(g.Degree(i), g.Degree(j))))
			add(product[j], row[i], weight)
			add(product[i], row[i], weight.Neg(weight))
		})
		return product
	}
	var basis [][]*big.Rat // orthogonal
	left := func(row []*big.Rat) []*big.Rat {
		rest := lists.Map(row, func(x *big.Rat) *big.Rat { return new(big.Rat).Set(x) })
		for _, q := range basis {
			along := new(big.Rat).Quo(dot(q, rest), dot(q, q))
			for i, x := range q {
				add(rest[i], x, new(big.Rat).Neg(along))
			}
		}
		return rest
	}
	messages := lists.Make(n, unit)
	for range rounds + 1 {
		for v, message := range messages {
			if !slices.Contains(observers, v) && slices.ContainsFunc(observers,
				func(a int) bool { return g.Adjacency().At(a, v) != 0 }) {
				seen := slices.Clone(message)
				for _, a := range observers {
					seen[a] = new(big.Rat)
				}
				if rest := left(seen); dot(rest, rest).Sign() != 0 {
					basis = append(basis, rest)
				}
			}
			messages[v] = next(message)
		}
	}
	return lists.Make(n, func(v int) *big.Rat {
		rest := left(unit(v))
		return new(big.Rat).Sub(big.NewRat(1, 1), dot(rest, rest))
	})
}

// What single nodes and coalitions see is bounded above, and closely, by exposures and by the leakages that they give:
// against rational arithmetic and 150 digits.
func TestExposuresAreBounds(t *testing.T) {
	exact := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	rapid.Check(t, func(t *rapid.T) {
		g := protocoltest.DrawGraph(t, 6)
		w := consensus.NewWeights(protocoltest.GossipOf(t, g, graph.Metropolis).Matrix())
		observers, rounds := protocoltest.DrawCoalition(t, g.Nodes()), rapid.IntRange(0, 20).Draw(t, "rounds")
		noise := math.Pow(10, rapid.Float64Range(-12, 12).Draw(t, "noise"))
		o := &Observation{Weights: w,
			Known: func(v int) bool { return slices.Contains(observers, v) },
			Seen: func(v int) bool {
				return slices.ContainsFunc(observers, func(a int) bool { return g.Adjacency().At(a, v) != 0 })
			},
		}
		s, err := o.Observe(context.Background(), rounds)
		if err != nil {
			t.Fatal(err)
		}
		want := exactExposures(g, observers, rounds)
		exposures, err := s.Exposures(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		const close = 1e-13
		for at, e := range exposures {
			seen := want[s.Hidden[at]]
			hidden := new(big.Rat).Sub(big.NewRat(1, 1), seen)
			protocoltest.CheckAbove(t, "exposure", e.Seen, new(big.Float).SetPrec(protocoltest.ExactBits).SetRat(seen),
				close/10)
			if exact(e.Hidden).Cmp(hidden) > 0 || hidden.Sign() > 0 != (e.Hidden > 0) {
				t.Fatalf("hidden %g of %v", e.Hidden, hidden)
			}
			bound, _ := protocoltest.Leakage(exact(e.Seen), exact(e.Hidden), 1, noise).Float64()
			protocoltest.CheckAbove(t, "leakage", bound*(1+0x1p-52), protocoltest.Leakage(seen, hidden, 1, noise), close)
		}
	})
}

// Digits that are lost are seen where no pivot is small: rows of a path with two leaves at either end.
func TestDigitsOfIllConditionedViews(t *testing.T) {
	const n = 100
	pairs := [][2]int{{1, n}, {1, n + 1}, {n - 2, n + 2}}
	for v := range n - 1 {
		pairs = append(pairs, [2]int{v, v + 1})
	}
	g := protocoltest.FromEdges(t, n+3, pairs...)
	o := &Observation{Weights: consensus.NewWeights(protocoltest.GossipOf(t, g, graph.Metropolis).Matrix()),
		Known: func(v int) bool { return v == 0 }, Seen: func(v int) bool { return v == 1 }}
	s, err := o.Observe(context.Background(), Forever)
	if err != nil {
		t.Fatal(err)
	}
	explained := func(bits uint) []*big.Int {
		rows := s.Basis(bits)
		lower, _ := factorize(context.Background(), rows, len(s.Messages), bits)
		return lists.Map(rows, func(row Vector) *big.Int { return lower.explained(row, bits) })
	}
	var enough uint
	if _, err := Explain(context.Background(), nil, func(bits uint) ([]Vector, int) {
		enough = bits
		return s.Basis(bits), len(s.Messages)
	}); err != nil {
		t.Fatal(err)
	}
	const more = 256
	fine := explained(enough + more)
	for at, x := range explained(enough) {
		if lost := x.Sub(x.Lsh(x, 2*more), fine[at]); lost.BitLen() > int(2*(enough+more)-far) {
			t.Fatalf("with %d bits node %d is wrong in digit %d, not %d", enough, s.Hidden[at],
				2*int(enough+more)-lost.BitLen(), far)
		}
	}
}
