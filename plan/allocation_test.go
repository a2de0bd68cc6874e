package plan_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"mafalda/accounting"
	"mafalda/accounting/allocation"
	"mafalda/factorize"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/plan"
)

func allocated(epsilon float64, class factorize.Class) plan.Options {
	o := sampled(epsilon, class)
	o.Sampling = participation.Allocation
	return o
}

// The search finds what looking at all numbers of bands finds, each with the noise of its own groups' blocks, which is
// less than Poisson sampling takes where blocks are even; without a secret, w = b, it is the noise for batches in turn.
func TestSearchOfBandsWithAllocation(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(24, 4, 6))}
	for _, epsilon := range []float64{8} {
		s := solved(t, p, allocated(epsilon, nil))
		least, at := math.Inf(1), 0
		for _, w := range []int{1, 2, 3, 5, 6} {
			one := solved(t, p, allocated(epsilon, factorize.Banded{Bandwidth: w}))
			m, err := allocation.New(allocation.Cut(24/w, 4)...)
			if err != nil {
				t.Fatal(err)
			}
			if is, err := m.Epsilon(1e-6, one.Sampling.NoiseMultiplier); err != nil || is > epsilon || is != *one.Sampling.Epsilon ||
				one.Sampling.Rounds != 4 || one.Sampling.Groups != w || one.Sampling.LowerBound != 0 {
				t.Errorf("%d bands: %+v, ε = %v, %v", w, one.Sampling, is, err)
			}
			poisson := solved(t, p, sampled(epsilon, factorize.Banded{Bandwidth: w}))
			if even := 24%(4*w) == 0; even && one.ErrorAtPrivacy > poisson.ErrorAtPrivacy*(1+1e-6) {
				t.Errorf("%d bands, ε = %v: error %v, Poisson %v", w, epsilon, one.ErrorAtPrivacy, poisson.ErrorAtPrivacy)
			}
			if one.ErrorAtPrivacy < least {
				least, at = one.ErrorAtPrivacy, w
			}
			if mu, err := accounting.MuFromDP(epsilon, 1e-6); w == 6 && (err != nil ||
				math.Abs(one.Sampling.NoiseMultiplier*mu/2-1) > 1e-6) {
				t.Errorf("b bands take %v, μ = %v, %v", one.Sampling.NoiseMultiplier, mu, err)
			}
		}
		if s.ErrorAtPrivacy > least*(1+1e-6) {
			t.Errorf("ε = %v: %d bands with %v, but %d have %v", epsilon, s.Sampling.Groups, s.ErrorAtPrivacy, at, least)
		}
	}
}

func TestAllocationRefusesWhatItCannotDo(t *testing.T) {
	for name, tc := range map[string]struct {
		p     plan.Problem
		o     plan.Options
		field string
	}{
		"T below k·b": {plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(11, 3, 4))}, allocated(2, nil),
			"Participations"},
		"more bands than b": {plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(12, 3, 4))},
			allocated(2, factorize.Banded{Bandwidth: 5}), "Bandwidth"},
	} {
		var a *fault.Argument
		if _, err := plan.Solve(context.Background(), tc.p, tc.o); !errors.As(err, &a) || a.Field != tc.field {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is found is above what no strategy is below; with bins, TestBinsCandidates holds it.
func TestSolutionsAreAboveTheirSecretBound(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(12, 3, 4))}
	for _, epsilon := range []float64{1, 8} {
		isAboveItsSecretBound(t, solved(t, p, sampled(epsilon, nil)))
	}
}

func isAboveItsSecretBound(t *testing.T, s *plan.Solution) {
	t.Helper()
	if bound := s.Sampling.LowerBound; !(bound > 0.3*s.ErrorAtPrivacy) || bound > s.ErrorAtPrivacy {
		t.Errorf("%v, ε = %v: bound %v, error %v", s.Options.Sampling, *s.Privacy.Epsilon, bound, s.ErrorAtPrivacy)
	}
}
