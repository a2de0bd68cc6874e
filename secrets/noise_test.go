package secrets

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

func TestUnknownIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		noise := drawNoise(t, n)
		coalition := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n-1, rapid.ID).Draw(t, "coalition")
		got, others := noise.Unknown(coalition)
		want, same := unknown(noise, coalition)
		if len(others) != len(same) || !mat.EqualApprox(got, want, 1e-13) {
			t.Fatalf("M_A on %v = %v, want %v on %v", others, mat.Formatted(got), mat.Formatted(want), same)
		}
	})
}

// The bound is above the truth in rational numbers, and hardly more.
func TestWorstBoundsTheExactValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "n")
		noise := drawNoise(t, n)
		if rapid.Bool().Draw(t, "strong") { // nearly singular
			for i := range noise.Pairs {
				noise.Pairs[i].Deviation *= 100
			}
		}
		attackers := drawAttackers(t, n)
		if rapid.Bool().Draw(t, "levels") {
			weights := rapid.SliceOfN(rapid.Float64Range(0.01, 1), n, n).Draw(t, "weights")
			var err error
			if attackers, err = attackers.Weighing(weights); err != nil {
				t.Fatal(err)
			}
		}
		worst, err := noise.Worst(context.Background(), attackers)
		if err != nil {
			t.Fatal(err)
		}
		want := exactWorst(noise, attackers)
		bound := new(big.Rat).SetFloat64(worst.Value)
		if bound.Cmp(want) < 0 {
			exact, _ := want.Float64()
			t.Fatalf("%v is below %v", worst.Value, exact)
		}
		unweighted := *attackers
		unweighted.weights = nil
		most, _ := exactWorst(noise, &unweighted).Float64()
		if exact, _ := want.Float64(); worst.Value > exact*(1+given(noise, most)) {
			t.Fatalf("%v is far above %v", worst.Value, exact)
		}
	})
}

// Whoever knows more learns more.
func TestLargerCoalitionsLearnMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "n")
		noise := drawNoise(t, n)
		var last float64
		for size := range n {
			attackers, err := Colluding(n, size)
			if err != nil {
				t.Fatal(err)
			}
			worst, err := noise.Worst(context.Background(), attackers)
			if err != nil {
				t.Fatal(err)
			}
			if worst.Value < last*(1-given(noise, last)) {
				t.Fatalf("%d nodes learn %v, fewer %v", size, worst.Value, last)
			}
			last = worst.Value
		}
		var least float64 = math.Inf(1) // all but one know all but its own noise
		for _, d := range noise.Own {
			least = math.Min(least, d*d)
		}
		if math.Abs(last*least-1) > given(noise, last) {
			t.Fatalf("all others learn %v, want %v", last, 1/least)
		}
	})
}

// given is what Worst gives away to rounding, by its formulas: δτ² and twice γτ‖L‖_F, where τ² is at most n times the worst.
func given(noise *Noise, worst float64) float64 {
	n := float64(len(noise.Own))
	return 4 * (n + 8) * 0x1p-53 * (8*mat.Trace(noise.Covariance())*n*worst + 8)
}

func TestWorstWithoutProtection(t *testing.T) {
	single, err := Colluding(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, noise := range map[string]*Noise{
		"no noise":   {Own: []float64{0, 1, 1}},
		"pairs only": {Own: []float64{0, 0, 0}, Pairs: []Shared{{Pair{0, 1}, 1}, {Pair{1, 2}, 1}}},
		"one of it":  {Own: []float64{0, 1, 1}, Pairs: []Shared{{Pair{0, 1}, 1}}},
	} {
		worst, err := noise.Worst(context.Background(), single)
		if err != nil || !math.IsInf(worst.Value, 1) {
			t.Errorf("%s: worst = %v, %v; want infinity", name, worst, err)
		}
	}
}

func TestWorstEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	cancel(why)
	single, err := Colluding(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&Noise{Own: []float64{1, 1, 1}}).Worst(ctx, single); !errors.Is(err, why) {
		t.Errorf("error %v, want %v", err, why)
	}
}

func TestNoiseIsChecked(t *testing.T) {
	single, err := Colluding(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	one := []float64{1, 1, 1}
	for name, noise := range map[string]*Noise{
		"negative":         {Own: []float64{1, -1, 1}},
		"no number":        {Own: []float64{1, math.NaN(), 1}},
		"infinite":         {Own: []float64{1, math.Inf(1), 1}},
		"subnormal":        {Own: []float64{1, 1e-310, 1}},
		"pair out of":      {Own: one, Pairs: []Shared{{Pair{1, 3}, 1}}},
		"pair of one":      {Own: one, Pairs: []Shared{{Pair{1, 1}, 1}}},
		"pair turned":      {Own: one, Pairs: []Shared{{Pair{2, 1}, 1}}},
		"pair below":       {Own: one, Pairs: []Shared{{Pair{-1, 1}, 1}}},
		"twice":            {Own: one, Pairs: []Shared{{Pair{0, 1}, 1}, {Pair{0, 1}, 1}}},
		"order":            {Own: one, Pairs: []Shared{{Pair{1, 2}, 1}, {Pair{0, 1}, 1}}},
		"pair's deviation": {Own: one, Pairs: []Shared{{Pair{0, 1}, math.NaN()}}},
		"other nodes":      {Own: []float64{1, 1}},
	} {
		if _, err := noise.Worst(context.Background(), single); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func BenchmarkWorst(b *testing.B) {
	for _, bc := range []struct {
		nodes       int
		probability float64
	}{{148, 0.15}, {1000, 0.01}} {
		b.Run(fmt.Sprintf("n=%d", bc.nodes), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			noise := &Noise{Own: make([]float64, bc.nodes)}
			for u := range bc.nodes {
				noise.Own[u] = 0.5
				for v := u + 1; v < bc.nodes; v++ {
					if rng.Float64() < bc.probability {
						noise.Pairs = append(noise.Pairs, Shared{Pair{u, v}, 0.2})
					}
				}
			}
			single, err := Colluding(bc.nodes, 1)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := noise.Worst(context.Background(), single); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
