package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What plot refuses leaves no file: neither where a picture is in the way nor where the network is another one.
func TestPlotLeavesNothing(t *testing.T) {
	t.Parallel()
	edges, other := writeFile(t, "g.edges", "a b\nb c\nc d\n"), writeFile(t, "h.edges", "a b\nb c\nc a\n")
	dir := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, "--graph", edges, "--T", "6", "-k", "2", "--no-baselines", "-o", dir)
	for name, tc := range map[string]struct {
		there []string
		graph string
		say   string
	}{
		"a picture in the way": {[]string{"errors.svg"}, edges, "errors.svg: exists already"},
		"the last in the way":  {[]string{"spectrum.svg"}, edges, "spectrum.svg: exists already"},
		"another network":      {nil, other, "nodes.csv has other nodes"},
		"no such file":         {nil, edges + "x", "neither a file"},
	} {
		out := t.TempDir()
		for _, file := range tc.there {
			if err := os.WriteFile(filepath.Join(out, file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		code, _, errs := mafalda("plot", dir, "--graph", tc.graph, "-o", out)
		left, err := os.ReadDir(out)
		if code != 2 || !strings.Contains(errs, tc.say) || strings.Count(errs, "\n") != 1 || err != nil ||
			len(left) != len(tc.there) {
			t.Errorf("%s: code %d, %s; left %v", name, code, errs, left)
		}
	}
	if code, out, errs := mafalda("plot", dir, "--graph", edges, "-o", filepath.Join(t.TempDir(),
		"new")); code != 0 || strings.Count(out, "written") != 12 {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
}

// A node is named by its label; JSON says what was written, and what was not, and why.
func TestPlotOfNode(t *testing.T) {
	t.Parallel()
	edges := writeFile(t, "g.edges", "a b\nb c\nc d\n")
	dir := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, "--graph", edges, "--T", "6", "-k", "2", "--no-baselines", "--strategy", "per-node", "-o", dir)
	for _, node := range []string{"c", "2"} { // an index where it is no label
		to := t.TempDir()
		code, out, errs := mafalda("plot", dir, "--node", node, "--json", "-o", to)
		var said struct {
			Written  []string
			NotDrawn map[string]string `json:"not_drawn"`
		}
		if err := json.Unmarshal([]byte(out), &said); code != 0 || errs != "" || err != nil || len(said.Written) != 6 ||
			!strings.Contains(said.NotDrawn["errors"], "--graph FILE") {
			t.Errorf("code %d, %v, %s%s", code, err, out, errs)
		}
		svg, err := os.ReadFile(filepath.Join(to, "matrices.svg"))
		if err != nil || !strings.Contains(string(svg), "of node c") {
			t.Errorf("--node %s: %v", node, err)
		}
	}
	if code, _, errs := mafalda("plot", dir, "--node", "e", "-o", t.TempDir()); code != 2 ||
		!strings.Contains(errs, `--node "e"`) {
		t.Errorf("code %d, %s", code, errs)
	}
}
