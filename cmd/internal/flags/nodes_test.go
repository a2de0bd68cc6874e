package flags

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
		if got, err := NodesNamed("attacker", text, g); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: nodes %v, %v; want %v", text, got, err, want)
		}
	}
	for text, say := range map[string]string{
		"": "no such node", "c": "--attacker c:", "b,c": "--attacker c:", "b\nb": "no such node", "b,,": "no such node",
		"b,b": "b is named twice", `b,"b"`: "b is named twice",
	} {
		if got, err := NodesNamed("attacker", text, g); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: nodes %v, %v; want %q", text, got, err, say)
		}
	}
}
