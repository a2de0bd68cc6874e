package accounting

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"mafalda/internal/exact"
)

// between draws log-uniformly.
func between(r *rand.Rand, low, high float64) float64 {
	return math.Exp(math.Log(low) + r.Float64()*math.Log(high/low))
}

// exactDelta returns δ(ε) of μ-GDP.
func exactDelta(mu, epsilon float64) *big.Float {
	m, e := exact.Of(mu), exact.Of(epsilon)
	middle, shift := exact.Over(e, m), exact.Over(m, exact.Of(2))
	return exact.Minus(exact.Tail(exact.Minus(middle, shift)), exact.Times(exact.Exp(e),
		exact.Tail(exact.Plus(middle, shift))))
}

// exactRDPEpsilon returns ε = ρ + log((α-1)/α) - (log δ + log α)/(α-1), or 0 if that is negative.
func exactRDPEpsilon(alpha float64, rho *big.Float, delta float64) *big.Float {
	a := exact.Of(alpha)
	less := exact.Minus(a, exact.Of(1))
	spent := exact.Over(exact.Plus(exact.Log(exact.Of(delta)), exact.Log(a)), less)
	e := exact.Minus(exact.Plus(rho, exact.Log(exact.Over(less, a))), spent)
	if e.Sign() < 0 {
		return exact.Of(0)
	}
	return e
}

// The exact arithmetic itself, against golden values: mpmath with 40 digits.
func TestExactArithmetic(t *testing.T) {
	for name, tc := range map[string]struct {
		have *big.Float
		want string
	}{
		"π":          {exact.Pi(exact.Bits), "3.141592653589793238462643383279502884197"},
		"log 3":      {exact.Log(exact.Of(3)), "1.098612288668109691395245236922525704647"},
		"log 1e-300": {exact.Log(exact.Of(1e-300)), "-690.7755278982137051803383445701005029086"},
		"e^-700.5":   {exact.Exp(exact.Of(-700.5)), "5.980196118639791206412107330495100047981e-305"},
		"e^2":        {exact.Exp(exact.Of(2)), "7.38905609893065022723042746057500781318"},
		"Q(1)":       {exact.Tail(exact.Of(1)), "0.1586552539314570514147674543679620775221"},
		"Q(-3)":      {exact.Tail(exact.Of(-3)), "0.9986501019683699054733481852324050226222"},
		"Q(39)":      {exact.Tail(exact.Of(39)), "5.353119112150945351815489669897853597612e-333"},
		"Q(41)":      {exact.Tail(exact.Of(41)), "9.190860993225916385439930132409424348681e-368"},
		"δ(1, 4)":    {exactDelta(1, 4), "0.00004712241200793119867421121499483235569386"},
	} {
		want, _, err := big.ParseFloat(tc.want, 10, exact.Bits, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		if r, _ := exact.Over(exact.Minus(tc.have, want), want).Float64(); math.Abs(r) > 1e-37 {
			t.Errorf("%s = %s, want %s", name, tc.have.Text('g', 40), tc.want)
		}
	}
}

// δ is never too small, and too large by little.
func TestDeltaIsRoundedUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		mu := between(r, 1e-4, 1e3)
		x := math.Max(-5, -mu/2) + 25*r.Float64()
		epsilon := math.Max(0, mu*mu/2+mu*x)
		want := exactDelta(mu, epsilon)
		log := exact.Log(want)
		size, _ := log.Float64()
		l, err := LogDelta(mu, epsilon)
		most := 2e-12 + 2e-14*math.Abs(size) + 0x1p-50*(epsilon/mu+mu)*(1+math.Abs(x))
		if off, _ := exact.Minus(exact.Of(l), log).Float64(); err != nil || off < 0 || off > most {
			t.Fatalf("log δ(%v, %v) = %v, %v, by %g too large", mu, epsilon, l, err, off)
		}
		if d, err := Delta(mu, epsilon); err != nil || exact.IsBelow(d, want) {
			t.Fatalf("δ(%v, %v) = %v, %v is too small", mu, epsilon, d, err)
		}
	}
}

