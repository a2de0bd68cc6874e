package plan_test

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/noise"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/secrets"
	"mafalda/workload"
)

// learned is the μ of a silo by definition, in the first rounds: the covariance of all messages of all others that a coalition does
// not know, number by number, and the update of norm clip that is worst, of all that are parallel to one vector in every round.
func learned(c *mat.Dense, n *secrets.Noise, coalition []int, victim, rounds int, std, clip float64) float64 {
	var inverse mat.Dense
	if err := inverse.Inverse(c); err != nil {
		return math.Inf(1)
	}
	between, others := n.Unknown(coalition)
	size := len(others)
	covariance, at := mat.NewDense(size*rounds, size*rounds, nil), -1
	for i, v := range others {
		if v == victim {
			at = i
		}
		for j := range others {
			for t := range rounds {
				for s := range rounds {
					covariance.Set(i*rounds+t, j*rounds+s, std*std*between.At(i, j)*mat.Dot(inverse.RowView(t), inverse.RowView(s)))
				}
			}
		}
	}
	var precision mat.Dense
	if err := precision.Inverse(covariance); err != nil {
		return math.Inf(1)
	}
	var worst float64
	for signs := range 1 << rounds {
		shift := mat.NewVecDense(size*rounds, nil)
		for t := range rounds {
			shift.SetVec(at*rounds+t, clip*float64(1-2*(signs>>t&1)))
		}
		worst = math.Max(worst, mat.Inner(shift, &precision, shift))
	}
	return math.Sqrt(worst)
}

// What a plan for a silo's whole update promises, and what its odometer says after every round, is what an attacker learns who
// sees all messages, and knows what one silo knows; shared noise is 1/(n-1) of own noise, and never less.
func TestWholeSilosByDefinition(t *testing.T) {
	network, rounds := networkOf(t, "complete:4"), 5
	schema, sharing := must(participation.NewSilo(rounds)), must((&plan.Sharing{}).Resolve(network))
	for name, p := range map[string]plan.Problem{
		"shared":                   {Network: network, Schema: schema, Sharing: sharing},
		"shared, rounds missed":    {Network: network, Schema: schema, Sharing: sharing, Workload: workload.Spec{Absence: workload.Absence{MissedSteps: 0.1, Carry: true}}},
		"own":                      {Network: network, Schema: schema},
		"own, correlated for ever": {Network: network, Schema: schema, Workload: workload.Spec{Optimizer: workload.Optimizer{Momentum: 0.9}}},
	} {
		o := plan.Options{NoBaselines: true, Tolerance: 1e-3, Privacy: &plan.Privacy{Clip: 0.5, Target: accounting.Target{Mu: 1.5}}}
		if strings.HasSuffix(name, "ever") {
			o.Class = factorize.BLT{}
		}
		s := must(plan.Solve(context.Background(), p, o))
		dir := filepath.Join(t.TempDir(), "out")
		if err := s.Export(dir, export.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		between, coalitions := &secrets.Noise{Own: []float64{1, 1, 1, 1}}, [][]int{nil}
		if s.Space != nil {
			between, coalitions = s.Space.Noise, [][]int{nil, {0}, {1}, {2}, {3}}
			for _, own := range between.Own {
				if own*own < 1./3 || own*own > 0.37 && p.Workload.MissedSteps == 0 {
					t.Errorf("%s: own noise has the variance %v, must be a bit more than 1/3", name, own*own)
				}
			}
		}
		var c mat.TriDense
		s.Strategy().StrategyTo(&c)
		says := must(noise.OpenOdometer(dir, "0", 0))
		for after := 1; after <= rounds; after++ {
			var most float64
			for _, a := range coalitions {
				for v := range 4 {
					if len(a) == 0 || a[0] != v {
						most = math.Max(most, learned(mat.DenseCopyOf(&c), between, a, v, after, s.Privacy.NoiseStd, 0.5))
					}
				}
			}
			spent := must(says.After(after))
			if mu := *spent.Mu; mu < most*(1-1e-9) || mu > most*1.001 && after == rounds {
				t.Errorf("%s: after %d rounds it says μ = %v, and it is %v", name, after, mu, most)
			}
		}
	}
}

// A silo's rounds are no steps of a record's batches.
func TestWholeSilosAreRefused(t *testing.T) {
	p := plan.Problem{Network: networkOf(t, "complete:4"), Schema: must(participation.NewSilo(8))}
	secret := plan.Options{Sampling: participation.Poisson, Privacy: &plan.Privacy{Target: accounting.Target{Epsilon: 1, Delta: 1e-5}}}
	local := p
	local.Workload.LocalSteps = 2
	for _, err := range []error{p.Check(secret), local.Check(plan.Options{})} {
		if err == nil || !strings.Contains(err.Error(), "silo, whose whole update is in every step, is not for") {
			t.Error(err)
		}
	}
}
