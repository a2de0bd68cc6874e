package plan_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/internal/limits"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/workload"
)

func florentine(t testing.TB) *graph.Network {
	t.Helper()
	return must(graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: "florentine"}))
}

// A bad argument is found before anything is computed, and its field is named.
func TestBadArguments(t *testing.T) {
	good := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(12, 3, 4))}
	minSep := must(participation.NewMinSep(12, 3, 4))
	listed := must(participation.NewPatternList(12, [][]int{{0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {9, 10, 11}}))
	there := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	type change func(p *plan.Problem, o *plan.Options)
	class := func(c factorize.Class) change { return func(_ *plan.Problem, o *plan.Options) { o.Class = c } }
	tolerance := func(v float64) change { return func(_ *plan.Problem, o *plan.Options) { o.Tolerance = v } }
	gram := func(g plan.Gram) change { return func(p *plan.Problem, _ *plan.Options) { p.Gram = g } }
	privacy := func(v plan.Privacy) change { return func(_ *plan.Problem, o *plan.Options) { o.Privacy = &v } }
	for name, tc := range map[string]struct {
		by    change
		field string
		say   string
	}{
		"no schema": {func(p *plan.Problem, _ *plan.Options) { p.Schema = nil }, "Schema", "who takes part when"},
		"no network": {func(p *plan.Problem, _ *plan.Options) { p.Network = nil }, "Network",
			"none for the workload model"},
		"prefix network": {func(p *plan.Problem, _ *plan.Options) { p.Workload.Kind = workload.Prefix }, "Network",
			"has no network"},
		"momentum":       {func(p *plan.Problem, _ *plan.Options) { p.Workload.Momentum = 1 }, "Momentum", "below 1"},
		"workload":       {func(p *plan.Problem, _ *plan.Options) { p.Workload.Kind = 9 }, "Workload", "9 is none"},
		"objective":      {func(p *plan.Problem, _ *plan.Options) { p.Objective = 9 }, "Objective", "9"},
		"zero":           {tolerance(-0.1), "Tolerance", "-0.1: must be positive and finite"},
		"NaN":            {tolerance(math.NaN()), "Tolerance", "NaN: must be"},
		"infinite":       {tolerance(math.Inf(1)), "Tolerance", "+Inf: must be"},
		"below rounding": {tolerance(1e-15), "Tolerance", "rounding allows no less than"},
		"bandwidth":      {class(factorize.Banded{Bandwidth: 13}), "Bandwidth", "13: must be from 1 to T = 12"},
		"less bandwidth": {class(factorize.BandedInverse{Bandwidth: -1}), "Bandwidth", "-1: must be from 1 to T = 12"},
		"buffers": {class(factorize.BLT{Buffers: 12}), "Buffers",
			"12: must be at least 1 and less than T = 12"},
		"method":       {gram(plan.Gram{Method: 5}), "Method", "must be exact"},
		"exact probes": {gram(plan.Gram{Method: plan.GramExact, Probes: 4}), "Probes", "are for Method lanczos"},
		"probes":       {gram(plan.Gram{Method: plan.GramLanczos, Probes: 3}), "Probes", "3: at least 4 random"},
		"Lanczos steps": {gram(plan.Gram{Method: plan.GramLanczos, LanczosSteps: 1}), "LanczosSteps",
			"1: at least 2"},
		"too many probes": {gram(plan.Gram{Method: plan.GramLanczos, Probes: 2e6}), "Probes", "at most 1048576"},
		"one class": {func(p *plan.Problem, o *plan.Options) { p.Objective, o.Class = plan.Worst, factorize.Banded{} },
			"Objective", "Objective max is not for a class that is not dense (Class banded)"},
		"overlapping": {func(p *plan.Problem, o *plan.Options) {
			p.Schema, p.Objective, o.Class = minSep, plan.Last, factorize.Dense{}
		}, "Objective", "not for participation whose patterns overlap (min-sep)"},
		"estimate of nodes": {func(p *plan.Problem, o *plan.Options) {
			p.Gram.Method, o.PerNode = plan.GramLanczos,
				true
		},
			"Method", "need the exact Gram matrices"},
		"scaled columns": {func(p *plan.Problem, o *plan.Options) {
			p.Schema, o.Class = minSep, factorize.Toeplitz{ScaleColumns: true}
		}, "ScaleColumns", "ScaleColumns is not for min-sep"},
		"many buffers": {func(p *plan.Problem, o *plan.Options) {
			p.Schema, o.Class = must(participation.NewCyclic(5000, 50, 100)), factorize.Comb{Buffers: 4999}
		}, "Buffers", "4999: at most 64: for more numbers a node choose Class toeplitz or comb"},
		"comb once": {func(p *plan.Problem, o *plan.Options) {
			p.Schema, o.Class = must(participation.NewCyclic(12, 1, 12)), factorize.Comb{}
		}, "Class", "Class comb is for records that take part again"},
		"buffers of bands": {func(p *plan.Problem, o *plan.Options) {
			o.Class, o.Sampling = factorize.Banded{Bandwidth: 2, Buffers: 3}, participation.Poisson
			o.Privacy = &plan.Privacy{Target: accounting.Target{Epsilon: 1, Delta: 1e-6}, Clip: 1}
		}, "Class", "buffers of banded strategies"},
		"bands of a blt": {class(factorize.BLT{Bandwidth: 2}), "Class", "a bandwidth of blt strategies"},
		"comb of all steps": {class(factorize.Comb{Bandwidth: 12}), "Bandwidth",
			"12: the period of a comb must be less than T = 12"},
		"comb of every step": {class(factorize.Comb{Bandwidth: 1}), "Class", "choose Class blt"},
		"scaled comb, overlapping": {func(p *plan.Problem, o *plan.Options) {
			p.Schema, o.Class = must(participation.NewCyclic(5000, 5, 20)), factorize.Comb{ScaleColumns: true}
		}, "ScaleColumns", "ScaleColumns is not for cyclic participation, whose patterns overlap"},
		"scaled comb, listed": {func(p *plan.Problem, o *plan.Options) {
			p.Schema, o.Class = listed, factorize.Comb{Bandwidth: 3, ScaleColumns: true}
		}, "ScaleColumns", "ScaleColumns of a comb is for Schema cyclic"},
		"scaled comb, too many products": {func(p *plan.Problem, o *plan.Options) {
			p.Schema, o.Class = must(participation.NewCyclic(1e5, 1250, 80)), factorize.Comb{ScaleColumns: true}
		}, "ScaleColumns", "takes too long for k·T = 1250·100000"},
		"scaled coefficients of many steps": {func(p *plan.Problem, o *plan.Options) {
			p.Schema, o.Class = must(participation.NewCyclic(5000, 50, 100)), factorize.Toeplitz{ScaleColumns: true}
		}, "ScaleColumns", "more than 4096 steps: ScaleColumns is for Class comb"},
		"negative groups": {func(_ *plan.Problem, o *plan.Options) { o.Groups = -1 }, "Groups",
			"-1: must be at least 1"},
		"many groups": {func(_ *plan.Problem, o *plan.Options) { o.Groups = 16 }, "Groups",
			"16: the graph has 15 nodes"},
		"both": {func(_ *plan.Problem, o *plan.Options) { o.PerNode, o.Groups = true, 2 }, "Groups",
			"not both"},
		"class of nodes": {func(_ *plan.Problem, o *plan.Options) { o.PerNode, o.Class = true, factorize.BLT{} },
			"Class", "dense"},
		"resume nothing": {func(_ *plan.Problem, o *plan.Options) { o.Resume = true }, "Resume",
			"Resume needs Checkpoint"},
		"two starts": {func(_ *plan.Problem, o *plan.Options) {
			o.Resume, o.Checkpoint, o.StartFrom = true, "x",
				"y"
		}, "StartFrom", "only one"},
		"checkpoint there": {func(_ *plan.Problem, o *plan.Options) { o.Checkpoint = there }, "Resume",
			"exists already: Resume goes on"},
		"checkpoint a folder": {func(_ *plan.Problem, o *plan.Options) { o.Checkpoint, o.Resume = ".", true },
			"Checkpoint", "not a regular file"},
		"start of nothing": {func(_ *plan.Problem, o *plan.Options) { o.StartFrom = t.TempDir() }, "StartFrom",
			"manifest.json"},
		"clip": {privacy(plan.Privacy{Target: accounting.Target{Mu: 1}, Clip: -1}), "Clip",
			"must be positive and finite"},
		"delta alone": {privacy(plan.Privacy{Target: accounting.Target{Delta: 1e-6}}), "Privacy",
			"neither mu nor epsilon"},
	} {
		t.Run(name, func(t *testing.T) {
			p, o := good, plan.Options{NoBaselines: true}
			tc.by(&p, &o)
			s, err := plan.Solve(t.Context(), p, o)
			var a *fault.Argument
			if s != nil || !errors.As(err, &a) || a.Field != tc.field || !strings.Contains(err.Error(), tc.say) {
				t.Errorf("%v, %v; want an error about %s with %q", s, err, tc.field, tc.say)
			}
		})
	}
}

