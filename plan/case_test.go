package plan_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"mafalda/participation"
	"mafalda/plan"
	"mafalda/workload"
)

// caseOf returns a case on a small network, in which nothing is said of what may be relied on.
func caseOf(t *testing.T) plan.Case {
	return plan.Case{Problem: plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(8, 2, 4))},
		Options: plan.Options{Privacy: asked(2)}, Limit: time.Minute,
		Schemes: []participation.Scheme{participation.Poisson, participation.Allocation}}
}

// What a way costs is what Solve says of the problem and the options that it stands for, and the first one is the best
// of those that rely on nothing but what the case says.
func TestCompareIsSolve(t *testing.T) {
	c := caseOf(t)
	c.Secret, c.Options.Budget = plan.Yes, &plan.Budget{Dim: 10, Memory: 3 * 80}
	compared := must(plan.Compare(t.Context(), c))
	ranked := true
	for i, w := range compared.Ways {
		p, o := c.Problem, plan.Options{Privacy: c.Options.Privacy, Sampling: w.Sampling, Class: w.Class, NoBaselines: true}
		if w.Shared {
			p.Sharing = must((&plan.Sharing{}).Resolve(p.Network))
		}
		s, err := plan.Solve(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(s.ErrorAtPrivacy-w.ErrorAtPrivacy) > 1e-5*s.ErrorAtPrivacy || w.Floats > 3 ||
			s.Manifest().Guarantee() != w.Guarantee {
			t.Errorf("%s: error %v, want %v; keeps %d; %s", w.Name(), w.ErrorAtPrivacy, s.ErrorAtPrivacy, w.Floats,
				w.Guarantee)
		}
		if w.Ranked == w.Shared || !ranked && w.Ranked {
			t.Errorf("%d: %s has a rank: %v", i, w.Name(), w.Ranked)
		}
		if i > 0 && w.Ranked == ranked && w.ErrorAtPrivacy < compared.Ways[i-1].ErrorAtPrivacy {
			t.Errorf("%d: %s has less error than what stands before it", i, w.Name())
		}
		ranked = w.Ranked
	}
	if len(compared.Ways) != 6 || compared.Best() != compared.Ways[0] || len(compared.LeftOut) != 1 ||
		!strings.Contains(compared.LeftOut[0].Reason.Error(), "3 fit") {
		t.Errorf("%d ways, left out %v", len(compared.Ways), compared.LeftOut)
	}
}

// One band of each scheme and one strategy for all with batches in turn are compared however short the limit is; what is left
// out for it was not tried, or stopped.
func TestCompareShortWaysWhateverTheLimit(t *testing.T) {
	c := caseOf(t)
	c.Secret, c.Limit = plan.Yes, time.Nanosecond
	compared := must(plan.Compare(t.Context(), c))
	var names []string
	for _, w := range compared.Ways {
		names = append(names, w.Name())
	}
	slices.Sort(names)
	want := []string{"own noise, allocation, independent", "own noise, in turn, blt, d = 4", "own noise, in turn, dense",
		"own noise, in turn, independent", "own noise, poisson, independent"}
	if !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	for _, l := range compared.LeftOut {
		if text := l.Reason.Error(); !l.IsLimit() || !strings.Contains(text, "not tried") && !strings.Contains(text, "stopped after") {
			t.Errorf("%s: %s", l.Way, text)
		}
	}
	if len(compared.LeftOut) != 5 {
		t.Errorf("%d left out", len(compared.LeftOut))
	}
}

// Every way that is left out has a reason: the case denies what it relies on, it takes too long, or it is not
// supported.
func TestCompareLeavesOut(t *testing.T) {
	reasons := func(c plan.Case) map[string]string {
		compared, err := plan.Compare(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]string{}
		for _, l := range compared.LeftOut {
			all[l.Way] = l.Reason.Error()
		}
		for _, w := range compared.Ways {
			all[w.Name()] = ""
		}
		return all
	}
	c := caseOf(t)
	c.Secret, c.Collude = plan.No, plan.Yes
	of := reasons(c)
	for way, part := range map[string]string{"own noise, poisson": "may know which records",
		"shared noise, in turn": "may tell others",
		"shared noise, poisson": "may know which records", "own noise, in turn, dense": ""} {
		if reason, there := of[way]; !there || !strings.Contains(reason, part) {
			t.Errorf("%s: %q", way, of)
		}
	}
	c = caseOf(t)
	c.Problem.Network, c.Problem.Workload = nil, workload.Spec{Kind: workload.Prefix}
	if of = reasons(c); len(of) != 5 {
		t.Errorf("without a network: %q", of)
	}
	c.Problem.Schema = must(participation.NewCyclic(5000, 10, 500))
	of = reasons(c)
	for _, way := range []string{"own noise, in turn, blt, d = 4", "own noise, in turn, comb, d = 4, scaled columns"} {
		if reason, there := of[way]; !there || reason != "" || of["own noise, poisson"] == "" {
			t.Errorf("many steps: %s: %q", way, of)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := plan.Compare(ended, caseOf(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestCheckCase(t *testing.T) {
	for field, change := range map[string]func(c *plan.Case){
		"Epsilon": func(c *plan.Case) { c.Options.Privacy = nil },
		"Schema":  func(c *plan.Case) { c.Problem.Schema = nil },
		"Class":   func(c *plan.Case) { c.Options.PerNode = true },
		"Limit":   func(c *plan.Case) { c.Limit = 0 },
		"Dim":     func(c *plan.Case) { c.Options.Budget = &plan.Budget{Memory: math.Inf(1)} },
		"Memory":  func(c *plan.Case) { c.Options.Budget = &plan.Budget{Memory: math.NaN(), Dim: 1} },
	} {
		c := caseOf(t)
		if err := plan.CheckCase(c); err != nil {
			t.Fatal(err)
		}
		change(&c)
		refused(t, field, plan.CheckCase(c))
	}
}
