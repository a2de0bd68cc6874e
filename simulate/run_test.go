package simulate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/accounting"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

func cyclic(t interface{ Fatal(...any) }, steps, k, b int) participation.Cyclic {
	s, err := participation.NewCyclic(steps, k, b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func correlation(t interface{ Fatal(...any) }, nodes int, of func(int) strategy.Strategy, s participation.Schema) *Correlation {
	c, err := NewCorrelation(nodes, of, s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// drawStrategy returns a random lower-triangular strategy.
func drawStrategy(steps int, r *rand.Rand) strategy.Strategy {
	m := mat.NewDense(steps, steps, nil)
	for t := range steps {
		for s := range t {
			m.Set(t, s, 0.5*r.NormFloat64())
		}
		m.Set(t, t, 0.5+r.Float64())
	}
	c, err := strategy.NewDense(m)
	if err != nil {
		panic(err)
	}
	return c
}

// drawGossip returns a random row-stochastic matrix.
func drawGossip(n int, r *rand.Rand) *graph.CSR {
	m := mat.NewDense(n, n, nil)
	for u := range n {
		m.Set(u, u, 0.1)
		for v := range n {
			if r.IntN(2) == 0 {
				m.Set(u, v, m.At(u, v)+r.Float64())
			}
		}
		row := m.RawRowView(u)
		var sum float64
		for _, v := range row {
			sum += v
		}
		for v := range row {
			row[v] /= sum
		}
	}
	return graph.NewCSRFromDense(m)
}

// visits are the batches of nodes, with what their sums are divided by.
type visits struct {
	visit func(u, t int) (batch Dataset, size float64)
	least func(u int) float64 // size
}

// slowVisits visits equal batches in turn, or draws them and divides by what is expected.
func slowVisits(c Config, train Dataset, n int, seed uint64) visits {
	if c.Sampling == nil {
		s, err := deal(train, n, c.Batches, random(seed, forShards, 0))
		if err != nil {
			panic(err)
		}
		return visits{func(u, t int) (Dataset, float64) {
			batch := s.data.Slice(s.batch(u, t%c.Batches))
			return batch, float64(batch.Len())
		}, s.divisor}
	}
	s, err := deal(train, n, 1, random(seed, forShards, 0))
	if err != nil {
		panic(err)
	}
	of := func(u int) (Dataset, participation.Sampler) {
		records := s.data.Slice(s.batch(u, 0))
		drawn, err := c.Sampling.Sampler(participation.SamplerOptions{Records: records.Len(), Steps: c.Schema.Steps(),
			Key: participation.SeededKey(seed, strconv.Itoa(u))})
		if err != nil {
			panic(err)
		}
		return records, drawn
	}
	size := func(u int) float64 {
		records := s.divisor(u)
		switch s := c.Sampling.(type) {
		case participation.PoissonSampling:
			return records / float64(s.Groups) * s.Probability
		case participation.BinsSampling:
			return records / float64(s.Bins)
		}
		panic("another sampling")
	}
	return visits{func(u, t int) (Dataset, float64) {
		records, drawn := of(u)
		return records.Pick(drawn.Batch(t)), size(u)
	}, size}
}

// slowRun is Algorithm 1 line by line, in float64, with the same shards, start and normal numbers. strategies is nil for no
// noise.
func slowRun(c Config, m twins, strategies []strategy.Strategy, noise *Noise, seed uint64) []float64 {
	n, _ := c.Gossip.Dims()
	steps, d := c.Schema.Steps(), c.Task.Model.Size()
	train, test := c.Task.Split(seed)
	s := slowVisits(c, train, n, seed)
	start := make([]float32, d)
	c.Task.Model.Init(start, random(seed, forStart, 0))
	theta, noises := mat.NewDense(n, d, nil), make([]*mat.Dense, n)
	for u := range n {
		theta.SetRow(u, widen(start))
		if noise == nil {
			continue
		}
		sens, err := strategy.Sensitivity(strategies[u], noise.Correlation.schema)
		if err != nil {
			panic(err)
		}
		std := noise.Adjacency.Contribution(c.Clip) * math.Sqrt(sens.Squared) / noise.Mu / s.least(u)
		if c.Sampling != nil {
			std = noise.Multiplier * c.Clip * math.Sqrt(sens.Squared) / s.least(u)
		}
		z, r := mat.NewDense(steps, d, nil), random(seed, forNoise, uint64(u))
		for t := range steps {
			for i := range d {
				z.Set(t, i, std*r.NormFloat64())
			}
		}
		var lower mat.TriDense
		strategies[u].StrategyTo(&lower)
		noises[u] = &mat.Dense{}
		if err := noises[u].Solve(&lower, z); err != nil {
			panic(err)
		}
	}
	slow, missed := newSlowTraining(c, theta, seed), slowAbsences(c, n, seed)
	var losses []float64
	for t := range steps {
		gradients := mat.NewDense(n, d, nil)
		for u := range n {
			if missed[u][t] {
				if noise != nil && c.Workload.Carry && t+1 < steps {
					next := noises[u].RawRowView(t + 1)
					floats.Add(next, noises[u].RawRowView(t))
				}
				continue
			}
			batch, size := s.visit(u, t)
			g, _ := m.slow.clippedSum(mat.Row(nil, u, slow.x), batch, c.Clip)
			for i := range d {
				v := g[i] / size
				if noise != nil {
					v += noises[u].At(t, i)
				}
				gradients.Set(u, i, v)
			}
		}
		slow.step(t, gradients)
		var sum float64
		for u := range n {
			sum += m.slow.loss(mat.Row(nil, u, slow.x), test)
		}
		losses = append(losses, sum/float64(n))
	}
	return losses
}

// A run is Algorithm 1, with and without noise, shared and per-node strategies, batches of different sizes, and with all
// that can be trained.
func TestRunIsAlgorithm1(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "draws"), 0))
		m := drawTwins(t)
		if m.fast.rectified {
			m = twins{NewLinear(2), slowLinear(2, 1, false), 0} // differences at kinks are no derivatives
		}
		n, k, b := rapid.IntRange(1, 4).Draw(t, "n"), rapid.IntRange(1, 3).Draw(t, "k"), rapid.IntRange(1, 3).Draw(t, "b")
		schema := cyclic(t, k*b, k, b)
		train, test := m.data(n*b+rapid.IntRange(0, 2*n*b).Draw(t, "more"), r), m.data(5, r)
		c := Config{Task: Task{Model: m.fast, Split: func(uint64) (Dataset, Dataset) { return train, test }}, Gossip: drawGossip(n, r), Schema: schema,
			Batches: b, Workload: drawTraining(t, k*b, n), LearningRate: 0.1, Clip: 0.5, TestRows: -1, Every: 1}
		var noise *Noise
		strategies := make([]strategy.Strategy, n)
		if rapid.Bool().Draw(t, "noise") {
			shared := drawStrategy(k*b, r)
			perNode := rapid.Bool().Draw(t, "per node")
			for u := range strategies {
				if strategies[u] = shared; perNode {
					strategies[u] = drawStrategy(k*b, r)
				}
			}
			noise = &Noise{correlation(t, n, func(u int) strategy.Strategy { return strategies[u] }, schema), accounting.Adjacency(r.IntN(2)), 3, 0}
		}
		seed := rapid.Uint64().Draw(t, "seed")
		got, err := Run(context.Background(), c, noise, seed)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range slowRun(c, m, strategies, noise, seed) {
			if got.Steps[i] != i+1 || math.Abs(got.Losses[i]-want) > 2e-4*(1+want) {
				t.Fatalf("loss after %d steps is %v, must be %v", got.Steps[i], got.Losses[i], want)
			}
		}
	})
}

func TestDealGivesEveryRecordOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, b := rapid.IntRange(1, 6).Draw(t, "n"), rapid.IntRange(1, 6).Draw(t, "b")
		records := rapid.IntRange(0, 120).Draw(t, "records")
		train := Dataset{1, make([]float32, records), make([]float32, records)}
		for i := range records {
			train.Inputs[i], train.Targets[i] = float32(i), float32(-i)
		}
		s, err := deal(train, n, b, random(rapid.Uint64().Draw(t, "seed"), forShards, 0))
		if records < n*b {
			if !errors.Is(err, ErrData) {
				t.Fatalf("%d records for %d×%d batches: %v", records, n, b, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		seen := make([]bool, records)
		for u := range n {
			least, most := records, 0
			for i := range b {
				from, to := s.batch(u, i)
				least, most = min(least, to-from), max(most, to-from)
				for row := from; row < to; row++ {
					id := int(s.data.Inputs[row])
					if seen[id] || s.data.Targets[row] != float32(-id) {
						t.Fatalf("record %d twice, or with the target of another", id)
					}
					seen[id] = true
				}
			}
			if float64(least) != s.divisor(u) || most-least > 1 || least < 1 {
				t.Fatalf("batches of node %d from %d to %d, smallest %v", u, least, most, s.divisor(u))
			}
		}
		for id, ok := range seen {
			if !ok {
				t.Fatalf("record %d is nobody's", id)
			}
		}
	})
}

