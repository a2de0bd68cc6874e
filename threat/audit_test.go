package threat

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/limits"
	"mafalda/participation"
	"mafalda/workload"
)

// audited are algorithms and attackers on the path 0 - 1 - 2 - 3 with an edge 0 - 2, all with a finite claim for node
// 2.
func audited(t *testing.T) map[string]struct {
	algorithm Algorithm
	attacker  Attacker
} {
	ctx, schema, prefix := context.Background(), mustCyclic(t, 8, 2), factorize.Mean(workload.PrefixGram(8))
	optimum, err := factorize.Banded{Bandwidth: 3}.Optimize(ctx, prefix, schema, factorize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dense, err := factorize.Dense{}.Optimize(ctx, prefix, schema, factorize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	muffliato, err := Muffliato(2)
	if err != nil {
		t.Fatal(err)
	}
	decor, err := DECOR(1, 3)
	if err != nil {
		t.Fatal(err)
	}
	node := Attacker{Trust: PNDP, Nodes: []int{0}}
	summed := Attacker{Trust: PNDP, Nodes: []int{0}, SecureSummation: true}
	forgets := Attacker{Trust: PNDP, Nodes: []int{0}, SecureSummation: true, ForgetOwnNoise: true}
	return map[string]struct {
		algorithm Algorithm
		attacker  Attacker
	}{
		"dp-d-sgd, all messages":       {DPDSGD(), Attacker{}},
		"dp-d-sgd, a node":             {DPDSGD(), node},
		"dp-d-sgd, a far node":         {DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{3}}},
		"dp-d-sgd, a coalition":        {DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{0, 3}}},
		"dp-d-sgd, sums":               {DPDSGD(), summed},
		"dp-d-sgd, sums and own noise": {DPDSGD(), forgets},
		"antipgd, a node":              {AntiPGD(), node},
		"antipgd, all messages":        {AntiPGD(), Attacker{}},
		"mf-d-sgd banded, a node":      {MFDSGD(optimum.Strategy), node},
		"mf-d-sgd dense, a node":       {MFDSGD(dense.Strategy), node},
		"mf-d-sgd dense, sums":         {MFDSGD(dense.Strategy), summed},
		"muffliato, a node":            {muffliato, node},
		"decor, a node":                {decor, node},
		"decor, local DP":              {decor, Attacker{}},
		"decor, an eavesdropper":       {decor, Attacker{Trust: Eavesdropper}},
		"decor, secrets":               {decor, Attacker{Trust: SecLDP, Nodes: []int{3}}},
		"zip-dl, a node":               {ZipDL(), Attacker{Trust: PNDP, Nodes: []int{3}}},
	}
}

