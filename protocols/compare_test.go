package protocols_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/protocols"
	"mafalda/protocols/averaging"
	"mafalda/protocols/dpps"
	"mafalda/protocols/gossip"
	"mafalda/study"
)

func comparison(t *testing.T) *protocols.Comparison {
	t.Helper()
	n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: "path:4", Scheme: graph.Laplacian})
	if err != nil {
		t.Fatal(err)
	}
	rounds := 12
	return &protocols.Comparison{Problem: averaging.Problem{Network: n, Values: averaging.DrawValues(4, 10, 0),
		ValueStd: 10, Rounds: &rounds}, Gossip: gossip.AverageOptions{Delta: 1e-6},
		DPPS: dpps.Problem{Plan: dpps.Plan{B: 50, NoiseRate: 1, Sync: 5}, Delta: 1e-6}}
}

// All protocols have errors of every round, and outcomes survive JSON.
func TestComparison(t *testing.T) {
	c := comparison(t)
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	for _, cell := range c.Cells() {
		o, err := c.Do(t.Context(), cell)
		if err != nil || len(o.Errors()) != 13 || o.Failed != "" {
			t.Fatalf("%s: %+v, %v", cell.Protocol, o, err)
		}
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		var again protocols.Outcome
		if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, o) {
			t.Errorf("%s changes on its way through JSON: %v", cell.Protocol, err)
		}
	}
	c.DPPS.Source, c.DPPS.B, c.DPPS.Sync = dpps.Paper, 0.1, 0
	if o, err := c.Do(t.Context(), protocols.Cell{Protocol: protocols.DPPS}); err != nil || o.Failed == "" ||
		o.Errors() != nil {
		t.Errorf("a run that fails is a result: %+v, %v", o, err)
	}
	var a *fault.Argument
	if _, err := c.Do(t.Context(), protocols.Cell{Protocol: "push"}); !errors.As(err, &a) {
		t.Errorf("push: %v", err)
	}
	c.Problem.Rounds = nil
	if err := c.Check(); !errors.As(err, &a) || a.Field != "Rounds" {
		t.Errorf("until they agree: %v", err)
	}
}

// Everything that changes a number is among the inputs.
func TestComparisonSpec(t *testing.T) {
	key := func(change func(c *protocols.Comparison)) study.Key {
		c := comparison(t)
		change(c)
		spec := c.Spec()
		return spec.Inputs.Key(spec.Study)
	}
	first := key(func(*protocols.Comparison) {})
	if key(func(*protocols.Comparison) {}) != first {
		t.Error("the same comparison has another key")
	}
	for name, change := range map[string]func(c *protocols.Comparison){
		"values":     func(c *protocols.Comparison) { c.Problem.Values[3]++ },
		"value std":  func(c *protocols.Comparison) { c.Problem.ValueStd++ },
		"rounds":     func(c *protocols.Comparison) { *c.Problem.Rounds++ },
		"observers":  func(c *protocols.Comparison) { c.Problem.Observers = [][]int{{1}} },
		"coalition":  func(c *protocols.Comparison) { c.Problem.Observers = [][]int{{0, 1, 2, 3}} },
		"victims":    func(c *protocols.Comparison) { c.Problem.Victims = []int{1} },
		"chosen":     func(c *protocols.Comparison) { c.PPAC.Chosen = []int{1, 2, 3, 2} },
		"seed":       func(c *protocols.Comparison) { c.Problem.Seed++ },
		"noise":      func(c *protocols.Comparison) { c.Gossip.NoiseStd++ },
		"ppac noise": func(c *protocols.Comparison) { c.PPAC.NoiseStd++ },
		"difference": func(c *protocols.Comparison) { c.Gossip.Difference++ },
		"delta":      func(c *protocols.Comparison) { c.Gossip.Delta *= 2 },
		"dpps delta": func(c *protocols.Comparison) { c.DPPS.Delta *= 2 },
		"b":          func(c *protocols.Comparison) { c.DPPS.B++ },
		"rate":       func(c *protocols.Comparison) { c.DPPS.NoiseRate++ },
		"sync":       func(c *protocols.Comparison) { c.DPPS.Sync++ },
		"source":     func(c *protocols.Comparison) { c.DPPS.Source = dpps.Given },
		"constants":  func(c *protocols.Comparison) { c.DPPS.Constants.C = 2 },
	} {
		if key(change) == first {
			t.Errorf("another %s has the same key", name)
		}
	}
}

func TestRunPapers(t *testing.T) {
	p, err := protocols.RunPapers(t.Context(), 1)
	if err != nil || len(p.Cycles) != 4 || len(p.Sensitivity) != 2 || len(p.Swept.Noises) != 6 {
		t.Fatalf("%+v, %v", p, err)
	}
	if last := len(p.Example.Result.Errors) - 1; last != 60 || len(p.Example.Result.Pairs) != 1 {
		t.Errorf("%+v", p.Example.Result)
	}
}
