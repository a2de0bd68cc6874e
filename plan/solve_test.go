package plan_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/strategy"
	"mafalda/verify"
	"mafalda/workload"
)

// What Solve returns is what the rooms below say, called by hand: for every class.
func TestSolveIsWhatItsRoomsSay(t *testing.T) {
	n, schema := florentine(t), must(participation.NewCyclic(16, 4, 4))
	k := must(workload.NewKernel(t.Context(), n.Gossip.Matrix(), 16, workload.Options{}))
	objective := factorize.Mean(k.Gram())
	optimum := must(factorize.Dense{}.Optimize(t.Context(), objective, schema, factorize.Options{}))
	for _, class := range factorize.Classes() {
		t.Run(class.Name(), func(t *testing.T) {
			s := must(plan.Solve(t.Context(), plan.Problem{Network: n, Schema: schema}, plan.Options{Class: class}))
			want := must(class.Optimize(t.Context(), objective, schema, factorize.Options{}))
			if !mat.Equal(strategy.GramOf(s.Strategy()), strategy.GramOf(want.Strategy)) ||
				s.Quality.Loss != want.Loss ||
				s.Quality.Sensitivity.Squared != want.Sensitivity.Squared {
				t.Errorf("%+v, want %+v", s.Quality, want.Quality)
			}
			if s.LowerBound != optimum.LowerBound || s.Optimum.Loss != optimum.Loss ||
				s.Gap < (want.Loss-optimum.LowerBound)/optimum.LowerBound {
				t.Errorf("bound %v, optimum %v, gap %v", s.LowerBound, s.Optimum.Loss, s.Gap)
			}
			m := s.Manifest()
			if s.Ending.Status != optim.Converged || m.Strategy.Class != class.Name() || m.Loss != want.Loss ||
				len(s.Baselines) != 3 {
				t.Errorf("%+v, %+v", s.Ending, m)
			}
			if sens := must(strategy.Sensitivity(s.Strategy(), schema)); sens.Squared != m.SensSquared {
				t.Errorf("sens² = %v, the manifest says %v", sens.Squared, m.SensSquared)
			}
			if ratio := m.Strategy.Ratio; class == factorize.Class(factorize.Dense{}) != (ratio == 0) || ratio != 0 &&
				ratio < 1-1e-6 {
				t.Errorf("ratio %v", ratio)
			}
		})
	}
}

// One step on one node: C = 1, and the loss is 1, without any search.
func TestSolveOneStep(t *testing.T) {
	s := must(plan.Solve(t.Context(),
		plan.Problem{Workload: workload.Spec{Kind: workload.Prefix}, Schema: must(participation.NewCyclic(1, 1, 1))},
		plan.Options{Privacy: &plan.Privacy{Target: accounting.Target{Mu: 2}, Clip: 3,
			Adjacency: accounting.ReplaceOne}}))
	m := s.Manifest()
	if !scalar.EqualWithinRel(s.Quality.Loss, 1, 1e-6) || m.Graph != nil || m.RMSE != math.Sqrt(s.Quality.Loss) {
		t.Errorf("%+v", m)
	}
	if p := s.Privacy; p == nil || !scalar.EqualWithinRel(p.NoiseStd, 3, 1e-12) || p.NoiseStd < 3 ||
		p.Adjacency != "replace-one" {
		t.Errorf("noise %+v, want 2·3/2", p)
	}
}

