package gossip

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"mafalda/protocols/internal/protocoltest"
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
		protocoltest.CheckAbove(t, "one value", Leakage(Exposure{Seen: 1, Hidden: 0}, 10, noise), want, 1e-14)
	}
	if got := Leakage(Exposure{Seen: 1, Hidden: 0}, 10, 1e-3); math.Abs(got-9.2103403769761827) > 1e-13 {
		t.Errorf("noise of 1e-3 on values of 10: %.17g", got)
	}
	for _, tc := range []struct{ value, noise float64 }{{1e308, 1e-308}, {math.MaxFloat64, 5e-324}, {1e-308, 1e308},
		{1, 1e160}, {1e-320, 1e-300}} {
		for _, e := range []*big.Rat{big.NewRat(1, 1), big.NewRat(1, 4)} {
			seen, _ := e.Float64()
			protocoltest.CheckAbove(t, "far apart", Leakage(Exposure{Seen: seen, Hidden: 1 - seen}, tc.value, tc.noise),
				exactLeakage(e, tc.value, tc.noise), 1e-13)
		}
	}
	if got := Leakage(Exposure{Seen: 1, Hidden: 0}, 1, 0); !math.IsInf(got, 1) {
		t.Errorf("without noise: %g", got)
	}
	if got := Leakage(Exposure{Seen: 0.5, Hidden: 0.5}, 1, 0); math.Abs(got-math.Ln2/2) > 1e-15 {
		t.Errorf("without noise, half of it seen: %g", got)
	}
}

// Bounds of exposures (package span tests that they are), which do not sum to 1, give bounds of leakages.
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
