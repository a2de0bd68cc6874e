package workload

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"mafalda/graph"
)

// The factors hold for the most skewed shape and for the normal one; Student's do not for the former.
func TestErrorFactors(t *testing.T) {
	const runs = 20000
	allowed := runs * (1 - Confidence)
	allowed += 4 * math.Sqrt(allowed)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, probes := range []int{4, 7, 11, 16, 60} {
		student := distuv.StudentsT{Sigma: 1, Nu: float64(probes - 1)}.Quantile(1 - (1-Confidence)/2)
		x := make([]float64, probes)
		for name, draw := range map[string]func() float64{
			"normal": rng.NormFloat64,
			"square": func() float64 { z := rng.NormFloat64(); return z*z - 1 },
			"minus square and a half": func() float64 {
				y, z := rng.NormFloat64(), rng.NormFloat64()
				return 1.5 - z*z - y*y/2
			},
		} {
			var beyond, beyondStudent float64
			for range runs {
				for i := range x {
					x[i] = draw()
				}
				mean, deviation := stat.MeanStdDev(x, nil)
				errors := math.Abs(mean) / (deviation / math.Sqrt(float64(probes)))
				if errors > errorFactor(probes) {
					beyond++
				}
				if errors > student {
					beyondStudent++
				}
			}
			if beyond > allowed || name == "square" && beyondStudent <= allowed {
				t.Errorf("%s, %d probes: %v of %d are beyond the factor, %v beyond Student's, %v may be",
					name, probes, beyond, runs, beyondStudent, allowed)
			}
		}
	}
}

// shared is a network of a few hubs that all others have in common.
func shared(t *testing.T, hubs, nodes int) *graph.Graph {
	t.Helper()
	var labels []string
	var edges []graph.Edge
	for i := range nodes {
		labels = append(labels, strconv.Itoa(i))
		for j := 0; j < hubs && i >= hubs; j++ {
			edges = append(edges, graph.Edge{U: j, V: i, Weight: 1})
		}
	}
	g, err := graph.New(labels, edges, false)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// What a sketch says of its error is not exceeded more often than it says. Two standard errors are, on
// the star.
func TestStatedErrorsHold(t *testing.T) {
	const steps = 6
	runs, allowed := 200, 6 // 2 are to be expected at most; 7 have a probability below 0.5 %
	if testing.Short() {
		runs, allowed = 60, 3 // 0.6 at most; 4 have a probability below 0.5 %
	}
	r := make([]float64, steps)
	r[0], r[1] = 1, -0.5
	named := func(spec string) *graph.Graph {
		g, _, err := graph.ByName(spec, graph.BuiltinOptions{Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	for name, tc := range map[string]struct {
		graph  *graph.Graph
		scheme graph.Scheme
		worst  bool // for two standard errors
	}{
		"star":           {named("star:150"), graph.Metropolis, true},
		"star, uneven":   {named("star:150"), graph.Uniform, true},
		"two hubs":       {shared(t, 2, 150), graph.Uniform, false},
		"three hubs":     {shared(t, 3, 150), graph.Uniform, false},
		"slow, two ends": {named("path:140"), graph.Uniform, false},
	} {
		w, err := graph.NewGossip(tc.graph, tc.scheme)
		if err != nil {
			t.Fatal(err)
		}
		pi, _ := w.Stationary()
		exact, ok, err := ExactResponse(w.Matrix(), pi, Spec{}, nil, steps)
		if err != nil || !ok {
			t.Fatal(err, ok)
		}
		truth := exact.Error(nil, r)
		for _, probes := range []int{4, 8} {
			if probes == 8 && name != "star" {
				continue
			}
			var beyond [2]int // what is said, and two standard errors
			for seed := range uint64(runs) {
				s, err := NewSketch(context.Background(), w.Matrix(), pi,
					Options{Probes: probes, LanczosSteps: steps + 1, Seed: seed})
				if err != nil {
					t.Fatal(err)
				}
				whole, err := s.Response(steps)
				if err != nil {
					t.Fatal(err)
				}
				standard, truncation, err := s.LossError(context.Background(), steps, seriesError(r))
				if err != nil {
					t.Fatal(err)
				}
				estimate := whole.Error(nil, r)
				for rule, factor := range []float64{s.Factor(), 2} {
					if math.Abs(estimate-truth)/estimate > factor*standard+truncation+1e-10 {
						beyond[rule]++
					}
				}
			}
			if beyond[0] > allowed || tc.worst && beyond[1] <= allowed {
				t.Errorf("%s, %d probes: %d of %d beyond what is said, %d beyond two standard errors",
					name, probes, beyond[0], runs, beyond[1])
			}
		}
	}
}
