package accounting

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Golden values: mpmath with 120 digits, by bisection of log δ.
func TestEpsilonGolden(t *testing.T) {
	for _, tc := range []struct{ mu, delta, want float64 }{
		{1e-4, 1e-8, 0.0003363058947076603793},
		{0.3, 1e-9, 1.6912523121961990834},
		{1, 1e-300, 37.44884791213910494},
		{3, 0.01, 10.745800744935572758},
		{20, 1e-12, 339.83317983692848921},
		{1000, 1e-5, 504263.89292065408},
	} {
		if got, err := Epsilon(tc.mu, tc.delta); err != nil || !near(got, tc.want, 1e-11) || got < tc.want {
			t.Errorf("Epsilon(%v, %v) = %.17g, %v; want %.17g or a little more", tc.mu, tc.delta, got, err, tc.want)
		}
	}
}

// Golden values: mpmath with 120 digits, by bisection of log δ.
func TestMuGolden(t *testing.T) {
	for _, tc := range []struct{ epsilon, delta, want float64 }{
		{1, 1e-05, 0.26805112321129421922},
		{8, 1e-06, 1.5315451175661451262},
		{0.1, 1e-10, 0.018448041589280555816},
		{100, 1e-300, 2.6123411344893268371},
	} {
		if got, err := MuFromDP(tc.epsilon, tc.delta); err != nil || !near(got, tc.want, 1e-11) || got > tc.want {
			t.Errorf("MuFromDP(%v, %v) = %.17g, %v; want %.17g or a little less", tc.epsilon, tc.delta, got, err,
				tc.want)
		}
	}
}

// At ε = 0, μ = √8 erf⁻¹(δ), which is √(2π) δ for the smallest δ.
func TestMuAtZero(t *testing.T) {
	for _, delta := range []float64{1e-290, 1e-20, 1e-5, 0.3} {
		want := math.Sqrt(8) * math.Erfinv(delta)
		if got, err := MuFromDP(0, delta); err != nil || !near(got, want, 1e-11) {
			t.Errorf("MuFromDP(0, %v) = %v, %v; want %v", delta, got, err, want)
		}
	}
}

// ε is 0 where the total variation is within δ.
func TestEpsilonZero(t *testing.T) {
	if got, err := Epsilon(1, 0.5); err != nil || got != 0 { // δ(0) = erf(1/√8) = 0.38
		t.Errorf("Epsilon(1, 0.5) = %v, %v; want 0", got, err)
	}
}

// δ(μ, ε) leads back to ε.
func TestEpsilonOfDelta(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu := drawMu(t)
		x := rapid.Float64Range(math.Max(-3, 2e-3-mu/2), 30).Draw(t, "ε/μ - μ/2") // ε is positive
		epsilon := mu*mu/2 + mu*x
		delta, err := Delta(mu, epsilon)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Epsilon(mu, delta); err != nil || !near(got, epsilon, 1e-9) {
			t.Fatalf("ε = %v came back as %v for μ = %v, δ = %v (%v)", epsilon, got, mu, delta, err)
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