// Without anything else Solve takes all strategies, or few bands under min-sep.
func TestSolveByDefault(t *testing.T) {
	n := florentine(t)
	for name, schema := range map[string]participation.Schema{
		"dense":  must(participation.Complete(20, 0, 0)),
		"banded": must(participation.NewMinSep(20, 4, 5)),
	} {
		s := must(plan.Solve(t.Context(), plan.Problem{Network: n, Schema: schema}, plan.Options{}))
		if m := s.Manifest(); m.Strategy.Class != name || m.Tolerance != 1e-6 || m.Gram.Method != "exact" ||
			m.LowerBound > m.Loss {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

// Other objectives prove their own bounds, and the optimum for the mean is a baseline.
func TestSolveByObjective(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(16, 4, 4))}
	for _, o := range []plan.Objective{plan.Worst, plan.Last} {
		p.Objective = o
		s := must(plan.Solve(t.Context(), p, plan.Options{}))
		m := s.Manifest()
		if m.Objective != o.String() || m.Gap > o.Tolerance() || m.Baselines["mean-optimal"].Loss < m.LowerBound ||
			len(m.Baselines) != 4 {
			t.Errorf("%v: %+v", o, m)
		}
		if (o == plan.Worst) != (m.Weights != nil) {
			t.Errorf("%v: weights %v", o, m.Weights)
		}
	}
}

// More strategies gain more, down to the bound; the layers of an export are what Strategies returns.
func TestSolveForNodes(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(16, 4, 4))}
	last := math.Inf(1)
	for _, tc := range []struct {
		o      plan.Options
		layers int
	}{{plan.Options{NoBaselines: true}, 1}, {plan.Options{NoBaselines: true, Groups: 3}, 3},
		{plan.Options{NoBaselines: true, PerNode: true}, 15}} {
		s := must(plan.Solve(t.Context(), p, tc.o))
		if s.Quality.Loss > last || len(s.Strategies()) != tc.layers || s.LowerBound > s.Quality.Loss ||
			s.Ending.Status != optim.Converged {
			t.Errorf("%+v: loss %v after %v, %d layers", tc.o, s.Quality.Loss, last, len(s.Strategies()))
		}
		last = s.Quality.Loss
		dir := filepath.Join(t.TempDir(), "out")
		if err := s.Export(dir, export.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if e := must(export.Load(dir)); max(len(e.Layers), 1) != tc.layers || len(s.Files) != 4 {
			t.Errorf("%+v: %d layers are exported, in files %v", tc.o, len(e.Layers), s.Files)
		}
	}
}

// A search that is interrupted leaves the best so far, which can be exported, verified, and started from.
func TestInterruptedSolve(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(40, 4, 10))}
	s, err := plan.Solve(ctx, p, plan.Options{Tolerance: 1e-9, Groups: 2, Progress: func(e plan.Event) {
		if e.Iteration != nil && e.Iteration.Count == 2 {
			cancel()
		}
	}})
	if err != nil || s.Ending.Status != optim.Interrupted || s.Ending.Gap < 1e-9 || s.Baselines != nil ||
		s.Split != nil {
		t.Fatalf("%+v, %v", s, err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	if err := s.Export(dir, export.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if r, err := verify.Verify(t.Context(), must(export.Load(dir)), p.Network); err != nil || !r.OK() {
		t.Errorf("%v, %+v", err, r.Failures())
	}
	direct := must(plan.Solve(t.Context(), p, plan.Options{Tolerance: 1e-9, NoBaselines: true}))
	again := must(plan.Solve(t.Context(), p, plan.Options{StartFrom: dir, Tolerance: 1e-9, NoBaselines: true}))
	if !scalar.EqualWithinRel(again.Quality.Loss, direct.Quality.Loss, 2e-9) || again.Ending.Status != optim.Converged {
		t.Errorf("from the export: %v, want %v", again.Quality.Loss, direct.Quality.Loss)
	}
}

// Of a context that has ended before there is anything, nothing is left but its error; a search at least begins.
func TestCanceledSolve(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	long := plan.Problem{Network: must(graph.LoadNetwork(t.Context(),
		graph.NetworkOptions{Source: "cycle:5", Scheme: graph.Metropolis})),
		Schema: must(participation.NewCyclic(6000, 3, 2000))}
	if s, err := plan.Solve(ctx, long, plan.Options{Class: factorize.BLT{}}); !errors.Is(err, context.Canceled) ||
		s != nil {
		t.Errorf("%v, %v", s, err)
	}
	short := plan.Problem{Network: long.Network, Schema: must(participation.NewCyclic(40, 4, 10))}
	s, err := plan.Solve(ctx, short, plan.Options{})
	if err != nil && !errors.Is(err, context.Canceled) || err == nil && s.Ending.Status != optim.Interrupted {
		t.Errorf("%+v, %v", s, err)
	}
}

// A search that cannot reach its tolerance says so, and its bound holds.
func TestUnconvergedSolve(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(16, 4, 4)), Objective: plan.Worst}
	s := must(plan.Solve(t.Context(), p, plan.Options{Tolerance: 1e-12, NoBaselines: true}))
	if s.Ending.Status == optim.Converged || s.Ending.Status == optim.Interrupted || s.Ending.Gap < 1e-12 ||
		s.Manifest().Status != s.Ending.Status.String() || s.LowerBound > s.Quality.Loss {
		t.Errorf("%+v, bound %v of %v", s.Ending, s.LowerBound, s.Quality.Loss)
	}
}

