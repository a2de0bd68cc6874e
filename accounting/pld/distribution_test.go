package pld

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"mafalda/accounting"
	"mafalda/internal/fault"
)

// composeSampled fails the test if the events cannot be composed.
func composeSampled(t testing.TB, events ...Rounds) *Distribution {
	t.Helper()
	d, err := Compose(accounting.ZeroOut, events...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func sampledRounds(q, s float64, rounds int) Rounds {
	return Rounds{Mechanism{q, s}, rounds}
}

// published are upper bounds of dp_accounting 0.6.0 (Google's differential-privacy library): connect the dots with an
// interval of 5e-5, and of 2e-5 from 20000 rounds on or for q below 1e-3.
var published = [...]struct {
	q, s    float64
	rounds  int
	delta   float64
	epsilon float64
}{
	{0.052631578947368418, 1, 380, 1e-06, 7.82111226},
	{0.052631578947368418, 4, 380, 1e-06, 1.13849765},
	{0.10526315789473684, 1.5, 190, 1e-06, 5.88376576},
	{0.21052631578947367, 2, 95, 1e-05, 5.17337292},
	{0.42105263157894735, 3, 48, 1e-06, 5.11438291},
	{0.01, 0.8, 1000, 1e-05, 3.14101518},
	{0.001, 0.6, 10000, 1e-08, 4.51887719},
	{0.5, 5, 20, 1e-09, 2.76003321},
	{0.01, 1, 10000, 1e-06, 6.9073936},
	{0.001, 1, 100000, 1e-06, 1.86108536},
	{0.0050000000000000001, 0.7, 2000, 1e-05, 3.1747815},
	{1, 5, 20, 1e-06, 4.30584114},
	{1, 2, 1, 1e-09, 2.90973247},
	{0.29999999999999999, 1, 1, 1e-06, 3.44549264},
	{0.29999999999999999, 1, 10, 1e-06, 7.99659784},
	{0.050000000000000003, 2, 2000, 1e-07, 6.68706034},
	{0.02, 0.6, 100, 1e-06, 7.05886515},
	{0.10000000000000001, 0.9, 50, 1e-08, 9.3001577},
	{0.25, 3, 400, 1e-06, 9.30901549},
	{0.052631578900000003, 2, 380, 1e-06, 2.63183568},
	{0.052631578900000003, 1.5, 380, 1e-06, 3.92863508},
	{0.052631578900000003, 0.8, 380, 1e-06, 12.4874276},
	{0.105263, 2.5, 190, 1e-06, 2.93744441},
	{0.15789500000000001, 2, 127, 1e-06, 4.95525511},
	{0.21052599999999999, 3, 95, 1e-06, 3.46961825},
	{0.63157890000000005, 4, 32, 1e-06, 4.47785546},
	{1, 4.5, 20, 1e-06, 4.85214112},
	{0.90000000000000002, 4, 30, 1e-05, 5.64239638},
	{0.002, 0.8, 5000, 1e-09, 2.55049437},
	{0.00050000000000000001, 0.7, 20000, 1e-07, 1.45566665},
	{0.01, 4, 5000, 0.001, 0.400908242},
	{0.10000000000000001, 10, 1000, 1e-06, 1.37945321},
	{0.02, 1.2, 3000, 1e-10, 7.72307771},
	{0.050000000000000003, 1.1, 60, 0.001, 1.39495828},
	{0.75, 2, 3, 1e-07, 3.80842575},
	{0.5, 0.7, 2, 1e-05, 8.10795773},
}

// An independent accountant's upper bound is not below our lower one, and ours is within 0.1 % of it.
func TestEpsilonAgainstAnotherAccountant(t *testing.T) {
	worst, widest := 0.0, 0.0
	for _, tc := range published {
		upper, lower, err := composeSampled(t, sampledRounds(tc.q, tc.s, tc.rounds)).Epsilon(tc.delta)
		if err != nil || tc.epsilon < lower || math.Abs(upper/tc.epsilon-1) > 1e-3 || upper-lower > 2e-3*upper {
			t.Errorf("%+v: %v to %v, %v", tc, lower, upper, err)
		}
		worst, widest = max(worst, math.Abs(upper/tc.epsilon-1)), max(widest, (upper-lower)/upper)
	}
	t.Logf("largest deviation %.2g, largest distance of the bounds %.2g", worst, widest)
}

// Without sampling the accountant for sampling, kept from the shortcut, encloses the exact ε.
func TestEverybodyInEveryRoundIsGaussian(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for range 20 {
		s, rounds, delta := between(r, 0.3, 300), int(between(r, 1, 1e4)), between(r, 1e-12, 1e-2)
		d := composeSampled(t, sampledRounds(1, s, rounds))
		mu := math.Sqrt(float64(rounds)) / s
		want, err := accounting.Epsilon(mu, delta)
		if err != nil {
			t.Fatal(err)
		}
		upper, lower := d.direction(false, delta).epsilon(delta, 0)
		if upper < want*(1-1e-10) || lower > want || upper-lower > 2e-3*want {
			t.Errorf("s = %v, %d rounds, δ = %v: %v to %v, want %v", s, rounds, delta, lower, upper, want)
		}
		if upper, lower, err := d.Epsilon(delta); err != nil || upper < want*(1-1e-10) || upper > want*(1+1e-10) ||
			lower > want || lower < want*(1-1e-8) {
			t.Errorf("s = %v, %d rounds, δ = %v: %v to %v, %v, want %v", s, rounds, delta, lower, upper, err, want)
		}
	}
}

// Two events of half the rounds are one; a second event of another kind adds to it.
func TestComposeSampled(t *testing.T) {
	e := sampledRounds(0.05, 1, 50)
	twice, both, once := composeSampled(t, e, e), composeSampled(t, e, sampledRounds(0.2, 3, 20)),
		composeSampled(t, sampledRounds(0.05, 1, 100))
	u1, l1, err1 := twice.Epsilon(1e-6)
	u2, l2, err2 := once.Epsilon(1e-6)
	if err1 != nil || err2 != nil || u1 != u2 || l1 != l2 {
		t.Errorf("twice 50 rounds %v to %v, 100 rounds %v to %v, %v, %v", l1, u1, l2, u2, err1, err2)
	}
	near := composeSampled(t, e, sampledRounds(0.05, math.Nextafter(1, 2), 50)) // not joined
	if u3, l3, err := near.Epsilon(1e-6); err != nil || u3 < l2 || l3 > u2 || math.Abs(u3/u2-1) > 1e-4 {
		t.Errorf("two like events %v to %v, %v; one event %v to %v", l3, u3, err, l2, u2)
	}
	alone, _, err1 := composeSampled(t, e).Epsilon(1e-6)
	if _, l4, err := both.Epsilon(1e-6); err != nil || err1 != nil || l4 <= alone {
		t.Errorf("with another event %v, without %v", l4, alone)
	}
}

// More noise, a smaller probability, fewer rounds and a larger δ are more private, if by more than the bounds'
// distance.
func TestEpsilonIsMonotone(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for range 10 {
		q, s, delta := between(r, 1e-3, 0.8), between(r, 0.5, 10), between(r, 1e-10, 1e-4)
		rounds := 1 + int(between(r, 1, 1000))
		_, most, err := composeSampled(t, sampledRounds(q, s, rounds)).Epsilon(delta)
		if err != nil {
			t.Fatal(err)
		}
		for name, e := range map[string]struct {
			Rounds
			delta float64
		}{
			"noise": {sampledRounds(q, s/1.2, rounds), delta}, "probability": {sampledRounds(q*1.2, s, rounds), delta},
			"rounds": {sampledRounds(q, s, 2*rounds), delta}, "δ": {sampledRounds(q, s, rounds), delta / 5},
		} {
			if upper, _, err := composeSampled(t, e.Rounds).Epsilon(e.delta); err != nil || upper < most {
				t.Errorf("%s: %+v has ε up to %v, %v; (%v, %v, %d, %v) at least %v", name, e, upper, err, q, s, rounds,
					delta, most)
			}
		}
	}
}

// δ of ε gives ε back.
func TestDeltaIsTheInverse(t *testing.T) {
	for _, tc := range published[:8] {
		d := composeSampled(t, sampledRounds(tc.q, tc.s, tc.rounds))
		upper, lower, err := d.Epsilon(tc.delta)
		if err != nil {
			t.Fatal(err)
		}
		_, least, err1 := d.Delta(upper)
		most, _, err2 := d.Delta(lower)
		if err1 != nil || err2 != nil || least > tc.delta || most < tc.delta || most > 1.1*tc.delta ||
			least < tc.delta/1.1 {
			t.Errorf("%+v: δ(%v) from %v, δ(%v) to %v; %v, %v", tc, upper, least, lower, most, err1, err2)
		}
	}
}

// At the ends of what is accounted for there are bounds, in order, and no NaN.
func TestSampledExtremes(t *testing.T) {
	lengths, smallest, least := []int{1, 1000}, MinNoiseMultiplier, 1e-30
	if testing.Short() {
		lengths, smallest, least = []int{1}, 0.3, 1e-12
	}
	for _, q := range []float64{MinProbability, 0.5, 1 - 1e-9, 1} {
		for _, s := range []float64{smallest, 0.3, MaxNoiseMultiplier} {
			for _, rounds := range lengths {
				deltas := []float64{least, 0.99}
				if q == 0.5 && s == smallest && rounds > 1 {
					rounds, deltas = 100, deltas[:1] // neither is the extreme: the grids are as fine for fewer rounds
				}
				d, typical := composeSampled(t, sampledRounds(q, s, rounds)), 1.0
				for _, delta := range deltas {
					upper, lower, err := d.Epsilon(delta)
					typical = math.Max(1, upper) // in the end about where the losses are
					if err != nil || !(0 <= lower && lower <= upper) || math.IsInf(upper, 1) {
						t.Errorf("q = %v, s = %v, %d rounds, δ = %v: %v to %v, %v", q, s, rounds, delta, lower, upper,
							err)
					}
				}
				if rounds > 1 && (q == MinProbability || s == smallest) || q == MinProbability && s == 0.3 {
					continue // δ of the finest grids: one round and the least noise have grids as fine
				}
				if upper, lower, err := d.Delta(typical); err != nil || !(0 <= lower && lower <= upper && upper <= 1) {
					t.Errorf("q = %v, s = %v, %d rounds: δ(%v) %v to %v, %v", q, s, rounds, typical, lower, upper, err)
				}
			}
		}
	}
}

func TestComposeSampledRefuses(t *testing.T) {
	good := sampledRounds(0.5, 1, 10)
	compose := func(a accounting.Adjacency, events ...Rounds) error {
		_, err := Compose(a, events...)
		return err
	}
	_, _, noDelta := composeSampled(t, good).Epsilon(0)
	_, _, noEpsilon := composeSampled(t, good).Delta(math.NaN())
	for field, err := range map[string]error{
		"Probability":     compose(accounting.ZeroOut, sampledRounds(1.1, 1, 10)),
		"NoiseMultiplier": compose(accounting.ZeroOut, sampledRounds(0.5, 0, 10)),
		"Rounds":          compose(accounting.ZeroOut, good, sampledRounds(0.5, 1, 0)),
		"Events":          compose(accounting.ZeroOut),
		"Adjacency":       compose(7, good),
		"Delta":           noDelta,
		"Epsilon":         noEpsilon,
	} {
		var a *fault.Argument
		if !errors.As(err, &a) || a.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, e := range []Rounds{sampledRounds(0, 1, 1), sampledRounds(math.NaN(), 1, 1),
		sampledRounds(1e-10, 1, 1), sampledRounds(1, math.Inf(1), 1), sampledRounds(1, 1e-3, 1), sampledRounds(1, math.NaN(), 1),
		sampledRounds(1, 1, MaxRounds+1)} {
		if _, err := Compose(accounting.ZeroOut, e); err == nil {
			t.Errorf("%+v is accepted", e)
		}
	}
}

func BenchmarkEpsilonSampled(b *testing.B) {
	for name, e := range map[string]Rounds{
		"q=1/19,rounds=380": sampledRounds(1./19, 1, 380), "q=1e-4,rounds=1e6": sampledRounds(1e-4, 0.6, 1_000_000),
	} {
		b.Run(name, func(b *testing.B) {
			d := composeSampled(b, e)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := d.Epsilon(1e-6); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
