package threat

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/strategy"
	"mafalda/workload"
)

// withTraining returns the algorithm with a training.
func withTraining(t rapid.TB, a Algorithm, s workload.Spec) Algorithm {
	a, err := a.Under(Training{Spec: s, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// same compares what is learned under two algorithms, up to a factor for every pair of steps.
func same(t rapid.TB, w *graph.CSR, one, other Algorithm, attacker Attacker, steps int) {
	t.Helper()
	a, err := account(t, w, one, attacker, steps)
	b, err2 := account(t, w, other, attacker, steps)
	if err != nil || err2 != nil || len(a) != len(b) {
		t.Fatalf("%d and %d victims, %v, %v", len(a), len(b), err, err2)
	}
	for v := range a {
		if !mat.EqualApprox(a[v].M, b[v].M, 1e-8*(1+mat.Norm(b[v].M, 2))) {
			t.Errorf("victim %d: %v and %v", v, mat.Formatted(a[v].M), mat.Formatted(b[v].M))
		}
	}
}

// TestTrainingSpecialCases: what must be the same as something simpler.
func TestTrainingSpecialCases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawGossip(t)
		n, _ := w.Dims()
		steps := rapid.IntRange(1, 7).Draw(t, "T")
		attacker := Attacker{Trust: PNDP, Nodes: []int{rapid.IntRange(0, n-1).Draw(t, "attacker")},
			SecureSummation: rapid.Bool().Draw(t, "secure")}
		c := MFDSGD(drawStrategy(t, steps))
		rounds := rapid.IntRange(2, 3).Draw(t, "K")
		muffliato, err := Muffliato(rounds)
		if err != nil {
			t.Fatal(err)
		}
		same(t, w, withTraining(t, DPDSGD(), workload.Spec{Optimizer: workload.Optimizer{GossipRounds: rounds}}), muffliato, attacker, steps)
		q, err := workload.NewSequence([]*graph.CSR{w, w}, "")
		if err != nil {
			t.Fatal(err)
		}
		same(t, w, withTraining(t, c, workload.Spec{Changes: workload.Changes{GraphSequence: q}}), c, attacker, steps)
		if again := withTraining(t, c, workload.Spec{Kind: workload.Message, Weights: workload.LastSteps(1)}); again.training != nil {
			t.Error("whose errors count is a training of its own")
		}
		// what is decayed and scaled on the way is the same to who knows the factors
		rates := make([]float64, steps)
		for i := range rates {
			rates[i] = math.Pow(0.8, float64(i))
		}
		decayed := workload.Optimizer{LearningRates: workload.ListedRates(slices.Repeat([]float64{0.5}, steps)), WeightDecay: 0.4}
		faded := workload.Optimizer{LearningRates: workload.ListedRates(inverse(rates))}
		same(t, w, withTraining(t, c, workload.Spec{Optimizer: decayed}), withTraining(t, c, workload.Spec{Optimizer: faded}), attacker, steps)
	})
}

func inverse(rates []float64) []float64 {
	out := make([]float64, len(rates))
	for i, r := range rates {
		out[i] = 1 / r
	}
	return out
}

// TestMomentumIsAFilter: a node's momentum and rates are an invertible filter F of its noisy gradients, so that M is
// FᵀM'F, M' what is learned with the strategy C F⁻¹ under plain gradient descent; and where all messages that a victim
// hears are heard by the attacker, too, it is local DP.
func TestMomentumIsAFilter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawGossip(t)
		n, _ := w.Dims()
		steps := rapid.IntRange(1, 6).Draw(t, "T")
		attacker := Attacker{Trust: PNDP, Nodes: []int{rapid.IntRange(0, n-1).Draw(t, "attacker")}}
		c := drawStrategy(t, steps)
		o := workload.Optimizer{Momentum: 0.7, Nesterov: rapid.Bool().Draw(t, "nesterov"), LearningRates: schedule(t, "cosine")}
		rates, err := o.LearningRates.Rates(steps)
		if err != nil {
			t.Fatal(err)
		}
		f := mat.NewDense(steps, steps, nil)
		for i := range steps {
			for j := range i + 1 {
				v := math.Pow(0.7, float64(i-j))
				if o.Nesterov {
					v *= 0.7
					if i == j {
						v++
					}
				}
				f.Set(i, j, rates[i]*v)
			}
		}
		var back, filtered, lower mat.Dense
		var given mat.TriDense
		c.StrategyTo(&given)
		if err := back.Inverse(f); err != nil {
			return
		}
		filtered.Mul(&given, &back)
		triangle := mat.NewTriDense(steps, mat.Lower, nil)
		for i := range steps {
			for j := range i + 1 {
				triangle.SetTri(i, j, filtered.At(i, j))
			}
		}
		plain, err := strategy.NewDense(triangle)
		if err != nil {
			t.Fatal(err)
		}
		got, err := account(t, w, withTraining(t, MFDSGD(c), workload.Spec{Optimizer: o}), attacker, steps)
		want, err2 := account(t, w, MFDSGD(plain), attacker, steps)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		for v := range got {
			lower.Mul(f.T(), mul(want[v].M, f))
			if !mat.EqualApprox(got[v].M, &lower, 1e-7*(1+mat.Norm(&lower, 2))) {
				t.Fatalf("victim %d: %v, by the filter %v", v, mat.Formatted(got[v].M), mat.Formatted(&lower))
			}
		}
	})
}