// Where δ underflows it is the smallest positive number, not 0.
func TestDeltaNeverUnderflowsToZero(t *testing.T) {
	for _, tc := range [][2]float64{{1, 60}, {1e-3, 1}, {1, 1e300}, {1e-300, 1e300}} {
		if d, err := Delta(tc[0], tc[1]); err != nil || d != math.SmallestNonzeroFloat64 {
			t.Errorf("δ(%v, %v) = %v, %v", tc[0], tc[1], d, err)
		}
	}
}

// ε reaches δ, in exact arithmetic, and so does the μ for (ε, δ), also the one that is calibrated for.
func TestEpsilonIsRoundedUpAndMuDown(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		mu, delta := between(r, 1e-4, 100), between(r, 1e-60, 0.5)
		target := exact.Of(delta)
		epsilon, err := Epsilon(mu, delta)
		if err != nil || exactDelta(mu, epsilon).Cmp(target) > 0 {
			t.Fatalf("ε(%v, %v) = %v, %v is too small", mu, delta, epsilon, err)
		}
		epsilon = between(r, 1e-3, 100)
		p, err := Calibrate(Target{Epsilon: epsilon, Delta: delta}, 1, 1, ZeroOut)
		if err != nil || exactDelta(p.Mu, epsilon).Cmp(target) > 0 {
			t.Fatalf("noise for μ = %v, %v does not give (%v, %v)", p.Mu, err, epsilon, delta)
		}
		mu, err = MuFromDP(epsilon, delta)
		if err != nil || exactDelta(mu, epsilon).Cmp(target) > 0 || p.Mu > mu || !near(p.Mu, mu, 1e-11) {
			t.Fatalf("μ(%v, %v) = %v, %v is too large, or calibrated as %v", epsilon, delta, mu, err, p.Mu)
		}
	}
}

// What only multiplies, divides and takes roots gives the next float64, not one more.
func TestAlgebraIsRoundedUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	const unit = 0x1p-52
	check := func(name string, v float64, err error, want *big.Float, units float64) {
		t.Helper()
		if err != nil || exact.IsBelow(v, want) || exact.Excess(v, want) > units*unit {
			t.Fatalf("%s = %v, %v; want %s or at most %v units more", name, v, err, want.Text('g', 25), units)
		}
	}
	for range 5000 {
		mu, alpha := between(r, 1e-9, 1e9), 1+between(r, 1e-6, 1e6)
		sens, clip := between(r, 1e-9, 1e9), between(r, 1e-9, 1e9)
		m, a := exact.Of(mu), exact.Of(alpha)
		rho, err := RDP(mu, alpha)
		check("ρ", rho, err, exact.Over(exact.Times(a, exact.Times(m, m)), exact.Of(2)), 2)
		back, err := MuFromRDP(alpha, mu)
		check("μ of ρ", back, err, new(big.Float).Sqrt(exact.Over(exact.Times(exact.Of(2), m), a)), 2)
		contribution := ReplaceOne.Contribution(clip)
		moved := exact.Times(exact.Of(sens), exact.Of(contribution))
		std, err := NoiseStd(mu, sens, contribution)
		check("noise", std, err, exact.Over(moved, m), 2)
		of, err := MuFromNoise(mu, sens, contribution)
		check("μ of noise", of, err, exact.Over(moved, m), 2)
		p, err := Calibrate(Target{Mu: mu}, sens, clip, ReplaceOne)
		check("calibrated noise", p.NoiseStd, err, exact.Over(moved, m), 2)
		check("σ", p.Sigma, err, exact.Over(exact.Of(1), m), 1)
		n := r.IntN(1000) + 1
		basic, err := ComposeBasic(mu, n)
		check("kε", basic, err, exact.Times(m, exact.Of(float64(n))), 1)
	}
}

