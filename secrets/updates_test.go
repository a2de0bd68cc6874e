package secrets

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// What updates prove is above the truth in rational numbers, and no more than what Cholesky factors prove.
func TestUpdatesBoundTheExactValue(t *testing.T) {
	proven := 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		noise := rapid.Custom(func(t *rapid.T) *Noise {
			noise := drawNoise(t, n)
			scale := math.Pow(10, float64(rapid.IntRange(0, 6).Draw(t, "strong")))
			for i := range noise.Pairs { // nearly singular
				noise.Pairs[i].Deviation *= scale
			}
			return noise
		}).Filter(func(noise *Noise) bool { return newUpdates(noise) != nil }).Draw(t, "noise with an inverse")
		coalition := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n-1, rapid.ID).Draw(t, "coalition")
		u := newUpdates(noise)
		others, bounds, ok := u.bounds(coalition)
		if !ok || math.IsInf(bounds[0], 1) { // factors prove more, or nothing
			return
		}
		proven++
		same, factored := noise.factorBounds(coalition)
		if !slices.Equal(others, same) {
			t.Fatalf("nodes %v, want %v", others, same)
		}
		most := slices.Max(factored)
		for i, exact := range exactDiagonal(noise, coalition) {
			if new(big.Rat).SetFloat64(bounds[i]).Cmp(exact) < 0 {
				below, _ := exact.Float64()
				t.Fatalf("%v is below %v", bounds[i], below)
			}
			if factored[i] == most && bounds[i] > factored[i]*(1+given(noise, most)) {
				t.Fatalf("%v is far above %v", bounds[i], factored[i])
			}
		}
	})
	if proven == 0 {
		t.Errorf("nothing is proven")
	}
}

// A wrong inverse proves nothing, or what is true.
func TestUpdatesOfAnythingAreSafe(t *testing.T) {
	proven := 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(t, "n")
		noise := drawNoise(t, n)
		u := newUpdates(noise) // the condition of such noise is a million at most
		if u == nil {
			t.Fatal("no inverse")
		}
		i, j := rapid.IntRange(0, n-1).Draw(t, "i"), rapid.IntRange(0, n-1).Draw(t, "j")
		by := u.inverse[i*n+i] * math.Pow(10, rapid.Float64Range(-16, 1).Draw(t, "by")) * 0.9
		u.inverse[i*n+j] += by
		if i != j {
			u.inverse[j*n+i] += by
		}
		u.measure()
		coalition := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n-1, rapid.ID).Draw(t, "coalition")
		z, ok := u.nearbyInverse(coalition)
		if !ok {
			return
		}
		proven++
		for i, exact := range exactDiagonal(noise, coalition) {
			if bound := z.bound(z.diagonal[i]); new(big.Rat).SetFloat64(bound).Cmp(exact) < 0 {
				below, _ := exact.Float64()
				t.Fatalf("%v is below %v", bound, below)
			}
		}
	})
	if proven == 0 {
		t.Errorf("nothing is proven")
	}
}

// On networks large enough for updates they say what factors say: leaves, components, single nodes, and files of
// coalitions.
func TestWorstIsTheSameBothWays(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	noise := &Noise{Own: make([]float64, 60)}
	for v := range noise.Own {
		noise.Own[v] = 0.2 + rng.Float64()
	}
	for v := 1; v < 40; v++ { // a tree with leaves; 40 and 41 a component of two; from 42 a cycle; 59 by itself
		noise.Pairs = append(noise.Pairs, Shared{Pair{v / 2, v}, rng.Float64()})
	}
	noise.Pairs = append(noise.Pairs, Shared{Pair{40, 41}, 1}, Shared{Pair{42, 58}, 20})
	for v := 43; v < 59; v++ {
		noise.Pairs = append(noise.Pairs, Shared{Pair{v - 1, v}, rng.Float64()})
	}
	slices.SortFunc(noise.Pairs, func(a, b Shared) int { return comparePairs(a.Pair, b.Pair) })
	two, err := Colluding(60, 2)
	if err != nil {
		t.Fatal(err)
	}
	few, err := NewAttackers(60, [][]int{{0, 1, 5}, {42, 59}, {3, 7, 40, 41}})
	if err != nil {
		t.Fatal(err)
	}
	nobody, err := Colluding(60, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, attackers := range map[string]*Attackers{"two": two, "few": few, "nobody": nobody} {
		worst, err := noise.Worst(context.Background(), attackers)
		if err != nil {
			t.Fatal(err)
		}
		p := newProver(noise, attackers)
		updated := 0
		for _, threat := range attackers.Threats() {
			if _, _, ok := p.boundsByUpdates(threat.Attacker); ok {
				updated++
			}
		}
		if updated < len(attackers.Threats())/2 {
			t.Errorf("%s: %d of %d are proven by updates", name, updated, len(attackers.Threats()))
		}
		p.updates = nil
		var want Worst
		for _, threat := range attackers.Threats() {
			if got := p.threat(threat, 0); got.Value > want.Value {
				want = got
			}
		}
		if math.Abs(worst.Value/want.Value-1) > 1e-12 || worst.Victim != want.Victim {
			t.Errorf("%s: %v by updates, %v by factors", name, worst, want)
		}
		exposed, err := noise.Exposed(context.Background(), attackers)
		if err != nil {
			t.Fatal(err)
		}
		for v, e := range exposed {
			if e.Value > worst.Value || v == worst.Victim && e.Value != worst.Value {
				t.Errorf("%s: of node %d is learned %v, the worst is %v", name, v, e, worst)
			}
		}
	}
}

// What factors have proven once is proven again, whatever updates prove of it.
func TestWithinWhatFactorsProve(t *testing.T) {
	single, err := Colluding(60, 1)
	if err != nil {
		t.Fatal(err)
	}
	above := 0
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 4))
		noise := &Noise{Own: make([]float64, 60)}
		for v := range noise.Own {
			noise.Own[v] = 0.5 + rng.Float64()
		}
		for u := range 60 { // cliques of four that share much, in a row
			for v := u + 1; v < 60; v++ {
				if u/4 == v/4 || v == u+1 {
					noise.Pairs = append(noise.Pairs, Shared{Pair{u, v}, 100 * rng.Float64()})
				}
			}
		}
		p := newProver(noise, single)
		p.updates = nil
		var limit float64
		for _, threat := range single.Threats() {
			value := p.threat(threat, 0).Value
			limit = math.Max(limit, value)
		}
		worst, err := noise.Worst(context.Background(), single)
		if err != nil {
			t.Fatal(err)
		}
		if worst.Value > limit {
			above++
		}
		within, err := noise.WorstWithin(context.Background(), single, limit)
		if err != nil || within.Value > limit || within.Value < limit*(1-1e-9) {
			t.Errorf("seed %d: %v (%v), by factors %v", seed, within, err, limit)
		}
		others, bounds := p.noise.factorBounds(within.Attacker)
		if i := slices.Index(others, within.Victim); within.Value > bounds[i] {
			t.Errorf("seed %d: %v, by factors %v", seed, within, bounds[i])
		}
	}
	if above == 0 {
		t.Error("updates never prove more than factors")
	}
}
