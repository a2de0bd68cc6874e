package gossip

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mafalda/graph"
	"mafalda/protocols/internal/protocoltest"
	"mafalda/protocols/internal/rational"
)

// exactLeakage returns the leakage of an exposure without rounding.
func exactLeakage(seen *big.Rat, valueStd, noiseStd float64) *big.Float {
	return protocoltest.Leakage(seen, new(big.Rat).Sub(big.NewRat(1, 1), seen), valueStd, noiseStd)
}

// The leakage of gossip was -½ log(1 - e·σ_u²/(σ_u² + σ²)), which cancels where noise is faint: too small by 1e-9 at a
// ten-thousandth of the values, and infinite at a hundred-millionth.
func TestFaintNoiseOfGossipDoesNotCancel(t *testing.T) {
	for _, noise := range []float64{1e-3, 1e-7, 1e-9, 1e-12, 1e-100, 1e-150, 1e-200, 5e-324} {
		want := exactLeakage(big.NewRat(1, 1), 10, noise)
		protocoltest.CheckAbove(t, "one value", Leakage(Exposure{1, 0}, 10, noise), want, 1e-14)
	}
	if got := Leakage(Exposure{1, 0}, 10, 1e-3); math.Abs(got-9.2103403769761827) > 1e-13 {
		t.Errorf("noise of 1e-3 on values of 10: %.17g", got)
	}
	for _, tc := range []struct{ value, noise float64 }{{1e308, 1e-308}, {math.MaxFloat64, 5e-324}, {1e-308, 1e308},
		{1, 1e160}, {1e-320, 1e-300}} {
		for _, e := range []*big.Rat{big.NewRat(1, 1), big.NewRat(1, 4)} {
			seen, _ := e.Float64()
			protocoltest.CheckAbove(t, "far apart", Leakage(Exposure{seen, 1 - seen}, tc.value, tc.noise),
				exactLeakage(e, tc.value, tc.noise), 1e-13)
		}
	}
	if got := Leakage(Exposure{1, 0}, 1, 0); !math.IsInf(got, 1) {
		t.Errorf("without noise: %g", got)
	}
	if got := Leakage(Exposure{0.5, 0.5}, 1, 0); math.Abs(got-math.Ln2/2) > 1e-15 {
		t.Errorf("without noise, half of it seen: %g", got)
	}
}

// What gossip leaks to single nodes and to coalitions is bounded above, and closely, by what is printed: against
// rational arithmetic and 150 digits.
func TestLeakageIsAnUpperBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := protocoltest.DrawGraph(t, 6)
		scheme, w := graph.Metropolis, rational.Metropolis(g)
		p, err := New(g, protocoltest.GossipOf(t, g, scheme))
		if err != nil {
			t.Fatal(err)
		}
		observers := protocoltest.DrawCoalition(t, g.Nodes())
		rounds := rapid.IntRange(0, 20).Draw(t, "rounds")
		value := math.Pow(10, rapid.Float64Range(-3, 3).Draw(t, "value"))
		noise := value * math.Pow(10, rapid.Float64Range(-12, 12).Draw(t, "ratio"))
		exposures, err := p.Exposures(context.Background(), observers, rounds)
		if err != nil {
			t.Fatal(err)
		}
		for j := range g.Nodes() {
			if slices.Contains(observers, j) {
				continue
			}
			seen := protocoltest.Exposure(g, w, observers, rounds, j)
			protocoltest.CheckAbove(t, "exposure", exposures[j].Seen,
				new(big.Float).SetPrec(protocoltest.ExactBits).SetRat(seen), 1e-14)
			hidden := new(big.Float).SetPrec(protocoltest.ExactBits).SetRat(new(big.Rat).Sub(big.NewRat(1, 1), seen))
			if new(big.Float).SetFloat64(exposures[j].Hidden).Cmp(hidden) > 0 ||
				hidden.Sign() > 0 != (exposures[j].Hidden > 0) {
				t.Fatalf("hidden %g of %v", exposures[j].Hidden, hidden)
			}
			protocoltest.CheckAbove(t, "leakage", Leakage(exposures[j], value, noise), exactLeakage(seen, value, noise),
				1e-13)
		}
	})
}

// Bounds of exposures, which do not sum to 1, give bounds of leakages.
func TestLeakageOfBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := Exposure{Seen: rapid.Float64Range(0, 1).Draw(t, "seen"), Hidden: rapid.Float64Range(0, 1).Draw(t,
			"hidden")}
		noise := math.Pow(10, rapid.Float64Range(-12, 12).Draw(t, "noise"))
		rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
		protocoltest.CheckAbove(t, "leakage", Leakage(e, 1, noise),
			protocoltest.Leakage(rat(e.Seen), rat(e.Hidden), 1, noise), 1e-13)
	})
}
