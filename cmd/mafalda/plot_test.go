package main

import (
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
