package sampling

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"mafalda/accounting"
	"mafalda/accounting/pld"
	"mafalda/internal/fault"
)

func rounds(count int, q float64) pld.Rounds {
	return pld.Rounds{Rounds: count, Mechanism: pld.Mechanism{Probability: q, NoiseMultiplier: 1}}
}

// exactTail is P(Bin(n, p) ≥ k) in whole numbers and with 200 bits.
func exactTail(n, k int, p float64) float64 {
	sum := new(big.Float).SetPrec(200)
	one := new(big.Float).SetPrec(200).SetInt64(1)
	for i := k; i <= n; i++ {
		term := new(big.Float).SetPrec(200).SetInt(new(big.Int).Binomial(int64(n), int64(i)))
		for j := range n {
			if j < i {
				term.Mul(term, big.NewFloat(p))
			} else {
				term.Mul(term, new(big.Float).Sub(one, big.NewFloat(p)))
			}
		}
		sum.Add(sum, term)
	}
	v, _ := sum.Float64()
	return v
}

// 60 random tails: never below the sum in whole numbers, and above it by no more than rounding from the mean on.
func TestTailsAreNeverBelowTheSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 3))
	for range 60 {
		n := 1 + rng.IntN(60)
		k, p := 1+rng.IntN(n), math.Exp(-5*rng.Float64())
		got, want := binomialTail(n, k, p), exactTail(n, k, p)
		if got < want || float64(k) > float64(n)*p && got > want*(1+1e-8) {
			t.Errorf("P(Bin(%d, %v) ≥ %d) = %v, want %v", n, p, k, got, want)
		}
	}
	for _, c := range [][2]int{{10, 11}, {0, 1}} {
		if got := binomialTail(c[0], c[1], 0.3); got != 0 {
			t.Errorf("%d of %d: %v", c[1], c[0], got)
		}
	}
	if got := binomialTail(999_999_999, 100_031_000, 0.1); !(got > 0.0005 && got < 0.0006) { // 3.27 standard deviations
		t.Errorf("of a billion: %v", got)
	}
}

// truncatedDelta is δ of two rounds of so few records, by integration over both outcomes: the record contributes 1 when
// it is kept, and all others contribute other when they are. Of more than most that are drawn, the first are kept, in an
// order in which the record has a place. A record that is taken out is not drawn; one that is zero takes its place.
func truncatedDelta(others, most, place int, q, noise, other, epsilon float64, zero bool) (removed, added float64) {
	type outcome struct{ with, without, mass float64 }
	var round []outcome
	for draws := range 1 << (others + 1) { // bit i is the place in the order
		mass, with, kept, without, keptWithout := 1.0, 0.0, 0, 0.0, 0
		for i := range others + 1 {
			if draws>>i&1 == 0 {
				mass *= 1 - q
				continue
			}
			mass *= q
			own := i == place
			if kept < most {
				kept++
				if own {
					with++
				} else {
					with += other
				}
			}
			if keptWithout < most && (!own || zero) {
				keptWithout++
				if !own {
					without += other
				}
			}
		}
		round = append(round, outcome{with, without, mass})
	}
	density := func(x float64) (with, without float64) {
		for _, o := range round {
			with += o.mass * math.Exp(-(x-o.with)*(x-o.with)/(2*noise*noise))
			without += o.mass * math.Exp(-(x-o.without)*(x-o.without)/(2*noise*noise))
		}
		scale := noise * math.Sqrt(2*math.Pi)
		return with / scale, without / scale
	}
	step := noise / 16
	var p, r []float64
	low, high := math.Min(float64(others)*other, 0)-7*noise, math.Max(float64(others)*other, 0)+1+7*noise
	for x := low; x < high; x += step {
		with, without := density(x)
		p, r = append(p, with*step), append(r, without*step)
	}
	e := math.Exp(epsilon)
	for i := range p {
		for j := range p {
			removed += math.Max(p[i]*p[j]-e*r[i]*r[j], 0)
			added += math.Max(r[i]*r[j]-e*p[i]*p[j], 0)
		}
	}
	return removed, added
}

// 60 random mechanisms of two truncated rounds, by integration over all draws and outcomes, whatever the others
// contribute, whichever are dropped, whether the record is taken out or zero: δ is never above what is accounted for.
func TestTruncatedRoundsAreNeverBelowTheIntegral(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 4))
	const integration = 2e-5 // of a sum where the integrand has an edge
	full := 0
	for range 60 {
		others := 1 + rng.IntN(5)
		most, place := 1+rng.IntN(others+1), rng.IntN(others+1)
		q, noise, epsilon := 0.05+0.5*rng.Float64(), 0.5+rng.Float64(), 2*rng.Float64()
		other := []float64{-1, -1, 1}[rng.IntN(3)]
		removed, added := truncatedDelta(others, most, place, q, noise, other, epsilon, rng.IntN(2) == 0)
		e := rounds(2, q)
		e.NoiseMultiplier = noise
		d, err := pld.Compose(accounting.ZeroOut, e)
		if err != nil {
			t.Fatal(err)
		}
		plain, _, err := d.Delta(epsilon)
		if err != nil {
			t.Fatal(err)
		}
		overflow := Batches{others + 1, most}.Overflow(e, 1)
		if worst := math.Max(removed, added); worst > (plain+overflow)*(1+integration) {
			t.Errorf("%d others, at most %d, place %d, q = %v, noise %v, others %v, ε = %v: δ = %v, accounted %v + %v", others, most,
				place, q, noise, other, epsilon, worst, plain, overflow)
		} else if worst > plain*(1+integration) {
			full++
		}
	}
	if full < 5 {
		t.Errorf("only %d cases are above rounds without truncation: the test sees no overflow", full)
	}
}

// The least size that costs nearly nothing does, and one less does not; larger ones drop less.
func TestEnough(t *testing.T) {
	for _, records := range []int{1, 2, 100, 50_000, 1_000_000} {
		e := rounds(380, 1./19)
		b := Enough(records, e, 1, 1e-6)
		if o := b.Overflow(e, 1); b.Most < 1 || b.Most > records || o > 1e-9 {
			t.Errorf("%d records: %+v has %v", records, b, o)
		}
		if less := (Batches{records, b.Most - 1}); b.Most > 1 && less.Overflow(e, 1) <= 1e-9 {
			t.Errorf("%d records: %+v is more than enough", records, b)
		}
		if left, err := b.Left(1e-6, e, 1); err != nil || !(left >= 0.999e-6*(1-1e-9) && left <= 1e-6) {
			t.Errorf("%d records: %v, %v", records, left, err)
		}
	}
	var argument *fault.Argument
	if _, err := (Batches{1000, 60}).Left(1e-6, rounds(380, 1./19), 1); !errors.As(err, &argument) || argument.Field != "MaxBatch" {
		t.Error(err)
	}
	for _, bad := range []Batches{{0, 1}, {1, 0}, {MaxRecords + 1, 5}, {-1, 5}} {
		if err := bad.Check(); !errors.As(err, &argument) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if left, err := (Batches{}).Left(1e-6, rounds(3, 0.5), 1); left != 1e-6 || err != nil {
		t.Error(left, err)
	}
}
