package simulate

import (
	"fmt"
	"math"
	"testing"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/strategy"
)

// TestNodesTrainAtTheirOwnLevels: every node clips to its own norm and adds noise of contribution/μ of its own, in the
// proportions of the levels whatever the strictest μ and the largest clip of the run are.
func TestNodesTrainAtTheirOwnLevels(t *testing.T) {
	c := florentine(t, 8, 2, 4)
	c, err := c.filled()
	if err != nil {
		t.Fatal(err)
	}
	levels := make([]export.NodeLevel, 15)
	for u := range levels {
		levels[u] = export.NodeLevel{Node: fmt.Sprint(u), Mu: 0.2 * float64(1+u%3), Clip: []float64{2, 0.02}[u%2]}
	}
	with, err := correlation(t, 15, Shared(strategy.Identity(8)), c.Schema).WithLevels(levels)
	if err != nil {
		t.Fatal(err)
	}
	noise := &Noise{Correlation: with, Mu: 0.4, Adjacency: accounting.ReplaceOne} // twice the μ, half the clip
	c.Clip = 1
	tr, err := newTrainer(c, noise, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.descend(0); err != nil {
		t.Fatal(err)
	}
	for u, l := range levels {
		want := 2 * math.Sqrt2 * (l.Clip / 2) / (2 * l.Mu)
		if std, err := noise.std(u, 1, c.Clip); err != nil || std < want || std > want*(1+1e-12) {
			t.Errorf("node %d has noise %v (%v), and needs %v", u, std, err, want)
		}
		var squared float64
		for _, g := range tr.gradients[u*tr.size : (u+1)*tr.size] {
			squared += float64(g) * float64(g)
		}
		norm := math.Sqrt(squared)
		if norm > l.Clip/2*(1+1e-6) || norm < l.Clip/200 {
			t.Errorf("node %d moves by %v, with the clip %v", u, norm, l.Clip/2)
		}
	}
	if _, err := with.WithLevels(levels[:3]); err == nil {
		t.Error("levels of three nodes for fifteen were taken")
	}
}
