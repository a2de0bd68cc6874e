package secrets

import (
	"slices"
	"strings"
	"testing"

	"mafalda/graph"
)

func TestGraph(t *testing.T) {
	g, err := NewGraph(4, []Pair{{3, 1}, {0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []Pair{{0, 1}, {1, 3}}; !slices.Equal(g.Pairs(), want) || g.Nodes() != 4 {
		t.Errorf("pairs %v of %d nodes, want %v of 4", g.Pairs(), g.Nodes(), want)
	}
	for name, pairs := range map[string][]Pair{
		"out of range": {{0, 4}}, "negative": {{-1, 2}}, "itself": {{2, 2}}, "twice": {{0, 1}, {1, 0}},
	} {
		if _, err := NewGraph(4, pairs); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := NewGraph(0, nil); err == nil {
		t.Error("no nodes: no error")
	}
	all, err := Complete(5)
	if err != nil || len(all.Pairs()) != 10 {
		t.Errorf("Complete(5) = %v, %v", all, err)
	}
	if _, err := Complete(MostComplete + 1); err == nil {
		t.Error("too many for all: no error")
	}
}

func TestOfEdges(t *testing.T) {
	directed, err := graph.New([]string{"a", "b", "c"}, []graph.Edge{{U: 0, V: 1, Weight: 1}, {U: 1, V: 0, Weight: 2},
		{U: 2, V: 1, Weight: 3}}, true)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := OfEdges(directed).Pairs(), []Pair{{0, 1}, {1, 2}}; !slices.Equal(got, want) {
		t.Errorf("pairs %v, want %v", got, want)
	}
}

func TestLoad(t *testing.T) {
	g, err := graph.New([]string{"ann", "bob", "cid", "dan"}, []graph.Edge{{U: 0, V: 1, Weight: 1}}, false)
	if err != nil {
		t.Fatal(err)
	}
	s, err := LoadGraph(writeFile(t, "# who\ndan bob\nann dan\n"), g)
	if err != nil {
		t.Fatal(err)
	}
	if want := []Pair{{0, 3}, {1, 3}}; !slices.Equal(s.Pairs(), want) || s.Nodes() != 4 {
		t.Errorf("pairs %v of %d nodes, want %v of 4", s.Pairs(), s.Nodes(), want)
	}
	a, err := LoadAttackers(writeFile(t, "\ufeff# who\ndan, bob\n\ncid\r\n"), g)
	if err != nil {
		t.Fatal(err)
	}
	if want := [][]int{{}, {2}, {1, 3}}; !slices.EqualFunc(a.Coalitions(), want, slices.Equal) {
		t.Errorf("coalitions %v, want %v", a.Coalitions(), want)
	}
	for name, tc := range map[string]struct {
		read func(string) error
		text string
		want string
	}{
		"unknown in a pair":      {loadsGraph(g), "ann bob\nann eve\n", "eve"},
		"unknown in a coalition": {loadsAttackers(g), "ann\nann eve\n", ":2: the network has no node \"eve\""},
		"twice in a coalition":   {loadsAttackers(g), "ann ann\n", ":1:"},
		"a line too long":        {loadsAttackers(g), "# who\n\nann\n" + strings.Repeat("a", 1<<24) + "\n", ":4: a line of more"},
		"everybody":              {loadsAttackers(g), "ann bob cid dan\n", "nobody left"},
		"nothing":                {loadsAttackers(g), "# none\n", "no coalitions"},
	} {
		if err := tc.read(writeFile(t, tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q in it", name, err, tc.want)
		}
	}
}

func loadsGraph(g *graph.Graph) func(string) error {
	return func(path string) error { _, err := LoadGraph(path, g); return err }
}

func loadsAttackers(g *graph.Graph) func(string) error {
	return func(path string) error { _, err := LoadAttackers(path, g); return err }
}