// √Σμ² and the advanced composition are not too small, tiny ones included.
func TestCompositionIsRoundedUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for range 1000 {
		mus := make([]float64, 1+r.IntN(20))
		sum := exact.Of(0)
		for i := range mus {
			mus[i] = between(r, 1e-5, 1e5)
			sum = exact.Plus(sum, exact.Times(exact.Of(mus[i]), exact.Of(mus[i])))
		}
		if mu, err := Compose(mus...); err != nil || exact.IsBelow(mu, new(big.Float).Sqrt(sum)) {
			t.Fatalf("%v composed to %v, %v", mus, mu, err)
		}
	}
	for range 200 {
		epsilon, k, delta := between(r, 1e-8, 20), 1+r.IntN(1000), between(r, 1e-300, 0.999)
		e, n := exact.Of(epsilon), exact.Of(float64(k))
		power := exact.Exp(e)
		want := exact.Plus(exact.Times(exact.Times(n, e), exact.Over(exact.Minus(power, exact.Of(1)), exact.Plus(power,
			exact.Of(1)))),
			exact.Times(e, new(big.Float).Sqrt(exact.Times(exact.Times(exact.Of(-2), n), exact.Log(exact.Of(delta))))))
		if v, err := ComposeAdvanced(epsilon, k, delta); err != nil || exact.IsBelow(v, want) || exact.Excess(v, want) > 1e-14 {
			t.Fatalf("%d of ε = %v with δ = %v: %v, %v; want %s", k, epsilon, delta, v, err, want.Text('g', 20))
		}
	}
	const least = math.SmallestNonzeroFloat64
	if mu, err := Compose(least, least); err != nil || mu < 2*least {
		t.Errorf("the smallest numbers composed to %v, %v", mu, err)
	}
	if v, err := ComposeAdvanced(least, 1, 0.99); err != nil || v < least {
		t.Errorf("the smallest ε composed to %v, %v", v, err)
	}
}

// ε of Renyi DP is not too small, of one order and of the best one.
func TestRenyiIsRoundedUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	for range 200 {
		alpha, rho := 1+between(r, 1e-4, 1e4), between(r, 1e-6, 1e3)
		delta := between(r, 1e-100, 0.9)
		v, err := EpsilonFromRDP(alpha, rho, delta)
		if err != nil || exact.IsBelow(v, exactRDPEpsilon(alpha, exact.Of(rho), delta)) {
			t.Fatalf("ε of (%v, %v) for %v: %v, %v", alpha, rho, delta, v, err)
		}
	}
	for range 30 {
		mu, delta := between(r, 1e-3, 30), between(r, 1e-100, 0.1)
		epsilon, alpha, err := EpsilonByRDP(mu, delta)
		divergence := exact.Over(exact.Times(exact.Of(alpha), exact.Times(exact.Of(mu), exact.Of(mu))), exact.Of(2))
		if err != nil || exact.IsBelow(epsilon, exactRDPEpsilon(alpha, divergence, delta)) {
			t.Fatalf("ε of μ = %v by Renyi DP: %v at %v, %v", mu, epsilon, alpha, err)
		}
	}
}

// A μ that was computed for (ε, δ) has few enough digits to be printed whole.
func TestCalibratedMuIsPrintable(t *testing.T) {
	p, err := Calibrate(Target{Epsilon: 8, Delta: 1e-6}, 1, 1, ZeroOut)
	if err != nil || p.Mu != 1.53154511756 {
		t.Errorf("μ = %v, %v", p.Mu, err)
	}
	if p, err = Calibrate(Target{Mu: 1.5315451175661451}, 1, 1, ZeroOut); err != nil || p.Mu != 1.5315451175661451 {
		t.Errorf("a μ that was given became %v, %v", p.Mu, err)
	}
}

func TestNoiseRefuses(t *testing.T) {
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		for i := range 3 {
			a := [3]float64{1, 1, 1}
			a[i] = bad
			if _, err := NoiseStd(a[0], a[1], a[2]); err == nil {
				t.Errorf("NoiseStd%v is accepted", a)
			}
			if mu, err := MuFromNoise(a[0], a[1], a[2]); err == nil && !(i == 1 && bad == 0 && mu == 0) {
				t.Errorf("MuFromNoise%v = %v", a, mu)
			}
		}
	}
	if _, err := NoiseStd(1e-300, 1e300, 1); err == nil {
		t.Error("infinite noise is accepted")
	}
}
