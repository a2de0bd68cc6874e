package simulate

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"mafalda/accounting"
	"mafalda/accounting/allocation"
	"mafalda/accounting/pld"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/participation"
)

// epsilonOf is what the accountant says of a row's noise.
func epsilonOf(t *testing.T, p participation.PoissonSampling, steps int, multiplier, delta float64) float64 {
	t.Helper()
	d, err := pld.Compose(accounting.ZeroOut, pld.Rounds{Rounds: p.Rounds(steps),
		Mechanism: pld.Mechanism{Probability: p.Probability, NoiseMultiplier: multiplier}})
	if err != nil {
		t.Fatal(err)
	}
	epsilon, _, err := d.Epsilon(delta)
	if err != nil {
		t.Fatal(err)
	}
	return epsilon
}

// At equal (ε, δ) independent noise costs less where batches are drawn in secret than in turn, and bands still less where
// ε is large; the noise is what the accountant asks for, and no more.
func TestPoissonStudy(t *testing.T) {
	const steps, b, delta = 80, 8, 1e-6
	c := Config{Task: linearTask(t, 1000), Schema: cyclic(t, steps, 10, b)}
	n := network(t, graph.NetworkOptions{Source: "florentine"})
	o := StudyOptions{Methods: []string{None, "dp-d-sgd", Mafalda}, Epsilons: []float64{16, 1, 16}, Delta: delta, Seeds: 4,
		Sampling: participation.Poisson}
	s, err := NewStudy(n, c, o)
	if err != nil || !slices.Equal(s.Levels(), []float64{1, 16}) || len(s.Cells()) != 4*(1+2*2) {
		t.Fatalf("%v, %v, %v", s.Levels(), s.Cells(), err)
	}
	drawn := map[string]Row{}
	var runs []Result
	for _, cell := range s.Cells() {
		kept, err := s.Do(t.Context(), cell)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, kept)
	}
	all, err := NewGrid(s.Cells(), runs).Rows(delta)
	if err != nil || len(all) != 1+2*2 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, r := range all {
		if r.Sampling != "poisson" || r.Mu != nil || r.Method != None && r.Multiplier == 0 {
			t.Errorf("%+v", r)
		}
		if r.Epsilon == nil {
			continue
		}
		p := participation.PoissonSampling{Groups: r.Groups, Probability: float64(r.Groups) / b}
		if got := epsilonOf(t, p, steps, r.Multiplier, delta); got > *r.Epsilon || got < *r.Epsilon*(1-3e-3) {
			t.Errorf("%s: noise for epsilon %v, not %v", r.Method, got, *r.Epsilon)
		}
		if *r.Epsilon == 1 {
			drawn[r.Method] = r
		} else if want := r.Method == Mafalda; (r.Groups > 1) != want {
			t.Errorf("%s has %d bands at epsilon 16", r.Method, r.Groups)
		}
	}
	o.Sampling, o.Epsilons, o.Methods = participation.InTurn, []float64{1}, []string{"dp-d-sgd"}
	mu, err := accounting.MuFromDP(1, delta)
	if err != nil {
		t.Fatal(err)
	}
	if inTurn := rows(t, n, c, o)[Cell{Method: "dp-d-sgd", Mu: mu}]; *drawn["dp-d-sgd"].Mean > 0.7**inTurn.Mean {
		t.Errorf("drawn %v, in turn %v", *drawn["dp-d-sgd"].Mean, *inTurn.Mean)
	}
}

