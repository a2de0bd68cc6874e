package plan_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/accounting/bins"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/internal/fault"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/verify"
)

func binOptions(epsilon float64, bands int) plan.Options {
	o := sampled(epsilon, factorize.Banded{Bandwidth: bands})
	o.Sampling, o.MonteCarlo = participation.Bins, bins.MonteCarlo{Samples: 2048, Seed: 7}
	return o
}

// Candidates cost what their definition says, with noise that the accountant confirms from other samples; T is no
// multiple of b. The best of them is exported, with nothing that is not known of it.
func TestBinsCandidates(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(11, 3, 4))}
	s := solved(t, p, binOptions(2, 0))
	cyclic := solved(t, p, plan.Options{Privacy: s.Options.Privacy})
	if math.Abs(s.CyclicErrorAtPrivacy-cyclic.ErrorAtPrivacy) > 2e-6*cyclic.ErrorAtPrivacy {
		t.Errorf("in turn: %v, not %v", s.CyclicErrorAtPrivacy, cyclic.ErrorAtPrivacy)
	}
	var widths []int
	least := math.Inf(1)
	for _, c := range s.Candidates {
		widths = append(widths, c.Bandwidth)
		least = math.Min(least, c.ErrorAtPrivacy)
		if c.For == participation.InTurn && c.SquaredError < s.LowerBound {
			t.Errorf("%d bands have less error than is possible", c.Bandwidth)
		}
	}
	if len(widths) != 5 || widths[2] != 4 || widths[3] != 11 || s.Candidates[4].For != participation.Bins {
		t.Errorf("candidates of %v bands", widths)
	}
	if s.ErrorAtPrivacy > least*(1+1e-12) || math.Abs(s.Gap-(s.ErrorAtPrivacy/s.Sampling.LowerBound-1)) > 1e-12 || s.OfClass.ClassBound != 0 || s.LowerBound <= 0 ||
		s.Ending.Status != optim.Converged {
		t.Errorf("error %v, the least is %v; %+v", s.ErrorAtPrivacy, least, s.Ending)
	}
	isAboveItsSecretBound(t, s)
	one := s.Candidates[0] // DP-D-SGD, of columns that are scaled so that |m_j| is one
	diagonal := mat.NewDense(11, 11, nil)
	for i, count := range []float64{3, 3, 3, 2, 3, 3, 3, 2, 3, 3, 3} {
		diagonal.Set(i, i, 1/math.Sqrt(count))
	}
	confirm(t, diagonal, one.NoiseMultiplier)
	var lower mat.TriDense
	s.Strategy().StrategyTo(&lower)
	confirm(t, &lower, s.Sampling.NoiseMultiplier)
}

// confirm has noise for (2, 1e-6) and four bins confirmed by more samples, or without any.
func confirm(t *testing.T, c mat.Matrix, multiplier float64) {
	t.Helper()
	mechanism := must(bins.New(c, 4))
	d, err := mechanism.Delta(t.Context(), 2, multiplier, bins.MonteCarlo{Samples: 1 << 16, Seed: 1})
	without := must(mechanism.WithoutSamples(2, multiplier))
	if err != nil || math.Min(d.Upper, without) > 1e-6 || d.Value > 1.05e-6 {
		t.Errorf("a noise multiplier of %v: %+v, without samples %v, %v", multiplier, d, without, err)
	}
}

// One bin is participation in every step: no secret, and the noise of a known draw.
func TestOneBin(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(4, 4, 1))}
	s := solved(t, p, binOptions(2, 0))
	mu := must(accounting.MuFromDP(2, 1e-6))
	if got := s.Sampling.NoiseMultiplier; got < 1/mu || got > 1/mu*(1+1e-9) || s.Sampling.Confirmations != 0 ||
		s.ErrorAtPrivacy < s.CyclicErrorAtPrivacy*(1-1e-6) {
		t.Errorf("a noise multiplier of %v, not %v", got, 1/mu)
	}
}

// An interrupted search returns the best candidate so far, whose chance to be wrong is its share of what was asked for; and
// nothing before the first.
func TestInterruptedBins(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(12, 3, 4))}
	for parts, want := range map[int]int{0: 0, 2: 2, 6: 4} {
		ctx, cancel := context.WithCancel(t.Context())
		o := binOptions(2, 0)
		seen := 0
		o.Progress = func(e plan.Event) {
			if strings.Contains(e.Phase, "noise by samples") || strings.HasPrefix(e.Phase, "best strategy for bins") {
				if seen++; seen == parts+1 {
					cancel()
				}
			}
		}
		s, err := plan.Solve(ctx, p, o)
		cancel()
		if want == 0 {
			if s != nil || err == nil {
				t.Errorf("at once: %+v, %v", s, err)
			}
			continue
		}
		if err != nil || len(s.Candidates) != want || s.Ending.Status != optim.Interrupted {
			t.Fatalf("after %d parts: %+v, %v", parts, s, err)
		}
		if got := s.Sampling.Failure; math.Abs(got-1e-9*float64(want)/5) > 1e-20 {
			t.Errorf("%d candidates may be wrong with a probability of %v", want, got)
		}
		dir := filepath.Join(t.TempDir(), "out")
		if err := s.Export(dir, export.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if r, err := verify.Verify(t.Context(), must(export.Load(dir)), nil); err != nil || !r.OK() {
			t.Errorf("after %d parts: %+v, %v", parts, r.Failures(), err)
		}
	}
}

// Before anything is computed, a δ that samples do not resolve is refused: with 1e-300 the search did not end.
func TestBinsRefuseDelta(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(8, 2, 4))}
	for _, delta := range []float64{1e-300, 0.999} {
		o := binOptions(2, 2)
		o.Privacy = &plan.Privacy{Target: accounting.Target{Epsilon: 2, Delta: delta}}
		var argument *fault.Argument
		if _, err := plan.Solve(t.Context(), p, o); !errors.As(err, &argument) || argument.Field != "Delta" {
			t.Errorf("δ = %v: %v", delta, err)
		}
	}
}
