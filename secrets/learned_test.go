package secrets

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// What is learned of each node is bounded by no less than the truth in rational numbers, and hardly more; the most of
// it is what Worst says.
func TestLearnedBoundsTheExactValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		noise := drawNoise(t, n)
		coalition := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n-1, rapid.ID).Draw(t, "coalition")
		learned, err := noise.Learned(coalition)
		if err != nil {
			t.Fatal(err)
		}
		exact := exactDiagonal(noise, coalition)
		var most float64
		for _, x := range exact {
			value, _ := x.Float64()
			most = math.Max(most, value)
		}
		at := 0
		for v, bound := range learned {
			if slices.Contains(coalition, v) {
				if !math.IsInf(bound, 1) {
					t.Fatalf("of %d, who attacks, %v", v, bound)
				}
				continue
			}
			truth, _ := exact[at].Float64()
			if new(big.Rat).SetFloat64(bound).Cmp(exact[at]) < 0 || bound > truth*(1+given(noise, most)) {
				t.Fatalf("of %d %v, want %v", v, bound, truth)
			}
			at++
		}
		attackers, err := NewAttackers(n, [][]int{coalition})
		if err != nil {
			t.Fatal(err)
		}
		worst, err := noise.Worst(context.Background(), attackers)
		if err != nil || worst.Value < most*(1-given(noise, most)) {
			t.Fatalf("worst %v, %v; of one node %v", worst, err, most)
		}
	})
}

// Nodes whose noise is of other scales, as privacy levels of their own make it, lose nothing to rounding: a coordinate of
// each can be measured in a unit of its own.
func TestScalesOfNodesCostNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "n")
		noise := drawNoise(t, n)
		for v := range noise.Own {
			noise.Own[v] = math.Pow(10, rapid.Float64Range(-8, 8).Draw(t, "scale"))
		}
		for i, p := range noise.Pairs {
			noise.Pairs[i].Deviation *= math.Min(noise.Own[p.U], noise.Own[p.V])
		}
		_, bounds := noise.factorBounds(nil)
		for v, exact := range exactDiagonal(noise, nil) {
			truth, _ := exact.Float64()
			if new(big.Rat).SetFloat64(bounds[v]).Cmp(exact) < 0 || bounds[v] > truth*(1+1e-9) {
				t.Fatalf("of %d %v, want %v", v, bounds[v], truth)
			}
		}
	})
}

// A part without protection does not take it from the others.
func TestLearnedByParts(t *testing.T) {
	noise := &Noise{Own: []float64{1, 0, 0, 2, 1}, Pairs: []Shared{{Pair{1, 2}, 1}, {Pair{3, 4}, 1}}}
	learned, err := noise.Learned([]int{0})
	if err != nil {
		t.Fatal(err)
	}
	for v, want := range []float64{math.Inf(1), math.Inf(1), math.Inf(1), 2. / 9, 5. / 9} { // M = [5 -1; -1 2]
		if math.Abs(learned[v]-want) > 1e-12 && learned[v] != want {
			t.Errorf("of %d %v, want %v", v, learned[v], want)
		}
	}
	for _, bad := range [][]int{{-1}, {5}} {
		if _, err := noise.Learned(bad); err == nil {
			t.Errorf("a coalition %v is taken", bad)
		}
	}
	if all, err := noise.Learned([]int{4, 3, 2, 1, 0}); err != nil || slices.Min(all) != math.Inf(1) {
		t.Errorf("%v, %v", all, err)
	}
}

// Of every node the most is learned by the attacker who learns most of it.
func TestExposedIsTheMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		noise, attackers := drawNoise(t, n), drawAttackers(t, n)
		most, err := noise.Exposed(context.Background(), attackers)
		if err != nil || len(most) != n {
			t.Fatal(most, err)
		}
		for v, w := range most {
			var want, worst float64 // worst: of any node, as the rounding of a coalition's matrix is given away for all of them
			for _, c := range allowed(attackers) {
				learned, err := noise.Learned(c)
				if err != nil {
					t.Fatal(err)
				}
				for u, value := range learned {
					if !slices.Contains(c, u) && !math.IsInf(value, 1) {
						worst = math.Max(worst, value)
					}
				}
				if !slices.Contains(c, v) {
					want = math.Max(want, learned[v])
				}
			}
			if w.Victim != v || slices.Contains(w.Attacker, v) || math.Abs(w.Value-want) > given(noise, worst)*want {
				t.Fatalf("of %d %+v, want %v", v, w, want)
			}
		}
	})
}

// Where pairs have 10⁴ times the variance of nodes a proof still gives away next to nothing, and no more than there is:
// on a complete graph M_A⁻¹ is known.
func TestStrongPairsGiveAwayLittle(t *testing.T) {
	const n, strong = 40, 100.0
	noise := &Noise{Own: make([]float64, n)}
	for v := range noise.Own {
		noise.Own[v] = 0.125
		for u := range v {
			noise.Pairs = append(noise.Pairs, Shared{Pair{u, v}, strong})
		}
	}
	slices.SortFunc(noise.Pairs, func(a, b Shared) int { return comparePairs(a.Pair, b.Pair) })
	for _, coalition := range [][]int{nil, {3}, {0, 1, 39}} {
		rest := int64(n - len(coalition))
		// M_A = (s + re)I - e11ᵀ: its inverse has (s + e)/(s(s + re)) on the diagonal.
		s, e := square(0.125), square(strong)
		sum := new(big.Rat).Add(s, new(big.Rat).Mul(big.NewRat(rest, 1), e))
		want := new(big.Rat).Quo(new(big.Rat).Add(s, e), new(big.Rat).Mul(s, sum))
		learned, err := noise.Learned(coalition)
		if err != nil {
			t.Fatal(err)
		}
		for v, bound := range learned {
			if slices.Contains(coalition, v) {
				continue
			}
			truth, _ := want.Float64()
			if new(big.Rat).SetFloat64(bound).Cmp(want) < 0 || bound > truth*(1+2e-7) {
				t.Fatalf("%v: of %d %v, want %v", coalition, v, bound, truth)
			}
		}
	}
}