// florentine is a small run that takes milliseconds.
func florentine(t testing.TB, steps, k, b int) Config {
	g, _, err := graph.ByName("florentine", graph.BuiltinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := graph.NewGossip(g, graph.Uniform)
	if err != nil {
		t.Fatal(err)
	}
	return Config{Task: LinearTask(1000, 6), Gossip: w.Matrix(), Schema: cyclic(t, steps, k, b)}
}

func TestWorkersChangeNothing(t *testing.T) {
	c := florentine(t, 60, 5, 12)
	c.Task = Task{Name: "mlp", Model: NewMLP(6, 9), LearningRate: 0.1, Split: c.Task.Split}
	noise := &Noise{Correlation: correlation(t, 15, Shared(strategy.AntiPGD(60)), c.Schema), Mu: 5}
	var first *Result
	for _, workers := range []int{1, 2, 3, 16} {
		c.Workers = workers
		r, err := Run(context.Background(), c, noise, 7)
		if err != nil {
			t.Fatal(err)
		}
		if r.Seconds = 0; first == nil {
			first = r
		}
		if !reflect.DeepEqual(first, r) {
			t.Errorf("%d workers: %+v, one: %+v", workers, r, first)
		}
	}
	if len(first.Losses) != 50 || first.Steps[0] != 11 || *first.Final != first.Losses[49] {
		t.Errorf("%+v", first)
	}
	other, err := Run(context.Background(), c, noise, 8)
	if err != nil || *other.Mean == *first.Mean {
		t.Errorf("another seed: %+v, %v", other, err)
	}
}

// K rounds with W are one round with W^K.
func TestRounds(t *testing.T) {
	c := florentine(t, 20, 5, 4)
	c.Workload = rounds(3)
	noise := &Noise{Correlation: correlation(t, 15, Shared(strategy.Identity(20)), c.Schema), Mu: 1}
	got, err := Run(context.Background(), c, noise, 1)
	if err != nil {
		t.Fatal(err)
	}
	var power mat.Dense
	power.Pow(c.Gossip.ToDense(), 3)
	c.Workload, c.Gossip = workload.Spec{}, graph.NewCSRFromDense(&power)
	want, err := Run(context.Background(), c, noise, 1)
	if err != nil || math.Abs(*got.Mean-*want.Mean) > 1e-5**want.Mean {
		t.Errorf("%v with K = 3, %v with W³, %v", *got.Mean, *want.Mean, err)
	}
}

// What the schema of a run or of a strategy does not allow is refused before anything is trained.
func TestRefusedParticipation(t *testing.T) {
	c := florentine(t, 24, 6, 4)
	minSep := func(k, b int) participation.Schema {
		s, err := participation.NewMinSep(24, k, b)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	identity := Shared(strategy.Identity(24))
	for name, tc := range map[string]struct {
		batches int
		schema  participation.Schema // schema that the strategy is for
		ok      bool
	}{
		"the run's own":         {4, c.Schema, true},
		"half as many epochs":   {8, c.Schema, true}, // every second step of a pattern
		"min-sep":               {4, minSep(6, 4), true},
		"fewer participations":  {4, cyclic(t, 24, 5, 4), false},
		"other distances":       {4, cyclic(t, 24, 8, 3), false},
		"min-sep, farther":      {4, minSep(4, 6), false},
		"min-sep, fewer":        {4, minSep(5, 4), false},
		"single":                {4, cyclic(t, 24, 1, 24), false},
		"closer than b":         {2, c.Schema, false},
		"not a multiple of b":   {6, c.Schema, false},
		"far apart for min-sep": {6, minSep(4, 6), false}, // the run's own schema is cyclic with b = 4
	} {
		c.Batches = tc.batches
		_, err := Run(context.Background(), c, &Noise{Correlation: correlation(t, 15, identity, tc.schema), Mu: 1}, 1)
		if (err == nil) != tc.ok || err != nil && !errors.Is(err, participation.ErrViolated) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, steps := range []int{23, 25} {
		if _, err := NewCorrelation(15, Shared(strategy.Identity(steps)), c.Schema); !errors.Is(err, participation.ErrViolated) {
			t.Errorf("a strategy of %d steps for a run of 24: %v", steps, err)
		}
		c.Batches = 0
		other := correlation(t, 15, Shared(strategy.Identity(steps)), cyclic(t, steps, 1, steps))
		if _, err := Run(context.Background(), c, &Noise{Correlation: other, Mu: 1}, 1); !errors.Is(err, participation.ErrViolated) {
			t.Errorf("a correlation of %d steps in a run of 24: %v", steps, err)
		}
	}
}

// The check while training does not rely on the one before: a trainer that visits batches out of turn is stopped.
func TestParticipationIsCheckedWhileTraining(t *testing.T) {
	c, err := florentine(t, 24, 6, 4).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	tr, err := newTrainer(c, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	for step := range 4 {
		if err := tr.descend(step); err != nil {
			t.Fatal(err)
		}
	}
	tr.batches.(*shards).bounds[3][0]-- // node 3's first batch now takes the last record of node 2
	if err := tr.descend(4); !errors.Is(err, participation.ErrViolated) {
		t.Errorf("a record of another batch: %v", err)
	}
}

func TestBadRuns(t *testing.T) {
	good := florentine(t, 24, 6, 4)
	for name, change := range map[string]func(c *Config){
		"no task":        func(c *Config) { c.Task = Task{} },
		"no schema":      func(c *Config) { c.Schema = nil },
		"few records":    func(c *Config) { c.Task = LinearTask(50, 6) },
		"other features": func(c *Config) { c.Task.Model = NewLinear(7) },
		"negative clip":  func(c *Config) { c.Clip = -1 },
		"NaN rate":       func(c *Config) { c.LearningRate = math.NaN() },
		"not square":     func(c *Config) { c.Gossip = graph.NewCSRFromDense(mat.NewDense(1, 2, []float64{0.5, 0.5})) },
		"classes": func(c *Config) {
			c.Task.Model = NewLogistic(6, 2)
		},
	} {
		c := good
		change(&c)
		if _, err := Run(context.Background(), c, nil, 1); !errors.Is(err, ErrData) {
			t.Errorf("%s: %v", name, err)
		}
	}
	identity := correlation(t, 15, Shared(strategy.Identity(24)), good.Schema)
	for name, n := range map[string]*Noise{
		"no mu":          {Correlation: identity},
		"infinite mu":    {Correlation: identity, Mu: math.Inf(1)},
		"no correlation": {Mu: 1},
		"adjacency":      {Correlation: identity, Mu: 1, Adjacency: 7},
		"nodes":          {Correlation: correlation(t, 14, Shared(strategy.Identity(24)), good.Schema), Mu: 1},
	} {
		if _, err := Run(context.Background(), good, n, 1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, good, nil, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Noise beyond all numbers ends a run, with the step and without an error.
func TestDivergence(t *testing.T) {
	c := florentine(t, 100, 10, 10)
	r, err := Run(context.Background(), c, &Noise{Correlation: correlation(t, 15, Shared(strategy.Identity(100)), c.Schema), Mu: 1e-40}, 1)
	if err != nil || r.Diverged == 0 || r.Diverged > 60 || r.Mean != nil || r.Final != nil {
		t.Errorf("%+v, %v", r, err)
	}
	s := Summarize([]*Result{r, {Mean: new(2.0), Final: new(3.0)}, {Mean: new(4.0), Final: new(5.0)}})
	if s.Seeds != 3 || s.Diverged != 1 || *s.Mean != 3 || *s.Median != 3 || *s.Least != 2 || *s.Std != math.Sqrt2 || *s.Final != 4 {
		t.Errorf("%+v", s)
	}
	p := Compare([]*Result{r, {Mean: new(2.0)}, {Mean: new(4.0)}}, []*Result{{Mean: new(1.0)}, {Mean: new(3.0)}, {Mean: new(8.0)}})
	if p.Runs != 2 || p.Difference != 2.5 || math.Abs(*p.StdErr-1.5) > 1e-15 {
		t.Errorf("%+v", p)
	}
	if s := Summarize([]*Result{r}); s.Mean != nil || s.Median != nil || s.Std != nil {
		t.Errorf("%+v", s)
	}
}

// The optimum for the network beats the optimum without it, which beats independent noise.
func TestOrderOfMethods(t *testing.T) {
	c := florentine(t, 160, 10, 16)
	means := map[string][]*Result{}
	seeds := 10
	if testing.Short() {
		seeds = 5
	}
	strategies := map[string]strategy.Strategy{"dp-d-sgd": strategy.Identity(160), "d-mf": optimum(t, c, true), "mafalda": optimum(t, c, false)}
	for name, s := range strategies {
		noise := &Noise{Correlation: correlation(t, 15, Shared(s), c.Schema), Mu: 0.3}
		for seed := range uint64(seeds) {
			r, err := Run(context.Background(), c, noise, seed)
			if err != nil {
				t.Fatal(err)
			}
			means[name] = append(means[name], r)
		}
	}
	for _, pair := range [][2]string{{"mafalda", "d-mf"}, {"d-mf", "dp-d-sgd"}} {
		if p := Compare(means[pair[0]], means[pair[1]]); p.Difference < 2**p.StdErr || p.Runs != seeds {
			t.Errorf("%v: %+v", pair, p)
		}
	}
}

// A classification reports its accuracy on all test rows; a regression, and a run that diverged, none.
func TestAccuracy(t *testing.T) {
	c := florentine(t, 100, 10, 10)
	if r, err := Run(context.Background(), c, nil, 1); err != nil || r.Accuracy != nil {
		t.Errorf("regression: %+v, %v", r, err)
	}
	c.Task, c.TestRows = LogisticTask(1000, 5, 3), 10
	r, err := Run(context.Background(), c, nil, 1)
	if err != nil || r.Accuracy == nil || *r.Accuracy < 0.6 || *r.Accuracy >= 1 { // by chance: a third
		t.Fatalf("logistic regression: %+v, %v", r, err)
	}
	if right := *r.Accuracy * 15 * 200; math.Abs(right-math.Round(right)) > 1e-9 { // nodes, test rows: not the first ten only
		t.Errorf("%v right answers", right)
	}
	if s := Summarize([]*Result{r, r}); *s.Accuracy != *r.Accuracy {
		t.Errorf("summary of %v: %v", *r.Accuracy, s.Accuracy)
	}
	diverged := &Noise{Correlation: correlation(t, 15, Shared(strategy.Identity(100)), c.Schema), Mu: 1e-40}
	if r, err := Run(context.Background(), c, diverged, 1); err != nil || r.Diverged == 0 || r.Accuracy != nil {
		t.Errorf("diverged: %+v, %v", r, err)
	}
}
