package plan_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/plan"
)

func sampled(epsilon float64, class factorize.Class) plan.Options {
	return plan.Options{Sampling: participation.Poisson, Class: class, NoBaselines: true,
		Privacy: &plan.Privacy{Target: accounting.Target{Epsilon: epsilon, Delta: 1e-6}}}
}

func solved(t *testing.T, p plan.Problem, o plan.Options) *plan.Solution {
	t.Helper()
	s, err := plan.Solve(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The search leaves numbers of bands out, and finds what looking at all of them finds. T is no multiple of all of them.
func TestSearchOfBands(t *testing.T) {
	best := map[int]bool{}
	for steps, levels := range map[int][]float64{17: {0.5, 8}, 20: {16}} {
		p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(steps, 4, 5))}
		for _, epsilon := range levels {
			s := solved(t, p, sampled(epsilon, nil))
			least, at := math.Inf(1), 0
			for w := 1; w <= 5; w++ {
				one := solved(t, p, sampled(epsilon, factorize.Banded{Bandwidth: w}))
				if len(one.Candidates) != 1 || one.Excluded != 0 || one.Sampling.Groups != w ||
					one.Sampling.Rounds != (steps+w-1)/w || one.Sampling.Probability != float64(w)/5 {
					t.Errorf("%d bands: %+v", w, one.Sampling)
				}
				if one.ErrorAtPrivacy < least {
					least, at = one.ErrorAtPrivacy, w
				}
			}
			if s.Sampling.Groups != at || math.Abs(s.ErrorAtPrivacy-least) > 1e-6*least {
				t.Errorf("T = %d, epsilon = %v: %d bands with %v, but %d have %v", steps, epsilon, s.Sampling.Groups,
					s.ErrorAtPrivacy, at, least)
			}
			if len(s.Candidates)+s.Excluded != 5 {
				t.Errorf("%d searched for, %d excluded", len(s.Candidates), s.Excluded)
			}
			best[at] = true
		}
	}
	if len(best) < 3 {
		t.Errorf("the same is best everywhere: %v", best)
	}
}

// One band is DP-D-SGD, whose squared error is the trace of H; b bands draw every record in every round: the Gaussian
// mechanism.
func TestEndsOfSampling(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(12, 3, 4))}
	cyclic := solved(t, p, plan.Options{Privacy: &plan.Privacy{Target: accounting.Target{Epsilon: 2, Delta: 1e-6}}})
	trace := 0.
	for _, b := range cyclic.Baselines {
		if b.Name == "dp-d-sgd" {
			trace = b.SquaredError
		}
	}
	one := solved(t, p, sampled(2, factorize.Banded{Bandwidth: 1}))
	s := one.Sampling.NoiseMultiplier
	if math.Abs(one.ErrorAtPrivacy-s*s*trace) > 1e-12*one.ErrorAtPrivacy {
		t.Errorf("one band: %v, the trace of H is %v", one.ErrorAtPrivacy, trace)
	}
	if want := one.ErrorAtPrivacy / cyclic.ErrorAtPrivacy; math.Abs(cyclic.DPDSGDRatio-want) > 1e-9*want {
		t.Errorf("DP-D-SGD with sampling has %v of the error, not %v", want, cyclic.DPDSGDRatio)
	}
	mu := must(accounting.MuFromDP(2, 1e-6))
	if want := cyclic.Quality.Loss / (mu * mu); math.Abs(cyclic.ErrorAtPrivacy-want) > 1e-9*want ||
		cyclic.CyclicErrorAtPrivacy != cyclic.ErrorAtPrivacy || cyclic.Sampling.Scheme != "cyclic" {
		t.Errorf("in turn: %v, not %v", cyclic.ErrorAtPrivacy, want)
	}
	if got := one.CyclicErrorAtPrivacy; math.Abs(got-cyclic.ErrorAtPrivacy) > 2e-6*got {
		t.Errorf("in turn, beside bands: %v, not %v", got, cyclic.ErrorAtPrivacy)
	}
	all := solved(t, p, sampled(2, factorize.Banded{Bandwidth: 4}))
	if got, want := all.Sampling.NoiseMultiplier, math.Sqrt(3)/mu; got < want*(1-1e-9) || got > want*(1+1e-4) {
		t.Errorf("all records in every round: a noise multiplier of %v, not %v", got, want)
	}
	if all.Privacy.Mu != 0 || *all.Privacy.Epsilon != 2 || *all.Sampling.Epsilon > 2 ||
		all.Quality.Sensitivity.Squared > 1 {
		t.Errorf("%+v, %+v", all.Privacy, all.Sampling)
	}
}

