package mafalda

import (
	"path/filepath"
	"testing"

	"mafalda/accounting"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/threat"
)

// Schemas by name are the schemas of package participation, with separation Steps/Times by default.
func TestParticipationByName(t *testing.T) {
	cyclic, err := Cyclic{Steps: 12, Times: 3}.Schema()
	if want, _ := participation.NewCyclic(12, 3, 4); err != nil || cyclic != participation.Schema(want) {
		t.Errorf("Cyclic = %v, %v; want %v", cyclic, err, want)
	}
	minSep, err := MinSep{Steps: 12, Times: 3, Separation: 2}.Schema()
	if want, _ := participation.NewMinSep(12, 3, 2); err != nil || minSep != participation.Schema(want) {
		t.Errorf("MinSep = %v, %v; want %v", minSep, err, want)
	}
	for name, p := range map[string]Participation{"no steps": Cyclic{Times: 1}, "too often": Cyclic{Steps: 3, Times: 4},
		"too far apart": MinSep{Steps: 4, Times: 3, Separation: 3}, "negative": MinSep{Steps: -1, Times: 1}} {
		if s, err := p.Schema(); err == nil {
			t.Errorf("%s: %v", name, s)
		}
	}
}

// The flat options are the plan's, to the last bit of the noise level.
func TestSolveIsThePlan(t *testing.T) {
	network, err := LoadNetwork(t.Context(), "cycle:5")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := participation.Complete(6, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{Epsilon: 2, Delta: 1e-5, Clip: 3}, {Mu: 0.5, ReplaceOne: true}} {
		adjacency := accounting.ZeroOut
		if o.ReplaceOne {
			adjacency = accounting.ReplaceOne
		}
		want, err := plan.Solve(t.Context(), plan.Problem{Network: network, Schema: schema}, plan.Options{Privacy: &plan.Privacy{
			Target: accounting.Target{Mu: o.Mu, Epsilon: o.Epsilon, Delta: o.Delta}, Clip: o.Clip, Adjacency: adjacency}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Solve(t.Context(), Problem{Network: network, Participation: Cyclic{Steps: 6, Times: 2}}, o)
		if err != nil || got.Quality.Loss != want.Quality.Loss || got.Privacy.NoiseStd != want.Privacy.NoiseStd {
			t.Errorf("Solve(%+v) = %+v, %v; want the noise level %v", o, got, err, want.Privacy.NoiseStd)
		}
	}
	if _, err := Solve(t.Context(), Problem{Network: network}, Options{}); err == nil {
		t.Error("a problem without participation is solved")
	}
	if _, err := Solve(t.Context(), Problem{Network: network, Participation: Cyclic{6, 2, 0}}, Options{Class: "best"}); err == nil {
		t.Error("an unknown class is taken")
	}
}

// Noise in memory needs a noise level and a node of the network.
func TestNoiseOfIsRefused(t *testing.T) {
	network, err := LoadNetwork(t.Context(), "cycle:5")
	if err != nil {
		t.Fatal(err)
	}
	problem := Problem{Network: network, Participation: Cyclic{Steps: 6, Times: 2}}
	without, err := Solve(t.Context(), problem, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NoiseOf(without, "0", 3); err == nil {
		t.Error("noise without a noise level")
	}
	with, err := Solve(t.Context(), problem, Options{Mu: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NoiseOf(with, "nobody", 3); err == nil {
		t.Error("noise of an unknown node")
	}
	if _, err := NoiseOf(with, network.Graph.Label(0), 3); err != nil {
		t.Error(err)
	}
}

// What a node learns of others is local DP for any training, and less for a class; numbers that hold for no training are
// left out.
func TestAccount(t *testing.T) {
	network, err := LoadNetwork(t.Context(), "path:4")
	if err != nil {
		t.Fatal(err)
	}
	solution, err := Solve(t.Context(), Problem{Network: network, Participation: Cyclic{Steps: 6, Times: 2}}, Options{Mu: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	if err := solution.Export(dir, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	e, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	any, err := Account(t.Context(), e, network, "3", AccountOptions{Delta: 1e-5})
	if err != nil || any.HoldsFor != threat.Everything {
		t.Fatalf("%+v, %v", any, err)
	}
	convex := Reaction{Kind: threat.Convex, X: 0.1}
	some, err := Account(t.Context(), e, network, "3", AccountOptions{Delta: 1e-5, Reaction: convex})
	if err != nil || some.HoldsFor != convex.HoldsFor(threat.PNDP) || some.Reaction.Rho != 0.95 {
		t.Fatalf("%+v, %v", some, err)
	}
	for i, p := range any.Pairs[1:] {
		q := some.Pairs[i+1]
		if p.Victim != q.Victim || p.WithoutReaction != nil || q.WithoutReaction != nil || *p.Mu > 0.5*(1+1e-6) || *q.Mu > *p.Mu {
			t.Errorf("%+v, %+v", p, q)
		}
		if *q.Distance == 3 && !(*q.Mu < *p.Mu/2) {
			t.Errorf("far away: μ = %v for the class, %v for any training", *q.Mu, *p.Mu)
		}
	}
	for name, call := range map[string]func() (threat.Report, error){
		"no network": func() (threat.Report, error) { return Account(t.Context(), e, nil, "3", AccountOptions{}) },
		"nobody":     func() (threat.Report, error) { return Account(t.Context(), e, network, "9", AccountOptions{}) },
		"no class": func() (threat.Report, error) {
			return Account(t.Context(), e, network, "3", AccountOptions{Reaction: Reaction{Kind: "tame", X: 1}})
		},
	} {
		if r, err := call(); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
