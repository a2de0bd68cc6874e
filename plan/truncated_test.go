package plan_test

import (
	"context"
	"errors"
	"testing"

	"mafalda/accounting"
	"mafalda/accounting/pld"
	"mafalda/accounting/sampling"
	"mafalda/factorize"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/plan"
)

func truncated(epsilon float64, b sampling.Batches) plan.Options {
	o := sampled(epsilon, nil)
	o.Sampling, o.Batches = participation.Truncated, b
	return o
}

// Truncated batches take the noise of Poisson sampling at a smaller δ, and what they take of δ is what they drop; the
// default size costs nearly nothing, and so do batches of all records nothing at all.
func TestTruncatedBatchesTakeTheNoiseOfASmallerDelta(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(24, 4, 6))}
	plain := solved(t, p, sampled(8, nil))
	before := plain.Sampling.NoiseMultiplier
	for _, b := range []sampling.Batches{{Records: 300, Most: 300}, {Records: 300}, {Records: 300, Most: 86}} {
		s := solved(t, p, truncated(8, b))
		d, err := pld.Compose(accounting.ZeroOut, pld.Rounds{Rounds: s.Sampling.Rounds,
			Mechanism: pld.Mechanism{Probability: s.Sampling.Probability, NoiseMultiplier: s.Sampling.NoiseMultiplier}})
		if err != nil {
			t.Fatal(err)
		}
		delta, _, err := d.Delta(8)
		if total := delta + s.Sampling.Overflow; err != nil || total > 1e-6*(1+1e-9) || total < 1e-6*(1-1e-3) {
			t.Errorf("%+v: δ is %v and %v, %v", b, delta, s.Sampling.Overflow, err)
		}
		if s.Sampling.NoiseMultiplier < before*(1-1e-7) || s.Sampling.Groups != plain.Sampling.Groups ||
			!(s.Sampling.LowerBound > 0 && s.Sampling.LowerBound <= plain.Sampling.LowerBound) {
			t.Errorf("%+v after a noise multiplier of %v: %+v, without %+v", b, before, s.Sampling, plain.Sampling)
		}
		if b.Most != 86 && s.Sampling.NoiseMultiplier > before*(1+2e-4) {
			t.Errorf("%+v takes %v, any size %v", b, s.Sampling.NoiseMultiplier, before)
		}
		before = s.Sampling.NoiseMultiplier
	}
}

func TestTruncatedRefusesWhatItCannotDo(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(12, 3, 4))}
	poisson := truncated(2, sampling.Batches{Records: 100})
	poisson.Sampling = participation.Poisson
	dense := truncated(2, sampling.Batches{Records: 100})
	dense.Class = factorize.Dense{}
	for name, tc := range map[string]struct {
		o     plan.Options
		field string
	}{
		"no records":          {truncated(2, sampling.Batches{}), "Records"},
		"too small":           {truncated(2, sampling.Batches{Records: 100, Most: 30}), "MaxBatch"},
		"negative":            {truncated(2, sampling.Batches{Records: 100, Most: -1}), "MaxBatch"},
		"too many records":    {truncated(2, sampling.Batches{Records: 1 << 40}), "Records"},
		"batches of any size": {poisson, "Records"},
		"dense":               {dense, "Class"},
	} {
		var a *fault.Argument
		if _, err := plan.Solve(context.Background(), p, tc.o); !errors.As(err, &a) || a.Field != tc.field {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A record that is replaced takes more noise than one that is zeroed, exactly what its own pair takes; the export says which
// neighbours it is for, and other samplings refuse it.
func TestReplacedRecordsUnderPoissonSampling(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(12, 3, 4))}
	zeroed := sampled(8, nil)
	replace := zeroed
	privacy := *zeroed.Privacy
	privacy.Adjacency = accounting.ReplaceOne
	replace.Privacy = &privacy
	cut := replace
	cut.Sampling, cut.Batches = participation.Truncated, sampling.Batches{Records: 300}
	before := solved(t, p, zeroed)
	for _, o := range []plan.Options{replace, cut} {
		s := solved(t, p, o)
		d, err := pld.Compose(accounting.ReplaceOne, pld.Rounds{Rounds: s.Sampling.Rounds,
			Mechanism: pld.Mechanism{Probability: s.Sampling.Probability, NoiseMultiplier: s.Sampling.NoiseMultiplier}})
		if err != nil {
			t.Fatal(err)
		}
		delta, _, err := d.Delta(8)
		if delta += s.Sampling.Overflow; err != nil || delta > 1e-6*(1+1e-9) || delta < 1e-6*(1-5e-3) {
			t.Errorf("%v: δ = %v, %v", o.Sampling, delta, err)
		}
		if s.Privacy.Adjacency != "replace-one" || s.ErrorAtPrivacy < 1.2*before.ErrorAtPrivacy ||
			s.ErrorAtPrivacy > s.CyclicErrorAtPrivacy {
			t.Errorf("%v: %+v, error %v, zeroed %v, in turn %v", o.Sampling, s.Privacy, s.ErrorAtPrivacy, before.ErrorAtPrivacy,
				s.CyclicErrorAtPrivacy)
		}
		if err := s.Manifest().CheckPrivacy(); err != nil {
			t.Error(err)
		}
		as := s.Manifest()
		lighter := *as.Privacy
		lighter.Adjacency = "zero-out"
		as.Privacy = &lighter
		if err := as.CheckPrivacy(); err == nil && o.Sampling == participation.Poisson {
			t.Error("ε of replacement passes for the ε of zero-out")
		}
	}
	for _, scheme := range []participation.Scheme{participation.Bins, participation.Allocation} {
		o := replace
		o.Sampling = scheme
		var a *fault.Argument
		if _, err := plan.Solve(context.Background(), p, o); !errors.As(err, &a) || a.Field != "Adjacency" {
			t.Errorf("%v: %v", scheme, err)
		}
	}
}