// What batches in turn have, and secret ones do not, is refused before anything is computed.
func TestBadSampling(t *testing.T) {
	minSep := must(participation.NewMinSep(12, 3, 4))
	privacy := func(target accounting.Target, a accounting.Adjacency) func(*plan.Problem, *plan.Options) {
		return func(_ *plan.Problem, o *plan.Options) { o.Privacy = &plan.Privacy{Target: target, Adjacency: a} }
	}
	good := accounting.Target{Epsilon: 2, Delta: 1e-6}
	for name, tc := range map[string]struct {
		by         func(p *plan.Problem, o *plan.Options)
		field, say string
	}{
		"unknown": {func(_ *plan.Problem, o *plan.Options) { o.Sampling = 7 }, "Sampling", "is unknown; use cyclic"},
		"min-sep": {func(p *plan.Problem, _ *plan.Options) { p.Schema = minSep }, "Sampling", "not for participation that is not cyclic (min-sep)"},
		"more than k": {func(p *plan.Problem, _ *plan.Options) { p.Schema = must(participation.NewCyclic(12, 2, 4)) },
			"Participations", "3 times on average"},
		"no privacy": {func(_ *plan.Problem, o *plan.Options) { o.Privacy = nil }, "Sampling",
			"needs Epsilon and Delta"},
		"no delta": {privacy(accounting.Target{Epsilon: 2}, 0), "Sampling", "needs Epsilon and Delta"},
		"mu":       {privacy(accounting.Target{Mu: 1}, 0), "Mu", "is not for Sampling poisson"},
		"delta":    {privacy(accounting.Target{Epsilon: 2, Delta: 1}, 0), "Privacy", "delta = 1"},
		"epsilon":  {privacy(accounting.Target{Epsilon: -2, Delta: 1e-6}, 0), "Privacy", "epsilon = -2"},
		"adjacency": {func(p *plan.Problem, o *plan.Options) {
			privacy(good, accounting.ReplaceOne)(p, o)
			o.Sampling = participation.Bins
		}, "Adjacency", "replace-one is not for"},
		"per node": {func(_ *plan.Problem, o *plan.Options) { o.PerNode = true }, "Groups", "not for Sampling"},
		"groups":   {func(_ *plan.Problem, o *plan.Options) { o.Groups = 2 }, "Groups", "not for Sampling"},
		"objective": {func(p *plan.Problem, _ *plan.Options) { p.Objective = plan.Last }, "Objective",
			"last is not for"},
		"class": {func(_ *plan.Problem, o *plan.Options) { o.Class = factorize.Dense{} }, "Class",
			"not banded (Class dense) is not for Sampling poisson"},
		"bands": {func(_ *plan.Problem, o *plan.Options) { o.Class = factorize.Banded{Bandwidth: 5} }, "Bandwidth",
			"from 1 to b = 4"},
		"start":        {func(_ *plan.Problem, o *plan.Options) { o.StartFrom = "x" }, "StartFrom", "not for Sampling"},
		"out of reach": {privacy(accounting.Target{Epsilon: 1e-9, Delta: 1e-12}, 0), "Epsilon", "out of reach"},
	} {
		p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(12, 3, 4))}
		o := sampled(2, nil)
		tc.by(&p, &o)
		_, err := plan.Solve(t.Context(), p, o)
		var a *fault.Argument
		if !errors.As(err, &a) || a.Field != tc.field || !strings.Contains(err.Error(), tc.say) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q about %s", name, err, tc.say, tc.field)
		}
	}
}

