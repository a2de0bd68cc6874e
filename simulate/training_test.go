package simulate

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/accounting/bins"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/workload"
)

// rounds returns plain training with k rounds of gossip a step.
func rounds(k int) workload.Spec {
	return workload.Spec{Optimizer: workload.Optimizer{GossipRounds: k}}
}

// drawTraining returns any training of n nodes, plain training as often as not.
func drawTraining(t *rapid.T, steps, n int) workload.Spec {
	s := rounds(rapid.IntRange(1, 3).Draw(t, "K"))
	if rapid.Bool().Draw(t, "plain") {
		return s
	}
	s.LearningRates = rapid.SampledFrom([]workload.Schedule{{}, schedule("cosine"), schedule("step:0.5,2")}).Draw(t, "rates")
	s.WeightDecay = rapid.SampledFrom([]float64{0, 0.9}).Draw(t, "decay")
	switch rapid.IntRange(0, 3).Draw(t, "network") {
	case 1:
		s.NodeFailures, s.LinkFailures = 0.3, 0.2
	case 2:
		s.RandomNeighbours = n / 2
	case 3:
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "sequence"), 1))
		q, err := workload.NewSequence([]*graph.CSR{drawGossip(n, r), drawGossip(n, r)}, "")
		if err != nil {
			t.Fatal(err)
		}
		s.GraphSequence = q
	}
	s.GradientTracking = rapid.Bool().Draw(t, "tracking")
	if !s.GradientTracking {
		s.LocalSteps = rapid.IntRange(1, min(3, steps)).Draw(t, "local steps")
	}
	if s.IsStatic() || !s.GradientTracking {
		s.Momentum = rapid.SampledFrom([]float64{0, 0.8}).Draw(t, "momentum")
		s.Nesterov = s.Momentum > 0 && rapid.Bool().Draw(t, "nesterov")
	}
	s.MissedSteps = rapid.SampledFrom([]float64{0, 0.4}).Draw(t, "missed")
	s.Carry = s.MissedSteps > 0 && rapid.Bool().Draw(t, "carry")
	return s
}

func schedule(name string) workload.Schedule {
	s, err := workload.ParseSchedule(name)
	if err != nil {
		panic(err)
	}
	return s
}

// slowTraining is the recursion as workload.Spec writes it down.
type slowTraining struct {
	Config
	networks        *workload.Networks
	rates           []float64
	x, y, m, before *mat.Dense
}

func newSlowTraining(c Config, start *mat.Dense, seed uint64) *slowTraining {
	networks, err := c.Workload.Networks(c.Gossip, seed)
	if err != nil {
		panic(err)
	}
	rates, err := c.Workload.LearningRates.Rates(c.Schema.Steps())
	if err != nil {
		panic(err)
	}
	n, d := start.Dims()
	zero := func() *mat.Dense { return mat.NewDense(n, d, nil) }
	return &slowTraining{c, networks, rates, start, zero(), zero(), zero()}
}

// average is a step's gossip.
func (s *slowTraining) average(t int, x *mat.Dense) {
	for round := range max(1, s.Workload.GossipRounds) {
		var next mat.Dense
		next.Mul(s.networks.At(t, round).ToDense(), x)
		x.Copy(&next)
	}
}

func (s *slowTraining) step(t int, g *mat.Dense) {
	w, eta := s.Workload, s.LearningRate*s.rates[t]
	direction := mat.DenseCopyOf(g)
	if w.GradientTracking {
		s.average(t, s.x)
		s.average(t, s.y)
		s.y.Add(s.y, g)
		s.y.Sub(s.y, s.before)
		s.before.Copy(g)
		direction.Copy(s.y)
	}
	s.m.Scale(w.Momentum, s.m)
	s.m.Add(s.m, direction)
	u := mat.DenseCopyOf(s.m)
	if w.Nesterov {
		u.Scale(w.Momentum, u)
		u.Add(u, direction)
	}
	s.x.Scale(1-eta*w.WeightDecay, s.x)
	u.Scale(eta, u)
	s.x.Sub(s.x, u)
	if !w.GradientTracking && (t+1)%max(1, w.LocalSteps) == 0 {
		s.average(t, s.x)
	}
}

// slowAbsences are the steps that nodes miss.
func slowAbsences(c Config, n int, seed uint64) [][]bool {
	all := make([][]bool, n)
	for u := range all {
		r := random(seed, forAbsence, uint64(u))
		for range c.Schema.Steps() {
			all[u] = append(all[u], c.Workload.MissedSteps > 0 && r.Float64() < c.Workload.MissedSteps)
		}
	}
	return all
}

