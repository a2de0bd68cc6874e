package accounting

import (
	"math"
	"testing"

	"mafalda/accounting/internal/gaussian"

	"pgregory.net/rapid"
)

func near(got, want, relative float64) bool { return math.Abs(got-want) <= relative*math.Abs(want) }

// Golden values of log δ: mpmath with at least 60 digits (the last ones: 120), from Φ by its erfc.
func TestLogDeltaGolden(t *testing.T) {
	for _, tc := range []struct{ mu, epsilon, want float64 }{
		{1e-4, 0, -10.129278905597522144},
		{1e-4, 1e-4, -11.69541139848227042},
		{1e-4, 1e-3, -64.762962409325134636},
		{0.01, 0.1, -60.108304488070147319},
		{0.01, 1, -5014.234761483739632},
		{0.3, 2, -27.213023500587390714},
		{1, 0, -0.95991633369562231933},
		{1, 1, -2.0640664465003905345},
		{1, 10, -50.675779079990113643},
		{1, 40, -788.42341277399170614},
		{5, 3, -0.049349279821660314516},
		{10, 120, -27.926310221251686362},
		{30, 600, -15.225243621666090954},
		{100, 4000, -8.4747029161466575419e-24},
		{100, 10000, -1255.2370038754815074},
		{0.5, 100, -19962.240043878071419},
		{2, 300, -11110.74715082182583},
		{1e-4, 5e-4, -25.954391535807622607},
		{1e-3, 1e4, -49999999995040.060804},
		{1000, 490000, -7.6975761633110341801e-24},
		{0.25, 3, -77.803103835560605618},
		{7, 24.5, -0.81169084090917736898},
		{1, 0.5, -1.4337142903236975907},
	} {
		low, high := gaussian.LogDelta(tc.mu, tc.epsilon)
		got := (low + high) / 2
		if d := math.Abs(got - tc.want); d > (high-low)/4 {
			t.Errorf("log δ(%v, %v) = %.17g, want %.17g: off by %.1g", tc.mu, tc.epsilon, got, tc.want, d)
		}
		safe, err := LogDelta(tc.mu, tc.epsilon)
		if err != nil || safe < tc.want {
			t.Errorf("LogDelta(%v, %v) = %v is below %v (%v)", tc.mu, tc.epsilon, safe, tc.want, err)
		}
	}
}

func drawMu(t *rapid.T) float64 {
	return math.Exp(rapid.Float64Range(math.Log(1e-4), math.Log(1e3)).Draw(t, "log mu"))
}

// Where nothing cancels the textbook formula is good.
func TestDeltaIsTextbookFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu := rapid.Float64Range(0.3, 5).Draw(t, "mu")
		epsilon := rapid.Float64Range(0, mu*mu/2+2*mu).Draw(t, "epsilon")
		phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
		want := phi(-epsilon/mu+mu/2) - math.Exp(epsilon)*phi(-epsilon/mu-mu/2)
		got, err := Delta(mu, epsilon)
		if err != nil || !near(got, want, 1e-10) {
			t.Fatalf("δ(%v, %v) = %v, want %v (%v)", mu, epsilon, got, want, err)
		}
	})
}

func TestDeltaIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu := drawMu(t)
		epsilon := math.Exp(rapid.Float64Range(-10, math.Log(1e4)).Draw(t, "log epsilon"))
		at := func(m, e float64) float64 {
			low, high := gaussian.LogDelta(m, e)
			l := (low + high) / 2
			if math.IsNaN(l) || l > 1e-15 || math.IsInf(l, 0) {
				t.Fatalf("log δ(%v, %v) = %v", m, e, l)
			}
			return l
		}
		l := at(mu, epsilon)
		slack := 1e-12 + 1e-13*math.Abs(l)
		if at(mu, epsilon*1.01) > l+slack || at(mu*1.01, epsilon) < l-slack {
			t.Fatalf("δ is not monotone at μ = %v, ε = %v", mu, epsilon)
		}
	})
}

// At ε = 0, δ is the total variation distance erf(μ/√8).
func TestDeltaAtZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu := drawMu(t)
		if got, err := Delta(mu, 0); err != nil || !near(got, math.Erf(mu/math.Sqrt(8)), 1e-11) {
			t.Fatalf("δ(%v, 0) = %v, want %v (%v)", mu, got, math.Erf(mu/math.Sqrt(8)), err)
		}
	})
}

// Far outside of what anybody asks for, log δ is still a number, not above 0, and a bound.
func TestLogDeltaOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu := math.Exp(rapid.Float64Range(-700, 700).Draw(t, "log mu"))
		epsilon := rapid.OneOf(rapid.Just(0.0), rapid.Custom(func(t *rapid.T) float64 {
			return math.Exp(rapid.Float64Range(-700, 700).Draw(t, "log epsilon"))
		})).Draw(t, "epsilon")
		l, err := LogDelta(mu, epsilon)
		if err != nil || math.IsNaN(l) || math.IsInf(l, 0) || l > 0 {
			t.Fatalf("LogDelta(%v, %v) = %v, %v", mu, epsilon, l, err)
		}
		if d, err := Delta(mu, epsilon); err != nil || !(d >= 0 && d <= 1) || (l > -700 && d < math.Exp(l)) {
			t.Fatalf("Delta(%v, %v) = %v, %v with logarithm %v", mu, epsilon, d, err, l)
		}
	})
}

// Where the rounding of ε/μ - μ/2 spoils log δ, the bound still holds. Golden values: mpmath with 150 digits, at
// numbers where that rounding makes δ smaller, by 4e-10.
func TestLogDeltaPaysForRounding(t *testing.T) {
	for _, tc := range []struct{ mu, epsilon, want float64 }{
		{1074309.6, 577076817013, -19.678624833296142897},
		{1284053.4, 824403955093, -19.249568053745346941},
	} {
		if l, err := LogDelta(tc.mu, tc.epsilon); err != nil || l < tc.want || l > tc.want+1e-7 {
			t.Errorf("LogDelta(%v, %v) = %.17g, %v; at least %.17g", tc.mu, tc.epsilon, l, err, tc.want)
		}
	}
}