// A search that is interrupted has nothing before its first candidate, and an ending that says so later.
func TestInterruptedSampling(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := sampled(8, nil)
	o.Progress = func(e plan.Event) {
		if e.Phase == "bands" && e.Fraction > 0 {
			cancel()
		}
	}
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(12, 3, 4))}
	s, err := plan.Solve(ctx, p, o)
	if err != nil || s.Ending.Status.String() != "interrupted" || len(s.Candidates) != 1 || s.Privacy == nil {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := plan.Solve(ctx, p, sampled(8, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("from the start: %v", err)
	}
}

// The curves of an export's picture equal the curves of all details, as far as it can be seen, though no candidate is
// searched for again.
func TestSamplingCurveOfAnExport(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(12, 3, 4))}
	dir := filepath.Join(t.TempDir(), "out")
	s := solved(t, p, sampled(16, nil))
	if err := s.Export(dir, export.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	levels := plan.Privacies{Epsilons: []float64{1, 16}, Delta: 1e-6}
	full, err := plan.SamplingCurve(t.Context(), p, levels, plan.CurveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	picture, err := plan.SamplingCurve(t.Context(), p, levels, plan.CurveOptions{Picture: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range picture.Rows {
		all := full.Rows[i].Bands
		if len(s.Candidates) < 2 || len(row.Bands) != len(all) || row.Best != nil {
			t.Fatalf("%d candidates, %+v", len(s.Candidates), row)
		}
		for j, at := range row.Bands {
			if want := all[j]; at.Bands != want.Bands || math.Abs(at.Ratio/want.Ratio-1) > 1e-3 {
				t.Errorf("%d bands at %v: %v, want %v", at.Bands, row.Epsilon, at.Ratio, want.Ratio)
			}
		}
	}
	if len(picture.Rows) != len(levels.Epsilons) {
		t.Errorf("%d rows", len(picture.Rows))
	}
}

// The curves go through what Solve finds. At ε = 6 the error falls, rises and falls again with the number of bands.
func TestSamplingCurve(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(12, 3, 4))}
	progress := 0.
	c, err := plan.SamplingCurve(t.Context(), p, plan.Privacies{Epsilons: []float64{1, 6}, Delta: 1e-6},
		plan.CurveOptions{Progress: func(phase string, fraction float64) { progress = fraction }})
	if err != nil {
		t.Fatal(err)
	}
	if progress < 0.7 || progress > 1 {
		t.Errorf("done: %v", progress)
	}
	for _, row := range c.Rows {
		if len(row.Bands) != 3 || row.Bands[2].Bands != 4 {
			t.Fatalf("%+v", row)
		}
		best := solved(t, p, sampled(row.Epsilon, nil))
		if at := row.Best; at.Bands != best.Sampling.Groups || math.Abs(at.Error-best.ErrorAtPrivacy) > 1e-5*at.Error ||
			math.Abs(at.Ratio-at.Error/row.Cyclic) > 1e-15 {
			t.Errorf("best at %v: %+v, want %+v", row.Epsilon, at, best.Sampling)
		}
		for _, b := range row.Bands {
			s := solved(t, p, sampled(row.Epsilon, factorize.Banded{Bandwidth: b.Bands}))
			if math.Abs(b.Error-s.ErrorAtPrivacy) > 1e-5*s.ErrorAtPrivacy ||
				math.Abs(row.Cyclic-s.CyclicErrorAtPrivacy) > 2e-6*row.Cyclic {
				t.Errorf("%d bands at %v: %v and %v, not %v and %v", b.Bands, row.Epsilon, b, row.Cyclic,
					s.ErrorAtPrivacy, s.CyclicErrorAtPrivacy)
			}
		}
	}
	if len(c.Rows) != 2 {
		t.Errorf("%d rows", len(c.Rows))
	}
	for name, levels := range map[string]plan.Privacies{"no epsilon": {Delta: 1e-6},
		"bad epsilon":  {Epsilons: []float64{2, -1}, Delta: 1e-6},
		"out of reach": {Epsilons: []float64{2, 1e-9}, Delta: 1e-12}} {
		var a *fault.Argument
		if _, err := plan.SamplingCurve(t.Context(), p, levels, plan.CurveOptions{}); !errors.As(err, &a) || a.Field != "Epsilon" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
