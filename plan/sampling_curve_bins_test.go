package plan

import (
	"testing"

	"mafalda/graph"
	"mafalda/participation"
)

// Of strategies whose estimates are close a curve takes the one of the least confirmed error, whichever comes first, and
// all confirmations together fail with the chance that is reported.
func TestBinsCurveTakesTheBestConfirmed(t *testing.T) {
	n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: "cycle:4"})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := participation.NewCyclic(6, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	s, err := prepareCurve(Problem{Network: n, Schema: schema}, Privacies{Epsilons: []float64{1}, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.measures(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := s.binsStrategies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const better = 3
	first, err := confirmedBest(t.Context(), all[:1], 1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	for _, some := range [][]binsStrategy{{all[0], all[better]}, {all[better], all[0]}} {
		best, err := confirmedBest(t.Context(), some, 1, 1e-6)
		if err != nil || best.Blend != all[better].blend || best.Error >= first.Error || best.Failure != first.Failure {
			t.Errorf("%v: %+v, %v; alone %+v", some, best, err, first)
		}
	}
	if likely, err := likelyForBins(t.Context(), all, 1, 1e-6); err != nil || len(likely) < 2 {
		t.Errorf("likely are %v, %v", likely, err)
	}
}
