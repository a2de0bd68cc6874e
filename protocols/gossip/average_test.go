package gossip

import (
	"errors"
	"math"
	"testing"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/protocols/averaging"
)

func problemOn(t *testing.T, spec string) averaging.Problem {
	t.Helper()
	n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: spec, Scheme: graph.Laplacian})
	if err != nil {
		t.Fatal(err)
	}
	return averaging.Problem{Network: n, Values: averaging.DrawValues(n.Graph.Nodes(), 10, 0), ValueStd: 10}
}

// μ is difference over noise against everybody, and no more against anybody.
func TestAverage(t *testing.T) {
	two := 2
	p := problemOn(t, "florentine")
	p.Rounds = &two
	r, err := Average(t.Context(), p, AverageOptions{NoiseStd: 5, Difference: 2.5, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	if r.Mu != 0.5 || len(r.Pairs) != 210 || r.WorstMu > 0.5 || r.WorstMu < 0.4 || len(r.Errors) != 3 || *r.UpTo != 2 {
		t.Errorf("mu %g, worst %g of %d pairs", r.Mu, r.WorstMu, len(r.Pairs))
	}
	p.Observers, p.Victims = [][]int{{0, 1}}, []int{3}
	if r, err = Average(t.Context(), p, AverageOptions{Delta: 1e-6}); err != nil || len(r.Pairs) != 1 || r.Mu != 1 ||
		r.NoiseStd != 10 {
		t.Errorf("by default: %+v, %v", r, err)
	}
}

// Faint noise does not cancel in what gossip leaks, and is never infinite.
func TestAverageUnderFaintNoise(t *testing.T) {
	for noise, want := range map[float64]float64{1e-3: 9.2103403769761827, 1e-7: 18.420680743952366,
		1e-9: 23.025850929940457} {
		r, err := Average(t.Context(), problemOn(t, "path:3"), AverageOptions{NoiseStd: noise, Delta: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(r.Pairs[0].Leakage); got < want || got > want*(1+1e-14) {
			t.Errorf("noise %g: %.17g, must be %.17g", noise, got, want)
		}
	}
}

func TestAverageRefuses(t *testing.T) {
	for name, o := range map[string]AverageOptions{"NoiseStd": {NoiseStd: -1}, "Difference": {Difference: math.Inf(1),
		NoiseStd: 1}, " NoiseStd": {NoiseStd: 1e-308, Difference: 10}} {
		var a *fault.Argument
		o.Delta = 1e-6
		if _, err := Average(t.Context(), problemOn(t, "path:3"), o); !errors.As(err, &a) || a.Field != "NoiseStd" &&
			a.Field != "Difference" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Average(t.Context(), problemOn(t, "path:3"), AverageOptions{Delta: 2}); err == nil {
		t.Error("a delta of 2")
	}
}
