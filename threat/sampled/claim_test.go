package sampled

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/accounting/bins"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/strategy"
)

// binsOfTwo returns the claim of two bins of one step each, with independent noise, by integration on a grid: what one
// record tells is a mixture of two shifts.
func binsOfTwo(t *testing.T, std, epsilon float64) Claim {
	t.Helper()
	delta := func(epsilon float64) (float64, error) {
		const step, far = 0.05, 8.0
		removed, added := 0.0, 0.0
		e := math.Exp(epsilon)
		for x := -far * std; x < far*std; x += step * std {
			for y := -far * std; y < far*std; y += step * std {
				q := math.Exp(-(x*x+y*y)/(2*std*std)) / (2 * math.Pi) * step * step
				p := q * (math.Exp((2*x-1)/(2*std*std)) + math.Exp((2*y-1)/(2*std*std))) / 2
				removed += max(0, p-e*q)
				added += max(0, q-e*p)
			}
		}
		return max(removed, added) * (1 + 1e-3), nil
	}
	at, err := delta(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return Claim{Epsilon: epsilon, Delta: at, Curve: delta}
}

// What is claimed of a mechanism holds for it, and not for half its noise, nor for batches that are fixed.
func TestAuditSampled(t *testing.T) {
	poisson := func(groups int, q float64) participation.Sampling {
		return participation.PoissonSampling{Groups: groups, Probability: q}
	}
	claimed := func(c strategy.Strategy, s participation.Sampling, noise, delta float64) Claim {
		claim, err := ClaimOf(t.Context(), accounting.ZeroOut, c, s, noise, delta)
		if err != nil {
			t.Fatal(err)
		}
		return claim
	}
	runs := 16000
	if testing.Short() {
		runs = 6000
	}
	one, three := strategy.Identity(40), banded(t, 40, 3, 0.6)
	bins, cyclic := participation.BinsSampling{Bins: 2}, participation.CyclicSampling{Batches: 10}
	for name, tc := range map[string]struct {
		c     strategy.Strategy
		noise float64
		claim Claim
		as    participation.Sampling // the mechanism that is claimed
		not   participation.Sampling // and one that it does not hold for
	}{
		"dp-d-sgd": {one, 0.8, claimed(one, poisson(1, 0.1), 0.8, 1e-3), poisson(1, 0.1), cyclic},
		"bands":    {three, 1, claimed(three, poisson(3, 0.3), 1, 1e-3), poisson(3, 0.3), cyclic},
		"small ε":  {three, 3, claimed(three, poisson(3, 0.3), 3, 1e-6), poisson(3, 0.3), cyclic},
		"bins": {strategy.Identity(2), 0.5, binsOfTwo(t, 0.5, 2), bins,
			participation.CyclicSampling{Batches: 2}},
		"cyclic": {three, 3, claimed(three, cyclic, 3, 1e-3), cyclic, participation.CyclicSampling{Batches: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			audit := func(actual participation.Sampling, scale float64) Result {
				r, err := Audit(context.Background(), Scenario{tc.c, tc.noise, tc.claim, actual},
					Options{Random: rand.NewPCG(1, 2), Runs: runs, NoiseScale: scale})
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			r := audit(tc.as, 1)
			if !r.Passed || r.EpsilonLow > r.Epsilon || r.EpsilonLow < 0.05*r.Epsilon {
				t.Errorf("what is claimed: %+v", r)
			}
			if r := audit(tc.as, 0.5); r.Passed {
				t.Errorf("half the noise passes: %+v", r)
			}
			if r := audit(tc.not, 1); r.Passed {
				t.Errorf("%v passes for %v: %+v", tc.not, tc.as, r)
			}
		})
	}
}

// A record that is replaced is attacked as one: what is claimed for it holds, and nearly all of it is reached, which is
// more than is claimed of a record that is there or not; nothing is proved for bins and allocation.
func TestAuditOfAReplacedRecord(t *testing.T) {
	c, runs := banded(t, 30, 3, 0.6), Options{Random: rand.NewPCG(1, 2), Runs: 16000}
	replaced := accounting.ReplaceOne
	for _, s := range []participation.Sampling{participation.PoissonSampling{Groups: 3, Probability: 0.3},
		participation.TruncatedSampling{PoissonSampling: participation.PoissonSampling{Groups: 3, Probability: 0.3},
			MaxBatch: 60, Most: 60},
		participation.CyclicSampling{Batches: 10}} {
		claim, err := ClaimOf(t.Context(), replaced, c, s, 1.5, 1e-2)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Audit(t.Context(), Scenario{c, 1.5, claim, s}, runs)
		if err != nil {
			t.Fatal(err)
		}
		if p := r.Points[0]; !r.Passed || p.DeltaLow < 0.85*p.Delta || p.Direction != "replace" {
			t.Errorf("%v: %+v", s, r)
		}
		less, err := ClaimOf(t.Context(), accounting.ZeroOut, c, s, 1.5, 1e-2)
		if err != nil {
			t.Fatal(err)
		}
		less.Adjacency = replaced
		if r, err = Audit(t.Context(), Scenario{c, 1.5, less, s}, runs); err != nil || r.Passed {
			t.Errorf("%v: the claim for a record that is there or not passes for a replaced one: %v, %+v", s, err, r)
		}
	}
	for _, s := range []participation.Sampling{participation.BinsSampling{Bins: 3},
		participation.AllocationSampling{Groups: 3, Participations: 2}} {
		var a *fault.Argument
		if _, err := ClaimOf(t.Context(), replaced, c, s, 1, 0.1); !errors.As(err, &a) || a.Field != "Adjacency" {
			t.Errorf("%v: %v", s, err)
		}
	}
}

// The attack is close to what is claimed in the direction that tells more: no power is lost on the way. And
// nodes that multiply by another matrix are found.
func TestAuditSampledIsStrong(t *testing.T) {
	c, s := banded(t, 30, 3, 0.6), participation.PoissonSampling{Groups: 3, Probability: 0.3}
	claim, err := ClaimOf(t.Context(), accounting.ZeroOut, c, s, 1, 1e-2)
	if err != nil {
		t.Fatal(err)
	}
	options := Options{Random: rand.NewPCG(1, 2), Runs: 40000}
	r, err := Audit(context.Background(), Scenario{c, 1, claim, s}, options)
	if err != nil || !r.Passed {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, p := range r.Points {
		if p.Direction == "remove" && p.Epsilon > 0 && p.Delta > 0.1 && p.DeltaLow < 0.8*p.Delta {
			t.Errorf("%+v", p)
		}
	}
	if r.EpsilonLow < 0.7*r.Epsilon {
		t.Errorf("%v of %v", r.EpsilonLow, r.Epsilon)
	}
	var noising mat.TriDense
	if err := c.NoisingTo(&noising); err != nil {
		t.Fatal(err)
	}
	options.Noising = &noising
	if r, err := Audit(context.Background(), Scenario{c, 1, claim, s}, options); err != nil || !r.Passed {
		t.Errorf("the same matrix: %+v, %v", r, err)
	}
	var twice mat.Dense
	twice.Mul(&noising, &noising) // more correlated than is claimed
	twice.Scale(0.6, &twice)
	options.Noising = &twice
	if r, err := Audit(context.Background(), Scenario{c, 1, claim, s}, options); err != nil || r.Passed {
		t.Errorf("another matrix: %+v, %v", r, err)
	}
}

// The accountant of bins agrees with a definition on a grid, on the whole curve, and refuses negative entries.
func TestClaimSampledBins(t *testing.T) {
	minus, err := strategy.NewDense(mat.NewDense(2, 2, []float64{1, 0, -0.5, 1}))
	if err != nil {
		t.Fatal(err)
	}
	two := participation.BinsSampling{Bins: 2}
	if _, err := ClaimOf(t.Context(), accounting.ZeroOut, minus, two, 1, 1e-3); !errors.Is(err, bins.ErrDomination) {
		t.Errorf("a negative entry: %v", err)
	}
	if testing.Short() {
		return // the accountant draws millions of samples
	}
	claim, err := ClaimOf(t.Context(), accounting.ZeroOut, strategy.Identity(2), two, 0.8, 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	exact := binsOfTwo(t, 0.8, 1)
	for _, epsilon := range []float64{0, 0.5, 1, 2} {
		got, err := claim.Curve(epsilon)
		want, err2 := exact.Curve(epsilon)
		if err != nil || err2 != nil || got < 0.99*want || got > 1.1*want {
			t.Errorf("epsilon = %v: delta = %v, want %v; %v, %v", epsilon, got, want, err, err2)
		}
	}
}

func TestClaimSampled(t *testing.T) {
	c := banded(t, 12, 3, 0.6)
	scaled := c.Scaled(0.25) // with a quarter of the noise, it is the same mechanism
	s := participation.PoissonSampling{Groups: 3, Probability: 0.5}
	one, err := ClaimOf(t.Context(), accounting.ZeroOut, c, s, 2, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ClaimOf(t.Context(), accounting.ZeroOut, scaled, s, 0.5, 1e-5)
	if err != nil || math.Abs(other.Epsilon-one.Epsilon) > 1e-9*one.Epsilon {
		t.Errorf("%v, want %v; %v", other.Epsilon, one.Epsilon, err)
	}
	if delta, err := one.Curve(one.Epsilon); err != nil || math.Abs(delta/1e-5-1) > 0.02 {
		t.Errorf("delta = %v, %v", delta, err)
	}
	fixed, err := ClaimOf(t.Context(), accounting.ZeroOut, c, participation.CyclicSampling{Batches: 3}, 2, 1e-5)
	want, err2 := accounting.Epsilon(1, 1e-5) // 4 columns of norm 1 and noise 2
	if err != nil || err2 != nil || fixed.Epsilon < want || fixed.Epsilon > want*(1+1e-9) {
		t.Errorf("%v, want %v; %v, %v", fixed.Epsilon, want, err, err2)
	}
	all := participation.BinsSampling{Bins: 1} // all columns together
	known, err := ClaimOf(t.Context(), accounting.ZeroOut, c, all, 10, 1e-5)
	cs, err2 := columnsOf(c)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	want, err = accounting.Epsilon(floats.Norm(cs.sum(cs.every(0, 1)), 2)/10, 1e-5)
	if err != nil || math.Abs(known.Epsilon-want) > 1e-3*want {
		t.Errorf("one bin: %v, want %v; %v", known.Epsilon, want, err)
	}
	for name, tc := range map[string]struct {
		s            participation.Sampling
		noise, delta float64
	}{
		"Groups":          {participation.PoissonSampling{Groups: 2, Probability: 0.5}, 1, 0.1},
		"Probability":     {participation.PoissonSampling{Groups: 3}, 1, 0.1},
		"NoiseMultiplier": {s, 0, 0.1},
		"Delta":           {s, 1, 1},
		"Batches":         {participation.CyclicSampling{}, 1, 0.1},
		"Sampling":        {participation.MinSepSampling{Participations: 2, Separation: 2, Probability: 0.5}, 1, 0.1},
	} {
		var a *fault.Argument
		_, err := ClaimOf(t.Context(), accounting.ZeroOut, c, tc.s, tc.noise, tc.delta)
		if !errors.As(err, &a) || a.Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}
