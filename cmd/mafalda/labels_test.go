package main

import (
	"slices"
	"strings"
	"testing"

	"mafalda/graph"
)

// A label works as it is, whatever quotes it has; commas need quotes, as in CSV.
func TestNodesNamed(t *testing.T) {
	labels := []string{`a"x`, `"q"`, "b", "Smith, J", "Ann Lee", "all", `"`}
	g, err := graph.New(labels, []graph.Edge{{U: 0, V: 1, Weight: 1}}, false)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]int{
		`a"x`: {0}, `"a""x"`: {0}, `"q"`: {1}, `a"x,b`: {0, 2}, `b, "q"`: {2, 1}, `"`: {6}, `",b`: {6, 2},
		"Smith, J": {3}, `"Smith, J"`: {3}, `"Smith, J",b`: {3, 2}, `b, "Smith, J" `: {2, 3},
		" b ": {2}, "Ann Lee,b": {4, 2}, `"all"`: {5},
	} {
		if got, err := nodesNamed("attacker", text, g); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: nodes %v, %v; want %v", text, got, err, want)
		}
	}
	for text, say := range map[string]string{
		"": "no such node", "c": "--attacker c:", "b,c": "--attacker c:", "b\nb": "no such node", "b,,": "no such node",
		"b,b": "b is named twice", `b,"b"`: "b is named twice",
	} {
		if got, err := nodesNamed("attacker", text, g); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: nodes %v, %v; want %q", text, got, err, say)
		}
	}
}

// noise --node takes a label as it is, too: not as nodes.csv quotes it.
func TestLabelsWithQuotes(t *testing.T) {
	edges := writeFile(t, "g", "a\"x b\nb c\n")
	out := t.TempDir() + "/out"
	if code, _, stderr := mafalda("optimize", "--graph", edges, "--T", "4", "-k", "2", "--mu", "1", "-q",
		"--no-baselines", "-o", out); code != 0 {
		t.Fatal(stderr)
	}
	if code, _, stderr := mafalda("noise", out, "--node", `a"x`, "--dim", "3", "--seed", "1"); code != 0 {
		t.Error(stderr)
	}
	for _, command := range []string{"account", "audit"} {
		if code, stdout, stderr := mafalda(command, "--graph", edges, "--T", "4", "--attacker", `a"x,c`); code != 0 {
			t.Errorf("%s: %s%s", command, stdout, stderr)
		}
	}
}