func mustCyclic(t *testing.T, steps, k int) participation.Cyclic {
	s, err := participation.NewCyclic(steps, k, steps/k)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func kite(t *testing.T) *graph.CSR {
	g, err := graph.New([]string{"0", "1", "2", "3"}, []graph.Edge{{U: 0, V: 1, Weight: 1}, {U: 1, V: 2, Weight: 1}, {U: 2, V: 3, Weight: 1}, {U: 0, V: 2, Weight: 1}}, false)
	if err != nil {
		t.Fatal(err)
	}
	w, err := graph.NewGossip(g, graph.Uniform)
	if err != nil {
		t.Fatal(err)
	}
	return w.Matrix()
}

// TestAudit attacks every algorithm: honest noise passes, and the attack is as strong as the claim says where that is
// exact; halved noise is found.
func TestAudit(t *testing.T) {
	w := kite(t)
	for name, tc := range audited(t) {
		t.Run(name, func(t *testing.T) {
			run := func(scale float64) AuditResult {
				r, err := Audit(context.Background(), Scenario{w, tc.algorithm, tc.attacker, mustCyclic(t, 8, 2)}, 2,
					AuditOptions{Random: rand.NewPCG(1, 2), Runs: 3000, NoiseScale: scale})
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			honest := run(1)
			if !honest.Passed || honest.Reachable < honest.Low || honest.Reachable > honest.High || honest.Reachable > honest.Claimed*(1+1e-9) {
				t.Errorf("honest noise: %+v", honest)
			}
			if honest.Reachable < 0.9*honest.Claimed {
				t.Errorf("the attack is weak: %+v", honest)
			}
			if halved := run(0.5); halved.Passed || math.Abs(halved.Empirical-2*honest.Reachable) > 0.2*halved.Empirical+0.1 {
				t.Errorf("halved noise: %+v", halved)
			}
		})
	}
}

func TestAuditErrors(t *testing.T) {
	w := kite(t)
	options := AuditOptions{Random: rand.NewPCG(1, 2), Runs: 10}
	of := func(a Algorithm, attacker Attacker, steps, k int) Scenario {
		return Scenario{w, a, attacker, mustCyclic(t, steps, k)}
	}
	itself := Attacker{Trust: PNDP, Nodes: []int{2}}
	if _, err := Audit(context.Background(), of(DPDSGD(), itself, 4, 2), 2, options); !errors.Is(err, ErrAudit) {
		t.Errorf("the attacker as victim: %v", err)
	}
	if _, err := Audit(context.Background(), of(ZipDL(), Attacker{}, 4, 2), 2, options); !errors.Is(err, ErrAudit) {
		t.Errorf("messages without noise: %v", err)
	}
	if _, err := Audit(context.Background(), of(DPDSGD(), Attacker{Trust: PNDP}, 4, 2), 2,
		options); !errors.Is(err, ErrAttacker) {
		t.Errorf("no attacker: %v", err)
	}
	if _, err := Audit(context.Background(), of(DPDSGD(), Attacker{}, 2000, 1), 2, options); !errors.Is(err, ErrAudit) {
		t.Errorf("too many steps: %v", err)
	}
	wrong := options
	wrong.Noising = eye(3)
	if _, err := Audit(context.Background(), of(DPDSGD(), Attacker{}, 4, 2), 2, wrong); !errors.Is(err, ErrStrategy) {
		t.Errorf("a noising matrix of other size: %v", err)
	}
	separate := graph.NewCSRFromDense(eye(3))
	r, err := Audit(context.Background(), Scenario{separate, DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{0}}, mustCyclic(t, 4, 2)},
		2, options)
	if err != nil || !r.Passed || r.Claimed != 0 {
		t.Errorf("no path: %+v, %v", r, err)
	}
}

// An audit that is stopped has not passed, and one that does not fit into memory is not begun.
func TestAuditStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	node := Attacker{Trust: PNDP, Nodes: []int{0}}
	run := func(ctx context.Context, runs int) (AuditResult, error) {
		options := AuditOptions{Random: rand.NewPCG(1, 2), Runs: runs}
		return Audit(ctx, Scenario{kite(t), DPDSGD(), node, mustCyclic(t, 4, 2)}, 2, options)
	}
	if r, err := run(ctx, 10); !errors.Is(err, context.Canceled) || r.Passed {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := run(context.Background(), 1e15); !errors.Is(err, limits.ErrMemory) || r.Passed {
		t.Errorf("%+v, %v", r, err)
	}
	s := Scenario{kite(t), DPDSGD(), node, mustCyclic(t, 4, 2)}
	p, err := s.auditable(context.Background(), AuditOptions{Runs: 10})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.run(ctx, oneRun()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestSeparationCoverage: the interval holds the true distance about as often as it says.
func TestSeparationCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const trials, samples, truth = 2000, 200, 1.5
	missed := 0
	for range trials {
		without, with := make([]float64, samples), make([]float64, samples)
		for i := range with {
			without[i], with[i] = rng.NormFloat64(), truth+rng.NormFloat64()
		}
		if _, low, high := separation(without, with, 0.9); low > truth || high < truth {
			missed++
		}
	}
	if share := float64(missed) / trials; share < 0.08 || share > 0.12 {
		t.Errorf("%.3f of 90 %% intervals miss", share)
	}
}

// More noise claims, reaches and finds a μ that much smaller, run by run.
func TestAuditSigma(t *testing.T) {
	s := Scenario{kite(t), DPDSGD(), Attacker{Trust: PNDP, Nodes: []int{0}}, mustCyclic(t, 8, 2)}
	unit, err := Audit(t.Context(), s, 2, AuditOptions{Random: rand.NewPCG(1, 0), Runs: 1000})
	if err != nil {
		t.Fatal(err)
	}
	more, err := Audit(t.Context(), s, 2, AuditOptions{Random: rand.NewPCG(1, 0), Runs: 1000, Sigma: 4})
	if err != nil || math.Abs(4*more.Claimed-unit.Claimed) > 1e-12 || math.Abs(4*more.Reachable-unit.Reachable) > 1e-12 {
		t.Errorf("%+v with unit noise, %+v (%v) with four times as much", unit, more, err)
	}
	if margin := more.High - more.Empirical; math.Abs(more.Empirical-unit.Empirical/4) > margin {
		t.Errorf("%v with unit noise, %v with four times as much", unit.Empirical, more.Empirical)
	}
	for _, sigma := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := Audit(t.Context(), s, 2, AuditOptions{Random: rand.NewPCG(1, 0), Sigma: sigma}); err == nil {
			t.Errorf("sigma %v was taken", sigma)
		}
	}
}