// The bandwidth can be asked for. Like the sampling it is an input of the study; a study without them has neither as
// input, so that its older folders stay valid.
func TestPoissonInputs(t *testing.T) {
	c := Config{Task: linearTask(t, 200), Schema: cyclic(t, 12, 3, 4)}
	n := network(t, graph.NetworkOptions{Source: "cycle:4"})
	o := StudyOptions{Methods: []string{Mafalda}, Epsilons: []float64{4}, Delta: 1e-6, Seeds: 1, Sampling: participation.Poisson,
		Bandwidth: 3}
	s, err := NewStudy(n, c, o)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := s.Do(t.Context(), s.Cells()[0])
	if err != nil || kept.Groups != 3 {
		t.Errorf("%+v, %v", kept, err)
	}
	inputs, _ := json.Marshal(s.Spec().Inputs)
	cell, _ := json.Marshal(s.Cells()[0])
	if !strings.Contains(string(inputs), `"sampling","value":"poisson"`) ||
		string(cell) != `{"method":"mafalda","seed":0,"sampling":"poisson","epsilon":4}` {
		t.Errorf("%s\n%s", inputs, cell)
	}
	o.Sampling, o.Bandwidth = participation.InTurn, 0
	if s, err = NewStudy(n, c, o); err != nil {
		t.Fatal(err)
	}
	inputs, _ = json.Marshal(s.Spec().Inputs)
	if cell, _ = json.Marshal(s.Cells()[0]); strings.Contains(string(inputs), "sampling") ||
		strings.Contains(string(cell), "epsilon") || !strings.HasPrefix(string(cell), `{"method":"mafalda","mu":0.8`) {
		t.Errorf("%s\n%s", inputs, cell)
	}
	for field, change := range map[string]func(o *StudyOptions){
		"Mus":       func(o *StudyOptions) { o.Mus = []float64{1} },
		"Epsilons":  func(o *StudyOptions) { o.Epsilons = nil },
		"Adjacency": func(o *StudyOptions) { o.Adjacency = accounting.ReplaceOne },
		"Bandwidth": func(o *StudyOptions) { o.Bandwidth = 5 },
		"Methods":   func(o *StudyOptions) { o.Methods = []string{"antipgd"} },
		"Sampling":  func(o *StudyOptions) { o.Sampling = 7 },
	} {
		bad := o
		bad.Sampling = participation.Poisson
		change(&bad)
		var a *fault.Argument
		if _, err := NewStudy(n, c, bad); !errors.As(err, &a) || a.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	o.Bandwidth = 2
	var a *fault.Argument
	if err := o.Check(); !errors.As(err, &a) || a.Field != "Bandwidth" {
		t.Errorf("a bandwidth of batches in turn: %v", err)
	}
}

// Random allocation and batches of a largest size are trained with what their accountants ask for: at the same ε, the first
// with less noise than Poisson sampling, the second with a little more.
func TestAllocationAndTruncatedStudies(t *testing.T) {
	const steps, k, b, epsilon, delta = 12, 3, 4, 4.0, 1e-6
	c := Config{Task: linearTask(t, 200), Schema: cyclic(t, steps, k, b)}
	n := network(t, graph.NetworkOptions{Source: "cycle:4"})
	noise := map[participation.Scheme]float64{}
	for _, scheme := range []participation.Scheme{participation.Poisson, participation.Allocation, participation.Truncated} {
		o := StudyOptions{Methods: []string{None, Mafalda}, Epsilons: []float64{epsilon}, Delta: delta, Seeds: 1, Sampling: scheme,
			Bandwidth: 2}
		s, err := NewStudy(n, c, o)
		if err != nil {
			t.Fatal(err)
		}
		var together sync.WaitGroup
		for _, cell := range s.Cells() {
			together.Go(func() {
				kept, err := s.Do(t.Context(), cell)
				if err != nil || kept.Groups != map[string]int{None: 1, Mafalda: 2}[cell.Method] || cell.Sampling != scheme.String() {
					t.Errorf("%v: %+v, %v", scheme, kept, err)
				}
				if cell.Method == Mafalda {
					noise[scheme] = kept.Multiplier
				}
			})
		}
		together.Wait()
		if cut, truncated := s.fromGroups(2).Sampling().(participation.TruncatedSampling); truncated &&
			(cut.Most != 40 || cut.MaxBatch < 20 || cut.MaxBatch > 40) {
			t.Errorf("%+v", cut) // 160 of the 200 records are for training, on 4 nodes
		}
	}
	of, err := allocation.New(allocation.Cut(steps/2, k)...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := of.Epsilon(delta, noise[participation.Allocation])
	if err != nil || got > epsilon || got < epsilon*(1-1e-3) {
		t.Errorf("noise of allocation is for epsilon %v, %v", got, err)
	}
	plain, less, more := noise[participation.Poisson], noise[participation.Allocation], noise[participation.Truncated]
	if !(less < plain && plain < more && more < 1.001*plain) {
		t.Errorf("noise %v, of allocation %v, of truncated batches %v", plain, less, more)
	}
	c.Schema = cyclic(t, steps-1, k, b)
	var a *fault.Argument
	if _, err := NewStudy(n, c, StudyOptions{Methods: []string{Mafalda}, Epsilons: []float64{epsilon}, Delta: delta, Seeds: 1,
		Sampling: participation.Allocation}); !errors.As(err, &a) || a.Field != "Participations" {
		t.Errorf("a step less: %v", err)
	}
}
