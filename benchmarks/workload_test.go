package benchmarks

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"mafalda/graph"
	"mafalda/internal/limits"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/study"
	"mafalda/workload"
)

func builtin(t *testing.T, source string) *graph.Network {
	t.Helper()
	n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: source})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func cyclic(t *testing.T, steps, k int) participation.Cyclic {
	t.Helper()
	s, err := participation.NewCyclic(steps, k, steps/k)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// explicitly returns the Gram matrix of a workload by its definition.
func explicitly(t *testing.T, n *graph.Network, s workload.Spec, steps int) *mat.SymDense {
	t.Helper()
	var networks *workload.Networks
	nodes := 1
	if s.Kind != workload.Prefix {
		var err error
		if networks, err = s.Networks(n.Gossip.Matrix(), 0); err != nil {
			t.Fatal(err)
		}
		nodes = n.Graph.Nodes()
	}
	h := mat.NewSymDense(steps, nil)
	for _, own := range explicitGrams(t, networks, nodes, steps, s) {
		h.AddSym(h, own)
	}
	return withAbsences(s.Absence, h)
}

// explicit returns the workload by its definition, nT×nT: column (step, i) is what a unit impulse of noise at node i in a
// step makes of all models, times -1.
func explicit(t testing.TB, networks *workload.Networks, n, steps int, s workload.Spec) *mat.Dense {
	t.Helper()
	size := n * steps
	state, err := workload.NewState[float64](s, steps, n, size, 1)
	if err != nil {
		t.Fatal(err)
	}
	a := mat.NewDense(size, size, nil)
	for step := range steps {
		impulses := mat.NewDense(n, size, nil)
		for i := range n {
			impulses.Set(i, step*n+i, 1)
		}
		state.Step(impulses.RawMatrix().Data, networks, func(models []float64) {
			a.Slice(step*n, (step+1)*n, 0, size).(*mat.Dense).Scale(-1, mat.NewDense(n, size, models))
		})
	}
	return a
}

// explicitGrams returns the H_i of all nodes by their definition, without absences.
func explicitGrams(t testing.TB, networks *workload.Networks, n, steps int, s workload.Spec) []*mat.SymDense {
	t.Helper()
	a := explicit(t, networks, n, steps, s)
	weights, err := s.Weights.Vector(steps)
	if err != nil {
		t.Fatal(err)
	}
	a.Apply(func(r, _ int, v float64) float64 { return v * math.Sqrt(weights[r/n]) }, a)
	grams := make([]*mat.SymDense, n)
	for i := range grams {
		own := mat.NewDense(n*steps, steps, nil)
		for step := range steps {
			own.SetCol(step, mat.Col(nil, step*n+i, a))
		}
		grams[i] = mat.NewSymDense(steps, nil)
		grams[i].SymOuterK(1, own.T())
	}
	return grams
}

// withAbsences returns E[MᵀHM] over all ways to be absent: M[t,s] = 1 if row s of the noise is sent in step t.
func withAbsences(a workload.Absence, h *mat.SymDense) *mat.SymDense {
	if a.MissedSteps == 0 {
		return h
	}
	steps := h.SymmetricDim()
	var sum mat.Dense
	sum.CloneFrom(mat.NewDense(steps, steps, nil))
	for missed := range 1 << steps { // bit t: step t is missed
		sent := mat.NewDense(steps, steps, nil)
		probability := 1.0
		next := -1 // the first step from t on that is not missed
		for t := steps - 1; t >= 0; t-- {
			if missed>>t&1 == 1 {
				probability *= a.MissedSteps
			} else {
				probability *= 1 - a.MissedSteps
				next = t
			}
			if next == t || a.Carry && next >= 0 {
				sent.Set(next, t, 1)
			}
		}
		var all mat.Dense
		all.Product(sent.T(), h, sent)
		all.Scale(probability, &all)
		sum.Add(&sum, &all)
	}
	out := mat.NewSymDense(steps, nil)
	for i := range steps {
		for j := i; j < steps; j++ {
			out.SetSym(i, j, sum.At(i, j))
		}
	}
	return out
}

// generic minimizes tr(C⁻ᵀHC⁻¹) over triangular C with columns of norm one, whose sensitivity is one where a record
// takes part once, by a method that knows nothing of the problem.
func generic(t *testing.T, h *mat.SymDense) *mat.TriDense {
	t.Helper()
	steps := h.SymmetricDim()
	of := func(x []float64) *mat.TriDense {
		c := mat.NewTriDense(steps, mat.Lower, nil)
		for j, at := 0, 0; j < steps; j++ {
			column := mat.NewVecDense(steps-j, nil)
			for i := j; i < steps; i++ {
				v := x[at]
				if i == j {
					v = math.Exp(v)
				}
				column.SetVec(i-j, v)
				at++
			}
			column.ScaleVec(1/mat.Norm(column, 2), column)
			for i := j; i < steps; i++ {
				c.SetTri(i, j, column.AtVec(i-j))
			}
		}
		return c
	}
	loss := func(x []float64) float64 { return math.Log(squaredError(of(x), h)) }
	r, err := optimize.Minimize(optimize.Problem{Func: loss, Grad: func(grad, x []float64) {
		fd.Gradient(grad, loss, x, &fd.Settings{Formula: fd.Central})
	}}, make([]float64, steps*(steps+1)/2), &optimize.Settings{GradientThreshold: 1e-7, MajorIterations: 500},
		&optimize.BFGS{})
	if r == nil {
		t.Fatal(err) // others are about the last digits
	}
	return of(r.X)
}

func squaredError(c *mat.TriDense, h *mat.SymDense) float64 {
	var inverse mat.TriDense
	if err := inverse.InverseTri(c); err != nil {
		return math.Inf(1)
	}
	var left, all mat.Dense
	left.Mul(inverse.T(), h)
	all.Mul(&left, &inverse)
	return mat.Trace(&all)
}

// Rows agree with Gram matrices by their definition, and strategies by a generic optimizer.
func TestWorkloadRowsAreTheirDefinition(t *testing.T) {
	const steps = 8
	n, schema := builtin(t, "path:3"), cyclic(t, steps, 1)
	lines, leftOut, err := Workloads(n, steps, 0)
	if err != nil || len(leftOut) != 0 || lines[0].Name != "plain" {
		t.Fatalf("%v, %v, %v", lines, leftOut, err)
	}
	plain := generic(t, explicitly(t, n, workload.Spec{}, steps))
	central := map[string]*mat.TriDense{}
	for _, l := range lines {
		r, err := compareWorkload(t.Context(), Cell{Workload: l.Name}, plan.Problem{Network: n, Workload: l.Spec, Schema: schema})
		if err != nil {
			t.Fatalf("%s: %v", l.Name, err)
		}
		if r.Loss < r.LowerBound || r.PlainLoss < r.LowerBound || r.Gap > 1e-2 ||
			math.Abs(r.PlainExcess-(r.PlainLoss/r.Loss-1)) > 1e-12 {
			t.Errorf("%+v", r)
		}
		if l.Spec.CountsAll() && r.CentralizedLoss < r.LowerBound || !l.Spec.CountsAll() && r.CentralizedLoss != 0 {
			t.Errorf("%s: a centralized loss of %v", l.Name, r.CentralizedLoss)
		}
		if !l.Spec.CountsAll() && r.Gap > 1e-2 || l.Spec.CountsAll() && r.Gap > 1e-6 {
			t.Errorf("%s: gap %v", l.Name, r.Gap)
		}
		if l.Spec.NodeFailures > 0 || l.Spec.LinkFailures > 0 || l.Spec.RandomNeighbours > 0 {
			continue // expectations, which the definition has no closed form of
		}
		h := explicitly(t, n, l.Spec, steps)
		knows := l.Spec.Centralized()
		if central[knows.String()] == nil {
			central[knows.String()] = generic(t, explicitly(t, nil, knows, steps))
		}
		near := 1e-4
		if !l.Spec.CountsAll() {
			near = 0.05 // the noise of most steps costs nearly nothing, and strategies hardly matter there
		}
		for what, pair := range map[string][2]float64{
			"optimum": {r.Loss, squaredError(generic(t, h), h)},
			"plain":   {r.PlainLoss, squaredError(plain, h)},
			"central": {r.CentralizedLoss, squaredError(central[knows.String()], h)},
		} {
			if what == "central" && !l.Spec.CountsAll() {
				continue // there is none
			}
			if math.Abs(pair[0]/pair[1]-1) > near {
				t.Errorf("%s, %s: %v, by the definition %v", l.Name, what, pair[0], pair[1])
			}
		}
	}
}

// What a numpy prototype found for the strategy that ignores the optimizer (florentine, T = 64, k = 4), in percent. It
// took cosine rates at the middle of each step, and it took both, cosine and momentum, without warming up.
func TestExcessOfPrototype(t *testing.T) {
	const steps = 64
	n, schema := builtin(t, "florentine"), cyclic(t, steps, 4)
	middles := func(warm int) workload.Schedule {
		rates := make([]float64, steps)
		for i := range rates {
			rates[i] = (1 + math.Cos(math.Pi*(float64(i)+0.5)/steps)) / 2 * math.Min(1, float64(i+1)/float64(warm))
		}
		return workload.ListedRates(rates)
	}
	for name, tc := range map[string]struct {
		spec        workload.Spec
		least, most float64
	}{
		"cosine":   {workload.Spec{Optimizer: workload.Optimizer{LearningRates: middles(1)}}, 39, 39},
		"warm-up":  {workload.Spec{Optimizer: workload.Optimizer{LearningRates: middles(6)}}, 57, 57},
		"momentum": {workload.Spec{Optimizer: workload.Optimizer{Momentum: 0.9}}, 46, 46},
		"both":     {workload.Spec{Optimizer: workload.Optimizer{Momentum: 0.9, LearningRates: middles(1)}}, 96, 96},
		"tracking": {workload.Spec{Optimizer: workload.Optimizer{GradientTracking: true}}, 53, 53},
		"local":    {workload.Spec{Optimizer: workload.Optimizer{LocalSteps: 8}}, 13, 13},
		"failures": {workload.Spec{Changes: workload.Changes{NodeFailures: 0.1}}, 1, 3},
	} {
		r, err := compareWorkload(t.Context(), Cell{Workload: name}, plan.Problem{Network: n, Workload: tc.spec, Schema: schema})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := math.Round(100 * r.PlainExcess); got < tc.least || got > tc.most {
			t.Errorf("%s: %.2f %%", name, 100*r.PlainExcess)
		}
	}
}

// A study measures the cells of its networks, from JSON too, and keeps rows of others behind its own.
func TestWorkloadStudy(t *testing.T) {
	networks := []*graph.Network{builtin(t, "complete:3"), builtin(t, "cycle:5"), builtin(t, "cycle:5")}
	s, err := NewWorkloadStudy(networks, []participation.Cyclic{cyclic(t, 8, 2)}, graph.NetworkOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cells := s.Cells()
	if len(cells) != 34 || len(s.LeftOut) != 0 {
		t.Fatalf("%d cells, %v", len(cells), s.LeftOut)
	}
	entries := []study.Entry[Cell, Row]{{Cell: Cell{Graph: "another"},
		Result: Row{Graph: "another", Spec: new(workload.Spec)}}}
	for _, c := range slices.Backward(cells) {
		if c.Graph == "complete:3" && c.Workload != "plain" {
			continue
		}
		text, _ := json.Marshal(c)
		var sent Cell
		if err := json.Unmarshal(text, &sent); err != nil {
			t.Fatal(err)
		}
		r, err := s.Do(t.Context(), sent)
		if err != nil || r.Workload != c.Workload || r.Graph != c.Graph || r.K != 2 || r.B != 4 {
			t.Fatalf("%+v, %v", r, err)
		}
		entries = append(entries, study.Entry[Cell, Row]{Cell: c, Result: r})
	}
	rows := s.Rows(entries)
	if len(rows) != 19 || rows[0].Graph != "complete:3" || math.Abs(rows[0].CentralizedExcess) > 1e-6 ||
		rows[0].PlainExcess != 0 || rows[2].Workload != "cosine" || rows[18].Graph != "another" {
		t.Errorf("%d rows: %+v", len(rows), rows[0])
	}
	files, err := s.Files(entries)
	if err != nil || len(files) != 4 || len(s.Spec().Summaries) != 4 {
		t.Fatalf("%v, %v", files, err)
	}
	for i, f := range files {
		var text strings.Builder
		if err := f.Write(&text); err != nil || f.Name != s.Spec().Summaries[i] {
			t.Errorf("%s: %v", f.Name, err)
		}
		if f.Name == "workloads.csv" && (strings.Count(text.String(), "\n") != 20 ||
			!strings.Contains(text.String(), "centralized_excess")) {
			t.Error(text.String())
		}
	}
	other := cells[0]
	other.Digest = "other"
	if _, err := s.Do(t.Context(), other); err == nil {
		t.Error("a cell of another network is measured")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	again, err := NewWorkloadStudy(networks, []participation.Cyclic{cyclic(t, 8, 2)}, graph.NetworkOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells[:4] {
		if _, err := again.Do(ctx, c); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", c.Workload, err)
		}
	}
}

// Too few steps and too many are refused; what a network has no nodes or no exact Gram matrix for is left out by name.
func TestWorkloadsLeftOut(t *testing.T) {
	if _, err := NewWorkloadStudy([]*graph.Network{builtin(t, "cycle:5")}, []participation.Cyclic{cyclic(t, 6, 2)},
		graph.NetworkOptions{}); err == nil || !strings.Contains(err.Error(), "8 local steps") {
		t.Errorf("6 steps: %v", err)
	}
	if _, err := NewWorkloadStudy([]*graph.Network{builtin(t, "cycle:5")}, []participation.Cyclic{cyclic(t, 1e8, 1)}, graph.NetworkOptions{}); !errors.Is(err, limits.ErrMemory) {
		t.Errorf("T = 1e8: %v", err)
	}
	uneven, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: "star:5", Scheme: graph.Metropolis})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		n    *graph.Network
		want []string
	}{{uneven, []string{"nodes fail 0.1", "links fail 0.1"}}, {builtin(t, "path:2"), []string{"2 random neighbours"}}} {
		lines, leftOut, err := Workloads(tc.n, 8, 0)
		if err != nil || len(leftOut) != len(tc.want) || len(lines)+len(leftOut) != 17 {
			t.Fatalf("%v, %v, %v", lines, leftOut, err)
		}
		for i, name := range tc.want {
			if !strings.HasPrefix(leftOut[i], name+" is left out") {
				t.Errorf("%s, want %s", leftOut[i], name)
			}
		}
	}
}

func TestWorkloadSuite(t *testing.T) {
	graphs, schemas := WorkloadSuite()
	for _, source := range graphs {
		if _, known, err := graph.ByName(source, graph.BuiltinOptions{}); !known || err != nil {
			t.Errorf("%s: %v", source, err)
		}
	}
	if len(schemas) != 1 || schemas[0].Steps() != 128 {
		t.Errorf("%v", schemas)
	}
}
