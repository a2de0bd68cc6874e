package verify_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/verify"
	"mafalda/workload"
)

// zeroRates are learning rates of which some are zero: noise of these steps costs nothing.
func zeroRates(steps int) map[string][]float64 {
	rates := map[string][]float64{"constant": nil}
	if steps == 1 {
		return rates
	}
	for name, zero := range map[string]func(t int) bool{"front": func(t int) bool { return t < (steps+2)/3 },
		"middle": func(t int) bool { return t > 0 && t < steps-1 && (t == steps/2 || t%3 == 1) },
		"end":    func(t int) bool { return t >= steps/2 },
		"most":   func(t int) bool { return t != steps/2 }} {
		all := make([]float64, steps)
		for t := range all {
			if !zero(t) {
				all[t] = 1 - float64(t)/float64(2*steps)
			}
		}
		rates[name] = all
	}
	return rates
}

// sweep returns every class and objective against either trust, for k participations b steps apart.
func sweep(k, b int) map[string]exported {
	all := map[string]exported{}
	steps := k * b
	schema := must(participation.NewCyclic(steps, k, b))
	for name, rates := range zeroRates(steps) {
		p := plan.Problem{Schema: schema}
		if rates != nil {
			p.Workload = workload.Spec{Optimizer: workload.Optimizer{LearningRates: workload.ListedRates(rates)}}
		}
		name = fmt.Sprintf("k = %d, b = %d, zero rates: %s, ", k, b, name)
		for _, class := range factorize.Classes() {
			o := plan.Options{Class: class, NoBaselines: true}
			all[name+class.Name()] = exported{problem: p, options: o}
			shared := p
			shared.Sharing = &plan.Sharing{}
			all[name+class.Name()+" shared"] = exported{problem: shared, options: o}
		}
		for _, o := range []plan.Objective{plan.Worst, plan.Last} {
			of := p
			of.Objective = o
			all[name+o.String()] = exported{problem: of, options: plan.Options{NoBaselines: true}}
		}
	}
	return all
}

// tried solves, exports and verifies, and returns what is wrong; nothing is wrong with a refusal that says why.
func tried(t testing.TB, x exported) (refused, wrong error) {
	n, err := graph.LoadNetwork(t.Context(), x.network)
	if err != nil {
		return nil, err
	}
	p := x.problem
	p.Network = n
	if p.Workload, err = p.Workload.On(n); err != nil {
		return nil, err
	}
	if p.Sharing != nil {
		if p.Sharing, err = p.Sharing.Resolve(n); err != nil {
			return nil, err
		}
	}
	s, err := plan.Solve(t.Context(), p, x.options)
	var argument *fault.Argument
	if (errors.As(err, &argument) || errors.Is(err, factorize.ErrUnsupported)) && !strings.Contains(err.Error(), "\n") {
		return err, nil
	}
	if err != nil {
		return nil, err
	}
	if s.Ending.Status != optim.Converged {
		return nil, fmt.Errorf("%v with a gap of %v", s.Ending.Status, s.Ending.Gap)
	}
	dir := filepath.Join(t.TempDir(), "out")
	if err := s.Export(dir, x.write); err != nil {
		return nil, err
	}
	e, err := export.Load(dir)
	if err != nil {
		return nil, err
	}
	r, err := verify.Verify(t.Context(), e, nil)
	if err == nil && !r.OK() {
		err = fmt.Errorf("%+v", r.Failures())
	}
	return nil, err
}

// Every class against either trust, and every objective, with learning rates of zero anywhere, gives an export that
// verifies. Only shared noise is refused where noise of some steps costs nothing, and combs where records take part once
// or in every step, in one line.
func TestSweepGivesExportsThatVerify(t *testing.T) {
	for _, of := range []struct{ k, b int }{{1, 2}, {4, 1}, {2, 2}, {2, 3}} {
		t.Run(fmt.Sprintf("k = %d, b = %d", of.k, of.b), func(t *testing.T) {
			t.Parallel()
			for name, x := range sweep(of.k, of.b) {
				x.network = graph.NetworkOptions{Source: "path:3"}
				refused, wrong := tried(t, x)
				if wrong != nil {
					t.Errorf("%s: %v", name, wrong)
				}
				free := x.problem.Sharing != nil && x.problem.Workload.HasFreeNoise(of.k*of.b)
				noPeriod := (of.k == 1 || of.b == 1) && strings.Contains(name, "comb")
				if (refused != nil) != (free || noPeriod) {
					t.Errorf("%s: refused with %v", name, refused)
				}
			}
		})
	}
}