// explicit returns the workload by its definition, nT×nT: column (step, i) is what a unit impulse of noise at node i in a
// step makes of all models, times -1.
func explicit(t *rapid.T, networks *workload.Networks, n, steps int, s workload.Spec) *mat.Dense {
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

// What the noise alone makes of the models is the response of the explicit workload to the rows that are sent.
func TestNoiseAloneIsTheResponse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "draws"), 0))
		n, steps, d := rapid.IntRange(1, 4).Draw(t, "n"), rapid.IntRange(1, 6).Draw(t, "T"), 3
		schema := cyclic(t, steps, 1, steps)
		task := LinearTask(100, d-1)
		task.Model = NewLinear(d - 1)
		c := Config{Task: task, Gossip: drawGossip(n, r), Schema: schema, Batches: steps,
			Workload: drawTraining(t, steps, n), LearningRate: 0.3}
		c.Workload.Kind = rapid.SampledFrom([]workload.Kind{workload.Model, workload.Message}).Draw(t, "kind")
		c.Workload.Weights = rapid.SampledFrom([]workload.Weights{{}, workload.LastSteps(1)}).Draw(t, "weights")
		of := drawStrategy(steps, r)
		noise := &Noise{Correlation: correlation(t, n, Shared(of), schema), Mu: 0.5}
		seed := rapid.Uint64().Draw(t, "seed")
		got, err := Run(context.Background(), c, noise, seed)
		if err != nil {
			t.Fatal(err)
		}
		networks, err := c.Workload.Networks(c.Gossip, seed)
		if err != nil {
			t.Fatal(err)
		}
		a := explicit(t, networks, n, steps, c.trained())
		rows, missed := mat.NewDense(n*steps, d, nil), slowAbsences(c, n, seed)
		var lower mat.TriDense
		of.StrategyTo(&lower)
		for u := range n {
			z, from := mat.NewDense(steps, d, nil), random(seed, forNoise, uint64(u))
			z.Apply(func(_, _ int, _ float64) float64 { return from.NormFloat64() }, z)
			var own mat.Dense
			if err := own.Solve(&lower, z); err != nil {
				t.Fatal(err)
			}
			carried := make([]float64, d)
			for step := range steps {
				for i := range d {
					v := own.At(step, i) + carried[i]
					carried[i] = 0
					if missed[u][step] && c.Workload.Carry {
						carried[i] = v
					}
					if !missed[u][step] {
						rows.Set(step*n+u, i, v)
					}
				}
			}
		}
		var response mat.Dense
		response.Mul(a, rows)
		weights, err := c.Workload.Weights.Vector(steps)
		if err != nil {
			t.Fatal(err)
		}
		var want float64
		for at := range n * steps {
			for i := range d {
				want += weights[at/n] * response.At(at, i) * response.At(at, i) / float64(d)
			}
		}
		if got.NoiseError == nil || math.Abs(*got.NoiseError-want) > 1e-4*want+1e-12 {
			t.Fatalf("%v: the noise alone makes %v, must be %v", c.Workload, *got.NoiseError, want)
		}
	})
}

// trainings are all kinds of workloads, of five nodes or more.
func trainings(t *testing.T, w *graph.CSR) map[string]workload.Spec {
	t.Helper()
	alone := mat.NewDense(5, 5, nil)
	for u := range 5 {
		alone.Set(u, u, 1)
	}
	q, err := workload.NewSequence([]*graph.CSR{w, graph.NewCSRFromDense(alone)}, "")
	if err != nil {
		t.Fatal(err)
	}
	of := func(o workload.Optimizer) workload.Spec { return workload.Spec{Optimizer: o} }
	on := func(c workload.Changes) workload.Spec { return workload.Spec{Changes: c} }
	without := func(a workload.Absence) workload.Spec { return workload.Spec{Absence: a} }
	warm := workload.Optimizer{LearningRates: schedule("warmup-cosine:0.2"), WeightDecay: 2}
	late := workload.ListedWeights([]float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 1, 1, 1, 1})
	all := workload.Spec{Kind: workload.Message, Weights: late, Optimizer: warm,
		Changes: workload.Changes{GraphSequence: q, LinkFailures: 0.3}, Absence: workload.Absence{MissedSteps: 0.2, Carry: true}}
	all.Momentum, all.LocalSteps, all.GossipRounds = 0.5, 2, 2
	return map[string]workload.Spec{
		"plain":               {},
		"message":             {Kind: workload.Message},
		"late":                {Weights: late},
		"momentum":            of(workload.Optimizer{Momentum: 0.9}),
		"nesterov":            of(workload.Optimizer{Momentum: 0.8, Nesterov: true}),
		"rates and decay":     of(warm),
		"local steps":         of(workload.Optimizer{LocalSteps: 4}),
		"rounds":              of(workload.Optimizer{GossipRounds: 4}),
		"tracking":            of(workload.Optimizer{GradientTracking: true}),
		"sequence":            on(workload.Changes{GraphSequence: q}),
		"node failures":       on(workload.Changes{NodeFailures: 0.5}),
		"link failures":       on(workload.Changes{LinkFailures: 0.6}),
		"both":                on(workload.Changes{NodeFailures: 0.4, LinkFailures: 0.4}),
		"random neighbours":   on(workload.Changes{RandomNeighbours: 1}),
		"rows lost":           without(workload.Absence{MissedSteps: 0.3}),
		"rows carried":        without(workload.Absence{MissedSteps: 0.3, Carry: true}),
		"most of it together": all,
	}
}

