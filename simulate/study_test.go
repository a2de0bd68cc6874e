package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

func network(t *testing.T, o graph.NetworkOptions) *graph.Network {
	t.Helper()
	n, err := graph.LoadNetwork(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func linearTask(t *testing.T, records int) Task {
	t.Helper()
	task, err := LoadTask(TaskOptions{Name: "linear", Records: records})
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// rows returns the rows of a study by method and level.
func rows(t *testing.T, n *graph.Network, c Config, o StudyOptions) map[Cell]Row {
	t.Helper()
	s, err := NewStudy(n, c, o)
	if err != nil {
		t.Fatal(err)
	}
	cells := s.Cells()
	runs := make([]Result, len(cells))
	for i, cell := range cells {
		if runs[i], err = s.Do(t.Context(), cell); err != nil {
			t.Fatal(err)
		}
	}
	all, err := NewGrid(cells, runs).Rows(o.Delta)
	if err != nil {
		t.Fatal(err)
	}
	by := map[Cell]Row{}
	for _, r := range all {
		c := Cell{Method: r.Method}
		if r.Mu != nil {
			c.Mu = *r.Mu
		}
		by[c] = r
	}
	return by
}

func near(a, b, relative float64) bool { return math.Abs(a-b) <= relative*math.Abs(b) }

// MAFALDA is below D-MF, D-MF below DP-D-SGD, and all above no noise, where there is privacy worth the name.
func TestStudyOrder(t *testing.T) {
	const mu = 0.3
	seeds := 8
	if testing.Short() {
		seeds = 2
	}
	c := Config{Task: linearTask(t, 0), Schema: cyclic(t, 160, 10, 16)}
	by := rows(t, network(t, graph.NetworkOptions{Source: "florentine"}), c,
		StudyOptions{Methods: MethodsFor(participation.InTurn, workload.Spec{}), Mus: []float64{mu}, Delta: 1e-6, Seeds: seeds})
	none, best := by[Cell{Method: None}], by[Cell{Method: Mafalda, Mu: mu}]
	dmf, plain := by[Cell{Method: "d-mf", Mu: mu}], by[Cell{Method: "dp-d-sgd", Mu: mu}]
	if len(by) != 6 || !(*none.Mean < *best.Mean && *best.Mean < *dmf.Mean && *dmf.Mean < *plain.Mean) {
		t.Errorf("%+v", by)
	}
	if none.Mu != nil || none.Epsilon != nil || none.Excess != nil || dmf.Improvement != nil ||
		best.Improvement.Over != "d-mf" || best.Seeds != seeds {
		t.Errorf("%+v\n%+v\n%+v", none, dmf, best)
	}
	want := 100 * (*dmf.Mean - *best.Mean) / *dmf.Mean
	if !near(best.Improvement.Percent, want, 1e-9) || !near(best.Excess.Difference, *best.Mean-*none.Mean, 1e-9) {
		t.Errorf("%+v, must be %v %%", best.Improvement, want)
	}
}

// The strategy's workload has the run's gossip rounds: with enough of them the network is a complete graph.
func TestStudyRounds(t *testing.T) {
	mean := func(source string, k int) float64 {
		c := Config{Task: linearTask(t, 200), Schema: cyclic(t, 12, 3, 4), Workload: rounds(k)}
		o := StudyOptions{Methods: []string{Mafalda}, Mus: []float64{1}, Delta: 1e-6, Seeds: 2}
		return *rows(t, network(t, graph.NetworkOptions{Source: source}), c, o)[Cell{Method: Mafalda, Mu: 1}].Mean
	}
	many, complete, once := mean("cycle:4", 40), mean("complete:4", 1), mean("cycle:4", 1)
	if !near(many, complete, 1e-4) || math.Abs(once-complete) < 1e-4 {
		t.Errorf("40 rounds %v, complete graph %v, one round %v", many, complete, once)
	}
}

// Cells can be computed from their JSON, several at a time, and their results survive JSON, diverged ones too.
func TestCellsArePlainData(t *testing.T) {
	c := Config{Task: linearTask(t, 200), Schema: cyclic(t, 12, 3, 4)}
	o := StudyOptions{Methods: []string{None, "d-mf", Mafalda}, Mus: []float64{1, 1e-41}, Delta: 1e-6, Seeds: 1}
	n := network(t, graph.NetworkOptions{Source: "cycle:4"})
	one, err := NewStudy(n, c, o)
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewStudy(n, c, o)
	if err != nil || !reflect.DeepEqual(one.Spec().Inputs, other.Spec().Inputs) {
		t.Fatalf("%v, %v, %v", err, one.Spec(), other.Spec())
	}
	var together sync.WaitGroup
	for _, cell := range one.Cells() {
		together.Go(func() {
			mine, err := one.Do(t.Context(), cell)
			if err != nil {
				t.Error(err)
				return
			}
			text, _ := json.Marshal(cell)
			var sent Cell
			if err := json.Unmarshal(text, &sent); err != nil {
				t.Error(err)
			}
			theirs, err := other.Do(t.Context(), sent)
			if theirs.Seconds = mine.Seconds; err != nil || !reflect.DeepEqual(mine, theirs) {
				t.Errorf("%s: %+v and %+v, %v", text, mine, theirs, err)
			}
			if text, err = json.Marshal(mine); err != nil || (mine.Diverged > 0) != (cell.Mu == 1e-41) {
				t.Errorf("%+v: diverged at %d, %v", cell, mine.Diverged, err)
			}
			var back Result
			if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, mine) {
				t.Errorf("%+v came back as %+v, %v", mine, back, err)
			}
		})
	}
	together.Wait()
	if _, err := one.Do(t.Context(), Cell{Method: "antipgd", Mu: 1}); err == nil {
		t.Error("a cell of another study was computed")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := one.Do(ended, one.Cells()[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestStudyOptionsCheck(t *testing.T) {
	good := StudyOptions{Methods: []string{None}, Mus: []float64{1}, Delta: 1e-6, Seeds: 1}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for field, change := range map[string]func(o *StudyOptions){
		"Seeds":    func(o *StudyOptions) { o.Seeds = 0 },
		"Delta":    func(o *StudyOptions) { o.Delta = math.NaN() },
		"Methods":  func(o *StudyOptions) { o.Methods = nil },
		"Mus":      func(o *StudyOptions) { o.Mus = []float64{1, math.Inf(1)} },
		"Epsilons": func(o *StudyOptions) { o.Epsilons = []float64{-1} },
	} {
		o := good
		change(&o)
		var a *fault.Argument
		if err := o.Check(); !errors.As(err, &a) || a.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	good.Methods = []string{"dpsgd"}
	if err := good.Check(); err == nil || !strings.Contains(err.Error(), "nor a folder") {
		t.Errorf("an unknown method: %v", err)
	}
}

// Levels are asked for as μ or as ε, in any order and as often as one likes.
func TestStudyLevels(t *testing.T) {
	o := StudyOptions{Mus: []float64{2, 0.5, 2}, Epsilons: []float64{8}, Delta: 1e-6}
	levels, err := o.levels()
	if err != nil || len(levels) != 3 || levels[0] != 0.5 || levels[2] != 2 || !near(levels[1], 1.531545, 1e-6) {
		t.Errorf("%v, %v", levels, err)
	}
}

func TestLoadTask(t *testing.T) {
	for name, tc := range map[string]struct {
		o     TaskOptions
		field string // field that the fault names; empty: no fault
	}{
		"default":      {TaskOptions{Name: "logistic"}, ""},
		"unknown":      {TaskOptions{Name: "cifar"}, "Name"},
		"data of none": {TaskOptions{Name: "linear", Data: "x"}, "Data"},
		"records":      {TaskOptions{Name: "housing", Records: 20}, "Records"},
		"few":          {TaskOptions{Name: "linear", Records: 9}, "Records"},
	} {
		task, err := LoadTask(tc.o)
		var a *fault.Argument
		good, named := err == nil && task.Data == "4000", errors.As(err, &a) && a.Field == tc.field
		if tc.field == "" && !good || tc.field != "" && !named {
			t.Errorf("%s: %+v, %v", name, task, err)
		}
	}
	a, b := LinearTask(20, 2), LinearTask(21, 2)
	if a.digest() != LinearTask(20, 2).digest() || a.digest() == b.digest() {
		t.Error("digests do not follow the data")
	}
}

// writeNodeStrategies writes an export whose nodes have strategies of their own: node i's has i+1 on its diagonal.
func writeNodeStrategies(t *testing.T, n *graph.Network, s participation.Cyclic) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "nodes")
	steps, nodes := s.Steps(), n.Graph.Nodes()
	layer := func(power int) func(int) (mat.Matrix, error) {
		return func(i int) (mat.Matrix, error) {
			c := mat.NewTriDense(steps, mat.Lower, nil)
			for at := range steps {
				c.SetTri(at, at, math.Pow(float64(i+1), float64(power)))
			}
			return c, nil
		}
	}
	p := &export.PerNode{Distinct: nodes, Losses: make([]float64, nodes)}
	lines := "index,label,degree\n"
	for i := range nodes {
		p.Layers = append(p.Layers, i)
		text, _ := json.Marshal(i)
		degree, _ := json.Marshal(n.Graph.Degree(i))
		lines += string(text) + "," + n.Graph.Label(i) + "," + string(degree) + "\n"
	}
	m := &export.Manifest{Version: "test", Workload: "model", WorkloadSpec: new(workload.Spec), Steps: steps, Graph: &n.Origin, PerNode: p,
		Participation: export.Participation{Schema: "cyclic", K: s.Participations(), B: s.Separation()},
		Strategy:      export.Strategy{Parameters: strategy.Parameters{Class: "dense"}}, SensSquared: 1, SensKind: "exact",
		SquaredError: 2, Loss: 2, RMSE: 1, LowerBound: 1.9, Gap: 0.1, Tolerance: 0.1, Status: "converged"}
	files := []export.File{export.NPYStack("C.npy", nodes, steps, layer(1)),
		export.NPYStack("C_inv.npy", nodes, steps, layer(-1)), export.Bytes("nodes.csv", []byte(lines))}
	if err := export.WriteDir(dir, m, files, export.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Exports of strategies of single nodes are for one network, and one number of steps.
func TestExportsOfNodes(t *testing.T) {
	at := network(t, graph.NetworkOptions{Source: "path:5"})
	schema := cyclic(t, 12, 3, 4)
	dir := writeNodeStrategies(t, at, schema)
	o := StudyOptions{Methods: []string{dir}, Mus: []float64{1}, Delta: 1e-6, Seeds: 1}
	try := func(n *graph.Network, steps int) error {
		s, err := NewStudy(n, Config{Task: linearTask(t, 200), Schema: cyclic(t, steps, 3, steps/3)}, o)
		if err == nil && len(s.Notes()) > 0 {
			t.Errorf("%q", s.Notes())
		}
		return err
	}
	if err := try(at, 12); err != nil {
		t.Error(err)
	}
	var steps *StepsError
	if err := try(at, 15); !errors.As(err, &steps) || steps.Steps != 12 || !errors.Is(err, participation.ErrViolated) {
		t.Errorf("of other steps: %v", err)
	}
	for _, source := range []string{"star:5", "path:4"} {
		if err := try(network(t, graph.NetworkOptions{Source: source}), 12); !errors.Is(err, export.ErrOtherNetwork) {
			t.Errorf("on %s: %v", source, err)
		}
	}
}
