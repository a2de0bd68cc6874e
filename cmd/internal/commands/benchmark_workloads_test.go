package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mafalda/benchmarks"
)

// A benchmark of workloads leaves table, CSV, JSON, figures and sequences of networks, and goes on with what it finds.
func TestBenchmarkWorkloads(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "trained")
	args := []string{"benchmark", "--workloads", "--graph", "cycle:5", "--T", "16", "-k", "2", "-o", dir}
	code, out, errs := mafalda(args...)
	if code != 0 || errs != "" || !strings.Contains(out, "cycle:5, 5 nodes, T = 16, k = 2, b = 8") ||
		!strings.Contains(out, "momentum 0.9, warm-up + cosine") || strings.Contains(out, "florentine") {
		t.Fatalf("code %d, %s%s", code, out, errs)
	}
	for _, pattern := range []string{"workloads.csv", "workloads.json", "workloads-k2-b8.png", "workloads-k2-b8.svg",
		"matchings-*.edges"} {
		if found, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || len(found) != 1 {
			t.Errorf("%s: %v, %v", pattern, found, err)
		}
	}
	cells, err := filepath.Glob(filepath.Join(dir, "cells", "*.json"))
	if err != nil || len(cells) != 17 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	for _, lost := range cells[2:] {
		if err := os.Remove(lost); err != nil {
			t.Fatal(err)
		}
	}
	before := modified(t, cells[1])
	code, out, errs = mafalda(append(args, "--json")...)
	var again benchmarks.Table
	if err := json.Unmarshal([]byte(out), &again); code != 0 || err != nil || len(again.Rows) != 17 ||
		modified(t, cells[1]) != before || again.Rows[0].Workload != "plain" || again.Rows[0].PlainExcess > 1e-6 {
		t.Errorf("code %d, %v, %s", code, err, errs)
	}
	for name, tc := range map[string]struct {
		args []string
		say  string
	}{
		"another seed": {append(args, "--seed", "3"), "seed is 0 there and 3 here"},
		"other study":  {[]string{"benchmark", "--only", "--graph", "cycle:5", "-o", dir}, "benchmark"},
		"few steps": {[]string{"benchmark", "--workloads", "--T", "4", "-k", "2"},
			"--T 4: the workloads compared have 8"},
		"privacy":       {[]string{"benchmark", "--workloads", "--epsilon", "2"}, "--workloads and --epsilon: only one of them"},
		"nothing":       {[]string{"benchmark", "--workloads", "--only"}, "nothing to measure"},
		"bad graph":     {[]string{"benchmark", "--workloads", "--graph", "nowhere"}, "neither a file"},
		"gossip matrix": {[]string{"benchmark", "--workloads", "--gossip", "w.npy"}, "one graph only"},
	} {
		if code, _, errs := mafalda(tc.args...); code != 2 || !strings.Contains(errs, tc.say) ||
			strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: code %d, %s", name, code, errs)
		}
	}
	code, _, errs = mafalda("benchmark", "--workloads", "--graph", "star:4", "--gossip", "metropolis", "--T", "8",
		"-k", "1")
	if code != 0 || !strings.Contains(errs, "nodes fail 0.1 is left out") {
		t.Errorf("uneven gossip: code %d, %s", code, errs)
	}
}
