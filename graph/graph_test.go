package graph

import (
	"errors"
	"testing"
)

func TestNew(t *testing.T) {
	g, err := New([]string{"a", "b", "c"}, []Edge{{2, 0, 1}, {0, 1, 1}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if g.Nodes() != 3 || g.Edges() != 2 || g.Directed() || g.Weighted() || g.Label(2) != "c" || g.Degree(0) != 2 {
		t.Errorf("%d nodes, %d edges, directed %v, weighted %v", g.Nodes(), g.Edges(), g.Directed(), g.Weighted())
	}
	if a := g.Adjacency(); a.At(0, 2) != 1 || a.At(2, 0) != 1 || a.At(1, 2) != 0 || a.At(0, 0) != 0 {
		t.Errorf("adjacency %v", a.ToDense())
	}
}

func TestNewRefuses(t *testing.T) {
	for name, edges := range map[string][]Edge{
		"out of range": {{0, 2, 1}},
		"negative":     {{-1, 0, 1}},
		"self-loop":    {{1, 1, 1}},
		"weight":       {{0, 1, 0}},
		"twice":        {{0, 1, 1}, {1, 0, 1}},
	} {
		if _, err := New(numberLabels(2), edges, false); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := New([]string{"a", "a"}, nil, false); err == nil {
		t.Error("two nodes of one label: accepted")
	}
	if _, err := New(nil, nil, false); !errors.Is(err, ErrNoNodes) {
		t.Errorf("no nodes: %v", err)
	}
}

func TestSubgraph(t *testing.T) {
	g, err := New([]string{"a", "b", "c", "d"}, []Edge{{0, 1, 2}, {1, 3, 1}, {2, 3, 1}}, false)
	if err != nil {
		t.Fatal(err)
	}
	part := g.Subgraph([]int{1, 3})
	if part.Nodes() != 2 || part.Edges() != 1 || part.Label(1) != "d" || part.Weighted() || !g.Weighted() {
		t.Errorf("%v, weighted %v", describe(part), part.Weighted())
	}
}
