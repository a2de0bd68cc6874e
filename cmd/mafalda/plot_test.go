package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mafalda/export"
)

// The errors that plot draws are those of all nodes, each with its own strategy: their mean over the steps is the
// RMSE of the manifest. It drew node 0's strategy for all.
func TestPlotErrorsOfSplits(t *testing.T) {
	for _, split := range [][]string{{"--groups", "3"}, {"--per-node"}, nil} {
		dir := filepath.Join(t.TempDir(), "out")
		m := optimizeJSON(t, append([]string{"--graph", "florentine", "--T", "12", "-k", "3", "--no-baselines", "-o",
			dir}, split...)...)
		e, err := export.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		v := &verification{flags: &verifyFlags{}, export: e}
		if v.schema, err = e.Manifest.Participation.Of(m.Steps); err != nil {
			t.Fatal(err)
		}
		n, known, err := v.networkOf()
		if err != nil || !known {
			t.Fatal(known, err)
		}
		var errors []float64
		if split != nil {
			errors, err = layerErrors(t.Context(), v, n)
		} else {
			c, errC := e.NodeStrategy(0)
			k, errK := v.kernel(t.Context(), n)
			if errC != nil || errK != nil {
				t.Fatal(errC, errK)
			}
			errors, err = scaledErrors(c, k, v)
		}
		if err != nil {
			t.Fatal(err)
		}
		var sum float64
		for _, y := range (stepCurve{"", errors}).curve(n.Graph.Nodes()).Y {
			sum += y * y
		}
		if got := math.Sqrt(sum / float64(m.Steps)); !near(got, m.RMSE, 1e-10) {
			t.Errorf("%v: RMSE %v is drawn, the manifest says %v", split, got, m.RMSE)
		}
	}
}

// What plot refuses leaves no file: neither where a picture is in the way nor where the network is another one.
func TestPlotLeavesNothing(t *testing.T) {
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
		"new")); code != 0 || strings.Count(out, "written") != 8 {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
}
