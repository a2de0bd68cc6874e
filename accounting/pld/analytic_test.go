package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"mafalda/accounting"
	"mafalda/internal/exact"
)

// trapezoid integrates over outcomes, which smooth functions that vanish at both ends make accurate to rounding.
func trapezoid(from, to float64, f func(x float64) float64) float64 {
	const points = 40000
	step, sum := (to-from)/points, 0.0
	for i := range points {
		sum += f(from + (float64(i)+0.5)*step)
	}
	return sum * step
}

// The moments of a round are no less than their integrals, and hardly more; an added record has no larger moments.
func TestLogMomentIsTheIntegral(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for range 60 {
		p := lossPair{q: math.Pow(10, -4*r.Float64()), s: between(r, 0.5, 20)}
		alpha := 2 + r.IntN(12)
		tilted := float64(alpha) / p.s // the moment's mass is around α, in outcomes
		from, to := -14*p.s, float64(alpha)+14*p.s+tilted
		density := func(x float64) float64 { return normalDensity(x/p.s) / p.s }
		removed := trapezoid(from, to, func(x float64) float64 {
			return density(x) * math.Expm1(float64(alpha)*p.logRatio(x))
		})
		want := math.Log1p(removed)
		got := Mechanism{p.q, p.s}.logMoment(alpha)
		if got < want*(1-1e-6)-1e-12 || got > want*(1+1e-6)+1e-11 {
			t.Errorf("q = %v, s = %v, α = %d: %v, want %v", p.q, p.s, alpha, got, want)
		}
		// the other way round: ∫ φ (φ/m)^{α-1}
		reverse := trapezoid(-float64(alpha)-14*p.s-tilted, to, func(x float64) float64 {
			return density(x) * math.Expm1(-float64(alpha-1)*p.logRatio(x))
		})
		if math.Log1p(reverse) > got*(1+1e-6)+1e-12 {
			t.Errorf("q = %v, s = %v, α = %d: an added record has %v, above %v", p.q, p.s, alpha, math.Log1p(reverse), got)
		}
	}
}

// With as much noise as there may be 10⁸ rounds of q = 1e-3 are nearly μ = 1e-5, whatever δ: which takes high orders.
func TestRenyiOfHighOrders(t *testing.T) {
	d := composeSampled(t, sampledRounds(1e-3, MaxNoiseMultiplier, 1e8))
	gaussian, err := accounting.Epsilon(1e-5, 1e-300)
	if err != nil {
		t.Fatal(err)
	}
	if got := d.renyiEpsilon(1e-300); got < gaussian*(1-1e-6) || got > 1.1*gaussian {
		t.Errorf("ε = %v, that of a Gaussian mechanism is %v", got, gaussian)
	}
	p, err := Calibrate(Target{Probability: 1e-3, Rounds: 1e8, Epsilon: 0.01, Delta: 1e-300})
	if err != nil || p.Epsilon > 0.01 || p.NoiseMultiplier > 5e4 { // this was out of reach
		t.Errorf("%+v, %v", p, err)
	}
}

// What formulas prove of a single round holds by its definition, in arithmetic with more digits, and the formula for
// one round is that definition.
func TestFormulasOfOneRoundHold(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 2))
	for range 40 {
		q, s := math.Pow(10, -5*r.Float64()), between(r, 0.3, 20)
		if r.IntN(6) == 0 {
			q = 1
		}
		d := composeSampled(t, sampledRounds(q, s, 1))
		delta := d.variation() * math.Pow(10, -15*r.Float64())
		upper, lower := d.oneRoundEpsilon(delta)
		for name, epsilon := range map[string]float64{"one round": upper, "draws": d.drawsEpsilon(delta),
			"renyi": d.renyiEpsilon(delta)} {
			if math.IsInf(epsilon, 1) {
				continue
			}
			for _, add := range []bool{false, true} {
				if exactSampledDelta(lossPair{q: q, s: s, add: add}, epsilon).Cmp(exact.Of(delta)) > 0 {
					t.Errorf("%s, q = %v, s = %v, δ = %v: ε = %v does not hold", name, q, s, delta, epsilon)
				}
			}
		}
		if lower > 0 && exactSampledDelta(lossPair{q: q, s: s}, lower).Cmp(exact.Of(delta)) <= 0 || lower < 0.999*upper-1e-9 {
			t.Errorf("q = %v, s = %v, δ = %v: ε from %v to %v", q, s, delta, lower, upper)
		}
	}
}