// The Gram matrix predicts the errors that the noise alone makes, within three standard errors, for every kind of
// training; the Gram matrix of plain training does not.
func TestNoiseIsAsPredicted(t *testing.T) {
	n := network(t, graph.NetworkOptions{Source: "path:5"})
	all := trainings(t, n.Gossip.Matrix())
	plain := map[string]float64{} // what is predicted of methods that do not depend on the training
	for _, name := range append([]string{"plain"}, slices.Sorted(maps.Keys(all))...) {
		spec := all[name]
		c := Config{Task: linearTask(t, 100), Schema: cyclic(t, 12, 3, 4), Workload: spec, LearningRate: 0.1, Every: 12}
		on := *n
		if q := spec.GraphSequence; q != nil {
			on.Sequence = &graph.Sequence{Matrices: []*graph.CSR{q.At(0), q.At(1)}, Connected: true}
		}
		methods := []string{"dp-d-sgd", "antipgd", "d-mf", Ignorant, Uncurved, Mafalda}
		by := rows(t, &on, c, StudyOptions{Methods: methods, Mus: []float64{1}, Delta: 1e-6, Seeds: 30})
		told := false
		for _, method := range methods {
			e := by[Cell{Method: method, Mu: 1}].NoiseError
			if d, ok := e.Deviation(); !ok || d > 3 || e.Runs != 30 || e.Off() {
				t.Errorf("%s, %s: %+v, predicted %v ± %v, %.1f standard errors off", name, method, e, *e.Predicted,
					*e.StdErr, d)
			}
			if name == "plain" {
				plain[method] = *e.Predicted
			}
			if method != Uncurved && method != Mafalda && method != "d-mf" && math.Abs(e.Measured-plain[method]) > 3**e.StdErr {
				told = true
			}
		}
		if told != (name != "plain") {
			t.Errorf("%s is told from plain training: %v", name, told)
		}
		mine, others := by[Cell{Method: Uncurved, Mu: 1}], by[Cell{Method: Ignorant, Mu: 1}]
		if *mine.NoiseError.Predicted > *others.NoiseError.Predicted*(1+1e-4) {
			t.Errorf("%s: the optimum's error is %v, that for plain training %v", name, *mine.NoiseError.Predicted,
				*others.NoiseError.Predicted)
		}
	}
}

// Few runs say little about their own standard error.
func TestNoiseErrorOff(t *testing.T) {
	error, predicted := 1.0, 4.5
	for runs, off := range map[int]bool{2: false, 5: false, 1000: true} {
		if e := (NoiseError{Measured: 1, StdErr: &error, Predicted: &predicted, Runs: runs}); e.Off() != off {
			t.Errorf("3.5 standard errors of %d runs: %v", runs, e.Off())
		}
	}
	if e := (&NoiseError{Measured: 1, StdErr: &error, Runs: 9}); e.Off() {
		t.Error("off from nothing")
	}
}

// Predictions are of any noise: for batches drawn in secret, and of strategies of single nodes.
func TestNoiseOfOtherKindsIsAsPredicted(t *testing.T) {
	n, schema := network(t, graph.NetworkOptions{Source: "path:5"}), cyclic(t, 12, 3, 4)
	spec := workload.Spec{Absence: workload.Absence{MissedSteps: 0.3, Carry: true}}
	spec.Momentum = 0.5
	secret := []string{"dp-d-sgd", Mafalda}
	for name, o := range map[string]StudyOptions{
		"poisson": {Methods: secret, Epsilons: []float64{2}, Sampling: participation.Poisson},
		"bins": {Methods: secret, Epsilons: []float64{2}, Sampling: participation.Bins,
			MonteCarlo: bins.MonteCarlo{Samples: 1 << 12}},
		"per node": {Methods: []string{writeNodeStrategies(t, n, schema)}, Mus: []float64{1}},
	} {
		o.Delta, o.Seeds = 1e-3, 30
		c := Config{Task: linearTask(t, 100), Schema: schema, Workload: spec, LearningRate: 0.1, Every: 12}
		s, err := NewStudy(n, c, o)
		if err != nil {
			t.Fatal(err)
		}
		var runs []Result
		for _, cell := range s.Cells() {
			r, err := s.Do(t.Context(), cell)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			runs = append(runs, r)
		}
		all, err := NewGrid(s.Cells(), runs).Rows(o.Delta)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			if d, ok := r.NoiseError.Deviation(); !ok || d > 3 {
				t.Errorf("%s, %s: %+v, predicted %v, %.1f standard errors off", name, r.Method, r.NoiseError,
					*r.NoiseError.Predicted, d)
			}
		}
	}
}