// What only an export can be refused for is found before the work, as well.
func TestBadExports(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(12, 3, 4))}
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		options plan.Options
		dir     string
		write   export.WriteOptions
		say     string
	}{
		"nothing left": {plan.Options{}, "", export.WriteOptions{ParametersOnly: true},
			"leaves nothing to export of Class dense"},
		"one array": {plan.Options{PerNode: true}, "", export.WriteOptions{Format: export.FormatBoth},
			"Format both cannot hold"},
		"somebody's":     {plan.Options{}, full, export.WriteOptions{Force: true}, "not an export"},
		"current folder": {plan.Options{}, ".", export.WriteOptions{}, "current folder"},
	} {
		var a *fault.Argument
		if err := p.CheckExport(tc.options, tc.dir, tc.write); !errors.As(err, &a) ||
			!strings.Contains(err.Error(), tc.say) {
			t.Errorf("%s: %v, want %q", name, err, tc.say)
		}
	}
	if err := p.CheckExport(plan.Options{}, filepath.Join(t.TempDir(), "new"), export.WriteOptions{}); err != nil {
		t.Error(err)
	}
}

// What the machine has no memory for is refused before any work, by Solve and by those who ask.
func TestNeeds(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(1e6, 4, 250000))}
	r := p.Needs(plan.Options{})
	if r.Memory < 60*8e12 || r.Disk != 16e12 || r.Time.Hours() < 1e6 {
		t.Errorf("%+v", r)
	}
	if _, err := plan.Solve(t.Context(), p, plan.Options{}); !errors.Is(err, limits.ErrMemory) ||
		!strings.Contains(err.Error(), "T = 1000000") {
		t.Errorf("a million steps: %v", err)
	}
	without := p
	without.Network = nil
	if err := without.Check(plan.Options{}); !errors.Is(err, limits.ErrMemory) {
		t.Errorf("before the network is there: %v", err)
	}
	long := p.Needs(plan.Options{Class: factorize.BLT{}})
	if long.Memory > 1e10 || long.Disk != 0 || p.Check(plan.Options{Class: factorize.BLT{}}) != nil {
		t.Errorf("of a BLT: %+v, %v", long, p.Check(plan.Options{Class: factorize.BLT{}}))
	}
	p.Schema = must(participation.NewCyclic(400, 4, 100))
	one, all := p.Needs(plan.Options{}), p.Needs(plan.Options{PerNode: true})
	if one.Memory < 60*8*160000 || one.Memory > 2e8 || all.Memory <= one.Memory || all.Disk != 15*one.Disk ||
		all.Time <= one.Time {
		t.Errorf("one %+v, one a node %+v", one, all)
	}
	p.Gram.Method = plan.GramLanczos
	if estimated := p.Needs(plan.Options{}); estimated.Memory >= one.Memory {
		t.Errorf("an estimate on 15 nodes keeps %g bytes, the exact way %g", estimated.Memory, one.Memory)
	}
}
