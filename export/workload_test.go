package export

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mafalda/strategy"
	"mafalda/workload"
)

// trained is a manifest of a workload, complete enough to be read.
func trained(s workload.Spec, steps int) *Manifest {
	gap := 1e-6
	return &Manifest{Version: "1", Workload: s.Kind.String(), WorkloadSpec: &s, Steps: steps,
		Participation: Participation{Schema: "cyclic", K: 1, B: steps},
		Strategy:      Strategy{Parameters: strategy.Identity(steps).Parameters()}, SensSquared: 1, SensKind: "exact",
		SquaredError: 1, Loss: 1, RMSE: 1, LowerBound: 1, Gap: gap, Tolerance: gap, Status: "converged",
		Files: map[string]string{"C.npy": "00"}}
}

func drawSpec(r *rapid.T, steps int) workload.Spec {
	s := workload.Spec{Kind: workload.Kind(rapid.IntRange(0, 1).Draw(r, "kind"))}
	s.Momentum = rapid.Float64Range(0, 0.99).Draw(r, "β")
	s.Nesterov = s.Momentum > 0 && rapid.Bool().Draw(r, "Nesterov")
	s.WeightDecay = rapid.Float64Range(0, 0.5).Draw(r, "λ")
	s.LocalSteps, s.GossipRounds = rapid.IntRange(0, steps).Draw(r, "local"), rapid.IntRange(0, 3).Draw(r, "rounds")
	s.NodeFailures, s.LinkFailures = rapid.Float64Range(0, 0.9).Draw(r, "p"), rapid.Float64Range(0, 0.9).Draw(r, "q")
	s.MissedSteps = rapid.Float64Range(0, 0.9).Draw(r, "missed")
	s.Carry = s.MissedSteps > 0 && rapid.Bool().Draw(r, "carry")
	list := func(name string) []float64 {
		return rapid.SliceOfN(rapid.Float64Range(1e-300, 1.5), steps, steps).Draw(r, name)
	}
	switch rapid.IntRange(0, 2).Draw(r, "rates") {
	case 1:
		s.LearningRates = workload.ListedRates(list("η"))
	case 2:
		var err error
		if s.LearningRates, err = workload.ParseSchedule("warmup-cosine:0.3"); err != nil {
			r.Fatal(err)
		}
	}
	switch rapid.IntRange(0, 2).Draw(r, "weights") {
	case 1:
		s.Weights = workload.ListedWeights(list("v"))
	case 2:
		s.Weights = workload.LastSteps(rapid.IntRange(1, steps).Draw(r, "last"))
	}
	return s
}

// A workload is read from a manifest as it was written, to the last bit.
func TestSpecRoundTrip(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		steps := rapid.IntRange(1, 6).Draw(r, "T")
		s := drawSpec(r, steps)
		if s.Check(steps) != nil {
			r.Skip()
		}
		var text, again bytes.Buffer
		if err := trained(s, steps).WriteJSON(&text); err != nil {
			r.Fatal(err)
		}
		m, err := ReadManifest(bytes.NewReader(text.Bytes()))
		if err != nil {
			r.Fatalf("%v in\n%s", err, text.String())
		}
		got := *m.WorkloadSpec
		if got.String() != s.String() || m.IsPlain() != s.IsPlain() {
			r.Fatalf("%v; want %v", got, s)
		}
		if err := m.WriteJSON(&again); err != nil || again.String() != text.String() {
			r.Fatalf("%v:\n%s\n%s", err, again.String(), text.String())
		}
	})
}

// Manifests without a description of the workload, or with a wrong one, are refused.
func TestSpecOfManifests(t *testing.T) {
	m := trained(workload.Spec{Kind: workload.Message}, 3)
	m.WorkloadSpec = nil
	var none bytes.Buffer
	if err := m.WriteJSON(&none); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadManifest(&none); err == nil || !strings.Contains(err.Error(), "workload_spec is missing") {
		t.Errorf("no description: %v", err)
	}
	spec := workload.Spec{Optimizer: workload.Optimizer{Momentum: 0.5}}
	for name, tc := range map[string]struct{ was, is, say string }{
		"kind":     {`"kind": "model"`, `"kind": "message"`, `workload_spec.kind is "message"`},
		"unknown":  {`"momentum": 0.5`, `"momentun": 0.5`, `unknown key "workload_spec.momentun"`},
		"case":     {`"momentum": 0.5`, `"Momentum": 0.5`, `unknown key "workload_spec.Momentum"`},
		"twice":    {`"momentum": 0.5`, `"momentum": 0.5, "momentum": 0.6`, "is there twice"},
		"range":    {`"momentum": 0.5`, `"momentum": 1`, "must be at least 0 and below 1"},
		"text":     {`"momentum": 0.5`, `"momentum": "0.5"`, "must be a number"},
		"rates":    {`"momentum": 0.5`, `"learning_rates": [1, 2]`, "there are 2 of them for 3 steps"},
		"nested":   {`"momentum": 0.5`, `"learning_rates": {"a": 1}`, "must be a string or an array"},
		"weights":  {`"momentum": 0.5`, `"weights": [[1]]`, "must be a number"},
		"name":     {`"momentum": 0.5`, `"learning_rates": "fast"`, "is none of constant"},
		"sequence": {`"momentum": 0.5`, `"graph_sequence": {"networks": 0, "sha256": ""}`, "no network"},
		"plain":    {`"workload_spec": {`, `"plain_strategy_loss": -1, "workload_spec": {`, "plain_strategy_loss is -1"},
	} {
		var text bytes.Buffer
		if err := trained(spec, 3).WriteJSON(&text); err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(text.String(), tc.was, tc.is, 1)
		if _, err := ReadManifest(strings.NewReader(changed)); changed == text.String() || err == nil ||
			!strings.Contains(err.Error(), tc.say) {
			t.Errorf("%s: %v, want %q", name, err, tc.say)
		}
	}
}