// TestNothingNewIsSent: a gradient of a step whose rate is 0, without momentum, is not learned; one that no momentum
// carries on neither.
func TestNothingNewIsSent(t *testing.T) {
	_, w := gossip(t, "complete:4", graph.Uniform)
	rates := workload.ListedRates([]float64{1, 0, 1, 0})
	node := Attacker{Trust: PNDP, Nodes: []int{1}}
	for name, tc := range map[string]struct {
		o     workload.Optimizer
		wants []float64
	}{
		"plain":    {workload.Optimizer{LearningRates: rates}, []float64{1, 0, 1, 0}},
		"momentum": {workload.Optimizer{LearningRates: rates, Momentum: 0.5}, []float64{1, 0.2, 0.8, 0}}, // m_2 has g_1/2 + g_2, with both noises
	} {
		found, err := account(t, w, withTraining(t, DPDSGD(), workload.Spec{Optimizer: tc.o}), node, 4)
		if err != nil {
			t.Fatal(name, err)
		}
		for i, want := range tc.wants {
			if got := found[0].M.At(i, i); math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: M[%d,%d] = %v, not %v", name, i, i, got, want)
			}
		}
	}
}

// TestFaintNoise: where rates fall so low that rounding hides a message's noise, local DP is reported, by both paths.
func TestFaintNoise(t *testing.T) {
	g, w := gossip(t, "path:4", graph.Uniform)
	steep := workload.Spec{Optimizer: workload.Optimizer{LearningRates: workload.ListedRates([]float64{1, 1e-7, 1, 1e-7})}}
	dense, err := strategy.NewDense(mat.NewTriDense(4, mat.Lower, []float64{1, 0, 0, 0, .5, 1, 0, 0, .4, .5, 1, 0, .3, .4, .5, 1}))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []Algorithm{DPDSGD(), MFDSGD(dense)} {
		s := Scenario{w, withTraining(t, a, steep), Attacker{Trust: PNDP, Nodes: []int{0}}, every(t, 4)}
		if err := Account(context.Background(), s, func(Exposure) error { return nil }); !errors.Is(err, ErrUnclear) {
			t.Errorf("%s: %v", a.Name(), err)
		}
		r, err := Assess(context.Background(), s, AssessOptions{Graph: g, Sigma: 1, Alpha: 2, Reaction: Reaction{Kind: FixedInputs}})
		if err != nil || !r.Unclear || *r.Pairs[3].SensSquared != r.Local {
			t.Errorf("%s: %+v, %v", a.Name(), r, err)
		}
	}
}

// TestAuditOfTraining attacks what nodes do with momentum, decay, several rounds, networks that change and steps that
// are missed; half the noise fails.
func TestAuditOfTraining(t *testing.T) {
	_, w := gossip(t, "path:4", graph.Uniform)
	_, ring := gossip(t, "cycle:4", graph.Uniform)
	q, err := workload.NewSequence([]*graph.CSR{w, ring}, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]workload.Spec{
		"optimizer": {Optimizer: workload.Optimizer{Momentum: 0.8, Nesterov: true, WeightDecay: 0.2, LearningRates: schedule(t, "cosine")}},
		"rounds":    {Optimizer: workload.Optimizer{GossipRounds: 2, Momentum: 0.5}},
		"local":     {Optimizer: workload.Optimizer{LocalSteps: 3}},
		"tracking":  {Optimizer: workload.Optimizer{GradientTracking: true}},
		"sequence":  {Changes: workload.Changes{GraphSequence: q}},
		"missed":    {Changes: workload.Changes{LinkFailures: 0.3}, Absence: workload.Absence{MissedSteps: 0.3, Carry: true}},
	} {
		scenario := Scenario{w, withTraining(t, AntiPGD(), s), Attacker{Trust: PNDP, Nodes: []int{0}}, every(t, 8)}
		r, err := Audit(context.Background(), scenario, 2, AuditOptions{Random: rand.NewPCG(3, 4), Runs: 2000})
		if err != nil || !r.Passed || r.High < 0.9*r.Reachable {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		half := AuditOptions{Random: rand.NewPCG(3, 4), Runs: 2000, NoiseScale: 0.5}
		if r, err := Audit(context.Background(), scenario, 2, half); err != nil || r.Passed {
			t.Errorf("%s with half the noise: %+v, %v", name, r, err)
		}
	}
}

// TestTrainingIsRefused: what has no meaning.
func TestTrainingIsRefused(t *testing.T) {
	decor, err := DECOR(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	momentum := workload.Spec{Optimizer: workload.Optimizer{Momentum: 0.5}}
	var bad *fault.Argument
	if _, err := decor.Under(Training{Spec: momentum}); !errors.As(err, &bad) || bad.Field != "Algorithm" {
		t.Errorf("DECOR: %v", err)
	}
	_, w := gossip(t, "path:4", graph.Uniform)
	momentum.Momentum = 1
	for _, attacker := range []Attacker{{}, {Trust: PNDP, Nodes: []int{0}}} {
		s := Scenario{w, withTraining(t, DPDSGD(), momentum), attacker, every(t, 3)}
		if err := Account(context.Background(), s, nil); !errors.As(err, &bad) || bad.Field != "Momentum" {
			t.Errorf("momentum 1: %v", err)
		}
	}
}
