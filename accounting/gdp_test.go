package accounting

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func near(got, want, relative float64) bool { return math.Abs(got-want) <= relative*math.Abs(want) }

// Golden values of log δ: mpmath with at least 60 digits, from Φ by its erfc.
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
	} {
		got := logDelta(tc.mu, tc.epsilon)
		if d := math.Abs(got - tc.want); d > absoluteError/2+relativeError/2*math.Abs(tc.want) {
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
			l := logDelta(m, e)
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

func TestConversionsAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu := drawMu(t)
		delta := math.Exp(rapid.Float64Range(-690, -0.1).Draw(t, "log delta"))
		epsilon, err := Epsilon(mu, delta)
		if err != nil {
			t.Fatal(err)
		}
		if l, _ := LogDelta(mu, epsilon); l > math.Log(delta) {
			t.Fatalf("ε = %v does not reach δ = %v for μ = %v", epsilon, delta, mu)
		}
		if epsilon == 0 {
			return
		}
		back, err := MuFromDP(epsilon, delta)
		if err != nil || !near(back, mu, 1e-9) {
			t.Fatalf("μ = %v came back as %v for ε = %v, δ = %v (%v)", mu, back, epsilon, delta, err)
		}
		if l, _ := LogDelta(back, epsilon); l > math.Log(delta) {
			t.Fatalf("μ = %v is too large for ε = %v, δ = %v", back, epsilon, delta)
		}
	})
}

func TestComposition(t *testing.T) {
	if mu, err := Compose(3, 4); err != nil || !near(mu, 5, 1e-14) || mu < 5 {
		t.Errorf("Compose(3, 4) = %v, %v", mu, err)
	}
	if mu, err := Compose(1e200, 1e200); err != nil || !near(mu, math.Sqrt2*1e200, 1e-14) {
		t.Errorf("Compose(1e200, 1e200) = %v, %v", mu, err)
	}
	if mu, err := Compose(); err != nil || mu != 0 {
		t.Errorf("Compose() = %v, %v", mu, err)
	}
}

func TestParametersAreChecked(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, bad := range []float64{nan, inf, 0, -1} {
		for name, call := range map[string]func() error{
			"Delta":        func() error { _, err := Delta(bad, 1); return err },
			"Epsilon":      func() error { _, err := Epsilon(bad, 1e-5); return err },
			"Epsilon's δ":  func() error { _, err := Epsilon(1, bad); return err },
			"MuFromDP's δ": func() error { _, err := MuFromDP(1, bad); return err },
			"RDP":          func() error { _, err := RDP(bad, 2); return err },
			"RDP's α":      func() error { _, err := RDP(1, bad); return err },
			"MuFromRDP":    func() error { _, err := MuFromRDP(2, bad); return err },
			"EpsilonByRDP": func() error { _, _, err := EpsilonByRDP(bad, 1e-5); return err },
			"Calibrate":    func() error { _, err := Calibrate(Target{Mu: bad}, 1, 1, ZeroOut); return err },
			"sensitivity":  func() error { _, err := Calibrate(Target{Mu: 1}, bad, 1, ZeroOut); return err },
			"clip":         func() error { _, err := Calibrate(Target{Mu: 1}, 1, bad, ZeroOut); return err },
		} {
			if err := call(); !errors.Is(err, ErrParameter) {
				t.Errorf("%s with %v: error %v", name, bad, err)
			}
		}
	}
	for _, bad := range []float64{nan, inf, -1} {
		if _, err := Delta(1, bad); !errors.Is(err, ErrParameter) {
			t.Errorf("ε = %v: %v", bad, err)
		}
		if _, err := Compose(1, bad); !errors.Is(err, ErrParameter) {
			t.Errorf("Compose with %v: %v", bad, err)
		}
	}
	if _, err := Epsilon(1, 1); !errors.Is(err, ErrParameter) {
		t.Errorf("δ = 1: %v", err)
	}
}

func ExampleEpsilon() {
	epsilon, err := Epsilon(1, 1e-6) // 1-GDP
	fmt.Printf("%.6f %v\n", epsilon, err)
	// Output: 4.886554 <nil>
}
