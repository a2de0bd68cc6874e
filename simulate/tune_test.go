package simulate

import (
	"math"
	"slices"
	"testing"

	"mafalda/graph"
	"mafalda/internal/fault"
)

// tuned is a study of three learning rates, the middle one of which is good.
func tuned(t *testing.T, workers int) *Study {
	t.Helper()
	c := Config{Task: linearTask(t, 200), Schema: cyclic(t, 12, 3, 4), Workers: workers, LearningRate: 0.1, Clip: 100}
	s, err := NewStudy(network(t, graph.NetworkOptions{Source: "cycle:4"}), c, StudyOptions{Methods: []string{None, "dp-d-sgd", Mafalda},
		Mus: []float64{5e3, 1e3}, Delta: 1e-6, Seeds: 3, Tune: []float64{0.001, 1, 20}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A rate with more seeds than others is no better for that: rates are compared on the seeds that all of them have.
func TestRatesAreComparedOnTheSameSeeds(t *testing.T) {
	var cells []Cell
	var runs []Result
	add := func(rate float64, seed uint64, validation float64) {
		cells = append(cells, Cell{Method: "dp-d-sgd", Mu: 1, Seed: seed, Rate: rate})
		runs = append(runs, Result{Validation: &validation})
	}
	add(0.1, 1, 0.7)
	for seed := uint64(1); seed <= 4; seed++ {
		add(0.01, seed, 0.9-0.2*float64(seed-1)) // the later ones are better
	}
	if rate := NewGrid(cells, runs).Rate(Variant{Method: "dp-d-sgd"}, 1); rate != 0.1 {
		t.Errorf("rate %v", rate)
	}
	cells, runs = nil, nil
	add(0.1, 1, 0.7)
	add(0.01, 2, 0.6)
	if rate := NewGrid(cells, runs).Rate(Variant{Method: "dp-d-sgd"}, 1); rate != 0.01 {
		t.Errorf("rate %v of seeds that they do not share", rate)
	}
}

// Every method has at every level the rate with the least mean validation loss of all its seeds, runs that diverge are
// not chosen, and the same cells give the same results on any number of processors.
func TestTunedRates(t *testing.T) {
	s, again := tuned(t, 1), tuned(t, 3)
	cells := s.Cells()
	if want := 3 * 3 * (1 + 2*2); len(cells) != want {
		t.Fatalf("%d cells, must be %d", len(cells), want)
	}
	runs := make([]Result, len(cells))
	means := map[Cell]float64{} // by method, level and rate
	for i, c := range cells {
		var err error
		if runs[i], err = s.Do(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		other, err := again.Do(t.Context(), c)
		if err != nil || !slices.Equal(other.Losses, runs[i].Losses) || (other.Validation == nil) != (runs[i].Validation == nil) {
			t.Fatalf("%v: %v, other results", c, err)
		}
		validation := math.Inf(1)
		if v := runs[i].Validation; v != nil {
			validation = *v
		}
		c.Seed = 0
		means[c] += validation / 3
	}
	g := NewGrid(cells, runs)
	all, err := g.Rows(1e-6)
	if err != nil || len(all) != 5 {
		t.Fatal(len(all), err)
	}
	for _, r := range all {
		best := Cell{Method: r.Method}
		if r.Mu != nil {
			best.Mu = *r.Mu
		}
		best.Rate = r.Rate
		for c, mean := range means {
			if c.Method == best.Method && c.Mu == best.Mu && mean < means[best] {
				t.Errorf("%v: rate %v has %v, rate %v %v", r.Method, best.Rate, means[best], c.Rate, mean)
			}
		}
		if r.Rate != 0.1 || r.Seeds != 3 || r.Diverged != 0 {
			t.Errorf("%+v", r)
		}
		if r.Method != None && (r.Prediction == nil || r.Prediction.Measured != r.Excess.Difference) {
			t.Errorf("%s: %+v, %+v", r.Method, r.Prediction, r.Excess)
		}
	}
	if _, err := s.Do(t.Context(), Cell{Method: None, Rate: 0.2}); err == nil {
		t.Error("a rate that is not tried")
	}
}

// Rates are chosen by the first half of the test records, and losses are of the second.
func TestValidationIsKeptApart(t *testing.T) {
	c := Config{Task: linearTask(t, 200), Schema: cyclic(t, 12, 3, 4), Gossip: network(t, graph.NetworkOptions{Source: "cycle:4"}).Gossip.Matrix()}
	split := c.Task.Split
	half := func(first bool) func(uint64) (Dataset, Dataset) {
		return func(seed uint64) (Dataset, Dataset) {
			train, test := split(seed)
			if at := test.Len() / 2; first {
				return train, test.Slice(0, at)
			} else {
				return train, test.Slice(at, test.Len())
			}
		}
	}
	run := func(c Config) *Result {
		r, err := Run(t.Context(), c, nil, 7)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	c.Validation = true
	both := run(c)
	c.Validation = false
	c.Task.Split = half(true)
	first := run(c)
	c.Task.Split = half(false)
	second := run(c)
	if !near(*both.Validation, *first.Mean, 1e-12) || *both.Mean != *second.Mean || *both.Full != *second.Full || first.Validation != nil {
		t.Errorf("%v, %v; must be %v, %v", *both.Validation, *both.Mean, *first.Mean, *second.Mean)
	}
}

// What belongs to other rates is another folder's only if one has a validation and the other has none; rates are positive.
func TestTunedInputs(t *testing.T) {
	s := tuned(t, 1)
	if !slices.Equal(s.Rates(), []float64{0.0001, 0.1, 2}) {
		t.Error(s.Rates())
	}
	one, err := NewStudy(s.Network(), s.Config(), StudyOptions{Methods: []string{None}, Delta: 1e-6, Seeds: 1})
	if err != nil || one.Spec().Inputs.Key("") == s.Spec().Inputs.Key("") {
		t.Errorf("%v: the same inputs", err)
	}
	for _, bad := range []float64{0, -1, math.Inf(1), math.NaN()} {
		err := StudyOptions{Methods: []string{None}, Delta: 1e-6, Seeds: 1, Tune: []float64{bad}}.Check()
		if a, is := err.(*fault.Argument); !is || a.Field != "Tune" {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
