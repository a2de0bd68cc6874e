package simulate

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting/bins"
	"mafalda/graph"
	"mafalda/participation"
)

// The noise that a node adds is what the accountant asks for, for the strategy as it is and sums of its clip: enough,
// and hardly more.
func TestBinsStudy(t *testing.T) {
	const steps, b, delta, clip = 16, 4, 1e-3, 0.7
	c := Config{Task: linearTask(t, 300), Schema: cyclic(t, steps, 4, b), Clip: clip}
	n := network(t, graph.NetworkOptions{Source: "cycle:4"})
	o := StudyOptions{Methods: []string{None, "dp-d-sgd", Mafalda}, Epsilons: []float64{1}, Delta: delta, Seeds: 1,
		Sampling: participation.Bins, MonteCarlo: bins.MonteCarlo{Samples: 1 << 12}}
	s, err := NewStudy(n, c, o)
	if err != nil {
		t.Fatal(err)
	}
	var runs []Result
	for _, cell := range s.Cells() {
		kept, err := s.Do(t.Context(), cell)
		if err != nil || kept.Groups != b {
			t.Fatalf("%+v, %v", kept, err)
		}
		runs = append(runs, kept)
		if cell.Method == None {
			continue
		}
		sampling, noise, err := s.drawn(t.Context(), cell)
		if err != nil || sampling != (participation.BinsSampling{Bins: b}) || noise.Multiplier != kept.Multiplier {
			t.Fatalf("%v, %+v, %v", sampling, noise, err)
		}
		var lower mat.TriDense
		made, _, _, err := s.strategyAt(t.Context(), s.methods[s.methodOf(cell)], cell.Epsilon)
		if err != nil {
			t.Fatal(err)
		}
		made.StrategyTo(&lower)
		mechanism, err := bins.New(&lower, b)
		if err != nil {
			t.Fatal(err)
		}
		std, err := noise.std(2, 10, clip) // of means over 10
		if err != nil {
			t.Fatal(err)
		}
		d, err := mechanism.Delta(t.Context(), cell.Epsilon, 10*std/clip, bins.MonteCarlo{Samples: 1 << 17, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		without, err := mechanism.WithoutSamples(cell.Epsilon, 10*std/clip)
		if least := math.Min(d.Upper, without); err != nil || least > delta || least < delta/10 || d.Value > 1.05*delta {
			t.Errorf("%s at epsilon %v: delta %+v, without samples %v, %v", cell.Method, cell.Epsilon, d, without, err)
		}
	}
	rows, err := NewGrid(s.Cells(), runs).Rows(delta)
	if err != nil || len(rows) != 3 {
		t.Fatalf("%+v, %v", rows, err)
	}
	for _, r := range rows {
		if r.Sampling != "bins" || r.Mu != nil {
			t.Errorf("%+v", r)
		}
	}
	if inputs, _ := json.Marshal(s.Spec().Inputs); !strings.Contains(string(inputs), `"samples","value":"4096"`) {
		t.Errorf("%s", inputs)
	}
}
