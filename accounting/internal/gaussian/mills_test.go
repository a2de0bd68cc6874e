package gaussian

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
)

// Golden values: mpmath with 100 digits, m = √(2π) e^(x²/2) erfc(x/√2)/2 and 1 - x·m.
func TestMillsGolden(t *testing.T) {
	for _, tc := range []struct{ x, mills, slope float64 }{
		{-5, 672621.6367228792523073, 3363109.183614396261536},
		{-1, 3.477051811703694466926, 4.477051811703694466926},
		{0, 1.253314137315500251208, 1},
		{0.5, 0.8763644564536923467279, 0.5618177717731538266361},
		{3, 0.3045902987101032957336, 0.08622910386969011279916},
		{4.999, 0.19284407069824490456, 0.035972490579473722098},
		{5, 0.19280810471531576488, 0.035959476423421175613},
		{8, 0.1231319632579322962822, 0.01494429393654162974255},
		{12, 0.08276628650136917725227, 0.006804561983569872972819},
		{40, 0.02498440420572057114739, 0.0006238317711771541044642},
		{1e3, 0.0009999990000029999850001, 9.999970000149998950009e-7},
		{1e8, 9.999999999999999e-9, 9.999999999999997e-17},
	} {
		if got := Mills(tc.x); !near(got, tc.mills, 1e-14) {
			t.Errorf("Mills(%v) = %.17g, want %.17g", tc.x, got, tc.mills)
		}
		if got := MillsSlope(tc.x); !near(got, tc.slope, 1e-13) { // 1 - x·m loses a factor of 28 just below 5
			t.Errorf("MillsSlope(%v) = %.17g, want %.17g", tc.x, got, tc.slope)
		}
	}
}

// x/(1+x²) < m(x) < 1/x, and m falls.
func TestMillsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Exp(rapid.Float64Range(-3, 50).Draw(t, "log x"))
		m := Mills(x)
		if m > 1/x*(1+1e-14) || m < 1/(x+1/x)*(1-1e-14) || Mills(x*1.001) >= m || MillsSlope(x) <= 0 {
			t.Fatalf("Mills(%v) = %v, slope %v", x, m, MillsSlope(x))
		}
	})
}

func near(got, want, relative float64) bool { return math.Abs(got-want) <= relative*math.Abs(want) }
