package export

import (
	"bytes"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mafalda/graph"
	"mafalda/participation"
	"mafalda/secrets"
	"mafalda/strategy"
	"mafalda/study"
)

// line is a path of nodes with these labels.
func line(t *testing.T, labels ...string) *graph.Network {
	t.Helper()
	var edges []graph.Edge
	for i := range labels[1:] {
		edges = append(edges, graph.Edge{U: i, V: i + 1, Weight: 1})
	}
	g, err := graph.New(labels, edges, false)
	if err != nil {
		t.Fatal(err)
	}
	w, err := graph.NewGossip(g, graph.Uniform)
	if err != nil {
		t.Fatal(err)
	}
	return &graph.Network{Graph: g, Gossip: w, Origin: graph.Origin{Source: "line", SHA256: strings.Join(labels, ""),
		Nodes: len(labels), Edges: len(edges), Gossip: "uniform"}}
}

// exportOf writes an export with a strategy for every node of a network, and reads it.
func exportOf(t *testing.T, n *graph.Network, layers ...int) *Export {
	t.Helper()
	var nodes bytes.Buffer
	if err := graph.WriteNodes(&nodes, n.Graph); err != nil {
		t.Fatal(err)
	}
	m := nodeManifest(layers...)
	m.Graph = &n.Origin
	dir := filepath.Join(t.TempDir(), "out")
	all := []File{stack("C.npy", 3), stack("C_inv.npy", 3), Bytes("nodes.csv", nodes.Bytes())}
	if err := WriteDir(dir, m, all, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return intact(t, dir)
}

// first returns the first number of every strategy, which tells layers apart.
func first(all []strategy.Strategy) (numbers []float64) {
	for _, s := range all {
		numbers = append(numbers, strategy.GramOf(s).At(1, 1))
	}
	return numbers
}

// Strategies of single nodes belong to one network and are found by label; another network's labels are refused.
func TestStrategiesOn(t *testing.T) {
	n := line(t, "a", "b", "c", "d")
	e := exportOf(t, n, 1, 0, 2, 1)
	nodes, err := e.NodeStrategies()
	if err != nil || !slices.Equal(first(nodes), []float64{4, 1, 9, 4}) || nodes[0] != nodes[3] {
		t.Fatalf("%v, %v", first(nodes), err)
	}
	turned, err := e.StrategiesOn(line(t, "d", "c", "b", "a"))
	if err != nil || !slices.Equal(first(turned), []float64{4, 9, 1, 4}) {
		t.Errorf("in another order: %v, %v", first(turned), err)
	}
	metropolis, made := line(t, "a", "b", "c", "d"), line(t, "a", "b", "c", "d")
	metropolis.Origin.Gossip = "metropolis"
	made.Origin.SHA256, e.Manifest.Graph = "", &graph.Origin{Source: "path:4", Nodes: 4, Edges: 3, Gossip: "uniform"}
	if _, err := e.StrategiesOn(made); !errors.Is(err, ErrOtherNetwork) || !strings.Contains(err.Error(), "path:4") {
		t.Errorf("another source: %v", err)
	}
	e.Manifest.Graph = &n.Origin
	for name, tc := range map[string]struct {
		on  *graph.Network
		say string
	}{
		"gossip":  {metropolis, "other gossip"},
		"degrees": {line(t, "b", "a", "c", "d"), "degree"},
		"label":   {line(t, "a", "b", "c", "e"), `no node "e"`},
		"more":    {line(t, "a", "b", "c", "d", "e"), "4 nodes, not 5"},
	} {
		if _, err := e.StrategiesOn(tc.on); !errors.Is(err, ErrOtherNetwork) || !strings.Contains(err.Error(), tc.say) {
			t.Errorf("%s: %v, want %q", name, err, tc.say)
		}
	}
}

// What all nodes share is for every network, and nodes of their own need matrices.
func TestSharedStrategies(t *testing.T) {
	e := intact(t, export(t))
	on, err := e.StrategiesOn(line(t, "a", "b", "c"))
	if err != nil || len(on) != 3 || on[0] != on[2] {
		t.Errorf("%v, %v", on, err)
	}
	shared, err := e.SharedStrategy()
	if err != nil || shared.Steps() != 2 {
		t.Errorf("%v, %v", shared, err)
	}
	e.Manifest.PerNode = &PerNode{Layers: []int{0}}
	_, node := e.NodeStrategy(0)
	_, nodes := e.NodeStrategies()
	if node == nil || nodes == nil {
		t.Error("a node without a matrix has a strategy")
	}
}

func TestDescribeSchema(t *testing.T) {
	list, err := participation.NewPatternList(4, [][]int{{0, 2}, {1, 2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	p := DescribeSchema("/somewhere/patterns.txt", list)
	if p.Source != "patterns.txt" || p.Schema != "patterns" || len(p.Patterns) != 2 {
		t.Errorf("%+v", p)
	}
	var here, there study.Inputs
	p.AddTo(&here, 4)
	DescribeSchema("other.txt", list).AddTo(&there, 4)
	if !slices.Equal(here, there) {
		t.Errorf("the name of a file is an input: %v, %v", here, there)
	}
}

// Noise that nodes share goes to the nodes of the same labels, whatever their order, and to nodes of no other network.
func TestSharedOn(t *testing.T) {
	n := line(t, "a", "b", "c")
	shared, err := NewSharedNoise(n.Graph.Labels(), &secrets.Noise{Own: []float64{1, 2, 3}, Pairs: []secrets.Shared{
		{Pair: secrets.Pair{U: 0, V: 1}, Deviation: 4}, {Pair: secrets.Pair{U: 1, V: 2}, Deviation: 5}}})
	if err != nil {
		t.Fatal(err)
	}
	files, err := shared.Files(n.Graph)
	if err != nil {
		t.Fatal(err)
	}
	m := spaceManifest()
	m.Graph = &n.Origin
	m.Space.Coalitions, m.Space.Worst.Victim = Coalitions{Size: 1}, "c"
	dir := filepath.Join(t.TempDir(), "out")
	if err := WriteDir(dir, m, append(files, goodFiles...), WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	e := intact(t, dir)
	on, err := e.SharedOn(line(t, "c", "b", "a"))
	want := &secrets.Noise{Own: []float64{3, 2, 1}, Pairs: []secrets.Shared{{Pair: secrets.Pair{U: 0, V: 1}, Deviation: 5},
		{Pair: secrets.Pair{U: 1, V: 2}, Deviation: 4}}}
	if err != nil || !reflect.DeepEqual(on, want) {
		t.Errorf("%+v, %v", on, err)
	}
	for _, labels := range [][]string{{"a", "c", "b"}, {"a", "b"}, {"a", "b", "d"}} {
		if _, err := e.SharedOn(line(t, labels...)); !errors.Is(err, ErrOtherNetwork) {
			t.Errorf("on %v: %v", labels, err)
		}
	}
}