// More steps than matrices have room for: no optimum, but a bound, and nothing of size T×T, exported or not.
func TestSolveManySteps(t *testing.T) {
	n := must(graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: "cycle:5", Scheme: graph.Metropolis}))
	p := plan.Problem{Network: n, Schema: must(participation.NewCyclic(4200, 3, 1400))}
	s := must(plan.Solve(t.Context(), p, plan.Options{Class: factorize.BLT{Buffers: 2}}))
	if s.Optimum != nil || !(s.Gap > 0 && s.Gap < 0.25) || len(s.Baselines) != 2 ||
		s.Quality.Loss >= s.Baselines[0].Loss {
		t.Errorf("%+v", s)
	}
	dir := filepath.Join(t.TempDir(), "out")
	if err := s.Export(dir, export.WriteOptions{}); err != nil || len(s.Files) != 2 || s.Files["nodes.csv"] == "" ||
		s.Files["W.npy"] == "" && s.Files["W.mtx"] == "" {
		t.Errorf("%v, %v", err, s.Files)
	}
}

// An estimate says how far off it may be, and the truth is nearer.
func TestSolveByEstimate(t *testing.T) {
	n := must(graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: "barabasi:300,3", Seed: 3}))
	p := plan.Problem{Network: n, Schema: must(participation.NewCyclic(24, 4, 6))}
	exact := must(plan.Solve(t.Context(), p, plan.Options{NoBaselines: true}))
	p.Gram = plan.Gram{Method: plan.GramLanczos, Probes: 20, Seed: 7}
	s := must(plan.Solve(t.Context(), p, plan.Options{NoBaselines: true}))
	g := s.Gram
	if g.Probes != 20 || g.LanczosSteps != 40 || g.Seed != 7 || g.LossError == nil || g.ExcessBound == nil {
		t.Fatalf("%+v", g)
	}
	if off := math.Abs(s.Quality.Loss/exact.Quality.Loss - 1); off > *g.LossError || *g.LossError > 0.2 {
		t.Errorf("off by %v, claimed %v", off, *g.LossError)
	}
	k := must(workload.NewKernel(t.Context(), n.Gossip.Matrix(), 24, workload.Options{}))
	q := must(factorize.Evaluate(s.Strategy(), factorize.Mean(k.Gram()), p.Schema))
	if excess := q.Loss/exact.LowerBound - 1; excess > *g.ExcessBound {
		t.Errorf("excess %v, claimed %v", excess, *g.ExcessBound)
	}
	p.Gram = plan.Gram{Method: plan.GramLanczos, Probes: 4, LanczosSteps: 2}
	if _, err := plan.Solve(t.Context(), p, plan.Options{NoBaselines: true}); err != nil &&
		!errors.Is(err, plan.ErrEstimate) {
		t.Error(err)
	}
}

// Phases come one after the other, their fractions are fractions, and iterations agree with the history.
func TestProgress(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(16, 4, 4))}
	var phases []string
	var losses []float64
	s := must(plan.Solve(t.Context(), p, plan.Options{Groups: 2, Progress: func(e plan.Event) {
		if len(phases) == 0 || phases[len(phases)-1] != e.Phase {
			phases = append(phases, e.Phase)
		}
		if e.Iteration != nil {
			losses = append(losses, e.Iteration.Loss)
		}
		if !(e.Fraction >= 0 && e.Fraction <= 1) || e.Note != "" {
			t.Errorf("%+v", e)
		}
	}}))
	if got := strings.Join(phases,
		", "); got != "Gram matrix, optimum, Gram matrices of the nodes, strategies, baselines" {
		t.Errorf("phases %s", got)
	}
	if len(losses) != len(s.History) || losses[0] != s.History[0].Loss {
		t.Errorf("%d iterations, a history of %d", len(losses), len(s.History))
	}
}

// A search is kept, and goes on where it was.
func TestResume(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(40, 4, 10))}
	path := filepath.Join(t.TempDir(), "ckpt")
	must(plan.Solve(t.Context(), p, plan.Options{NoBaselines: true, Tolerance: 10, Checkpoint: path}))
	var notes []string
	o := plan.Options{NoBaselines: true, Checkpoint: path, Resume: true, Progress: func(e plan.Event) {
		if e.Note != "" {
			notes = append(notes, e.Note)
		}
	}}
	direct := must(plan.Solve(t.Context(), p, plan.Options{NoBaselines: true}))
	if s := must(plan.Solve(t.Context(), p, o)); !scalar.EqualWithinRel(s.Quality.Loss, direct.Quality.Loss, 2e-6) ||
		len(notes) != 1 || !strings.Contains(notes[0], "going on after 0 iterations") {
		t.Errorf("loss %v, want %v; %q", s.Quality.Loss, direct.Quality.Loss, notes)
	}
	p.Workload.Kind = workload.Message
	if _, err := plan.Solve(t.Context(), p, o); err == nil || !strings.Contains(err.Error(), "another problem") {
		t.Errorf("another problem's: %v", err)
	}
}