// What formulas prove of many rounds is not below what is shown not to hold.
func TestFormulasOfManyRoundsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 3))
	for range 12 {
		q, s := math.Pow(10, -3*r.Float64()), between(r, 0.6, 30)
		d := composeSampled(t, sampledRounds(q, s, 1+r.IntN(3000)))
		delta := d.variation() * math.Pow(10, -10*r.Float64())
		b, err := d.EpsilonBounds(delta)
		if err != nil {
			t.Fatal(err)
		}
		if draws, renyi := d.drawsEpsilon(delta), d.renyiEpsilon(delta); draws < b.Lower || renyi < b.Lower {
			t.Errorf("%+v, δ = %v: %v by draws, %v by Rényi divergences, below %v", d.events, delta, draws, renyi, b.Lower)
		}
	}
}

// At the ends of what there is everything comes to an end, with bounds in order that say what they are.
func TestSampledEndsEverywhere(t *testing.T) {
	for _, tc := range []struct {
		q      float64
		rounds int
		s      float64
		delta  float64
	}{{1e-9, 1e8, 1, 1e-300}, {1e-9, 1, 1, 1e-300}, {1e-5, 1, 0.5, 1e-300}, {1e-3, 1e8, 0.05, 0.5}, {0.5, 1e8, 0.5, 1e-12},
		{0.05, 100, 0.5, 1e-300}, {0.05, 100, 0.05, 1 - 1e-9}, {1e-3, 1000, 5, 1e-100}, {1, 1e8, 1, 1e-300}} {
		d := composeSampled(t, sampledRounds(tc.q, tc.s, tc.rounds))
		b, err := d.EpsilonBounds(tc.delta)
		if err != nil || !(0 <= b.Lower && b.Lower <= b.Upper) || math.IsInf(b.Upper, 1) || b.By.About() == string(b.By) {
			t.Errorf("%+v: %+v, %v", tc, b, err)
		}
		if without, err := accounting.Epsilon(d.unsampled(), tc.delta); err != nil || b.Upper > without {
			t.Errorf("%+v: %+v, without sampling %v, %v", tc, b, without, err)
		}
	}
	// A record that is not drawn with a probability above 1 - δ needs no noise. This did not end.
	p, err := Calibrate(Target{Probability: 0.05, Rounds: 100, Epsilon: 2, Delta: 0.999999})
	if err != nil || p.NoiseMultiplier != MinNoiseMultiplier || p.By != Nothing {
		t.Errorf("%+v, %v", p, err)
	}
	// A fallback far below the one for every record in every round, which was 5e7, and the grid's, which was 24.
	for _, tc := range []struct {
		rounds int
		most   float64
	}{{1e8, 800}, {1, 17}} {
		b, err := composeSampled(t, sampledRounds(1e-9, 1, tc.rounds)).EpsilonBounds(1e-300)
		if err != nil || b.Upper > tc.most {
			t.Errorf("%d rounds: %+v, %v", tc.rounds, b, err)
		}
	}
}

// Where the documentation promises accuracy there is accuracy.
func TestAccurateWherePromised(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 4))
	for range 12 {
		d := composeSampled(t, sampledRounds(between(r, 1e-3, 1), between(r, 0.5, 100), int(between(r, 10, 1e4))))
		delta := between(r, 1e-12, 0.5)
		b, err := d.EpsilonBounds(delta)
		if err != nil || !b.Accurate() && b.Upper < 1000 {
			t.Errorf("%+v, δ = %v: %+v, %v", d.events, delta, b, err)
		}
	}
}

// Calibrated noise is enough for one round by the definition, from the smallest δ to those near 1, and hardly more.
func TestCalibratedNoiseOfOneRoundIsEnough(t *testing.T) {
	for _, q := range []float64{1e-9, 1e-4, 0.35, 1} {
		for _, delta := range []float64{1e-300, 1e-12, 1e-6, 0.3, 0.9, 1 - 1e-9} {
			for _, epsilon := range []float64{1e-3, 2, 60} {
				p, err := Calibrate(Target{Probability: q, Rounds: 1, Epsilon: epsilon, Delta: delta})
				if err != nil {
					t.Errorf("q = %v, δ = %v, ε = %v: %v", q, delta, epsilon, err)
					continue
				}
				holds := func(multiplier float64) bool {
					return exactSampledDelta(lossPair{q: q, s: multiplier}, epsilon).Cmp(exact.Of(delta)) <= 0 &&
						exactSampledDelta(lossPair{q: q, s: multiplier, add: true}, epsilon).Cmp(exact.Of(delta)) <= 0
				}
				if !holds(p.NoiseMultiplier) || p.Epsilon > epsilon {
					t.Errorf("q = %v, δ = %v, ε = %v: %+v does not hold", q, delta, epsilon, p)
				}
				if delta >= 1e-12 && p.NoiseMultiplier > 1.05*MinNoiseMultiplier && holds(0.9*p.NoiseMultiplier) {
					t.Errorf("q = %v, δ = %v, ε = %v: 0.9 of %+v is enough", q, delta, epsilon, p)
				}
			}
		}
	}
}
