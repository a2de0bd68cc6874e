package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mafalda/benchmarks"
	"mafalda/cmd/internal/terminal"
)

// A benchmark leaves table, CSV, JSON and figures, and goes on with what it finds.
func TestBenchmarkCommand(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "bench")
	args := []string{"benchmark", "--graph", "cycle:5", "--only", "--T", "24", "-k", "3", "-o", dir}
	code, out, errs := mafalda(args...)
	if code != 0 || errs != "" || !strings.Contains(out, "banded 2b") || !strings.Contains(out, "cycle:5") ||
		!strings.Contains(out, "dp-d-sgd, poisson") || !strings.Contains(out, "ε = 0.5") {
		t.Fatalf("code %d, %s%s", code, out, errs)
	}
	for _, name := range []string{"benchmark.csv", "benchmark.json", "excess-k3-b8.png", "excess-k3-b8.svg"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() < 100 {
			t.Errorf("%s: %v", name, err)
		}
	}
	path := filepath.Join(dir, "benchmark.json")
	rows := benchmarkOf(t, path)
	cells, err := filepath.Glob(filepath.Join(dir, "cells", "*.json"))
	if err != nil || len(cells) != len(benchmarks.Strategies()) || len(rows) != len(cells) {
		t.Fatalf("%d cells, %d rows, %v", len(cells), len(rows), err)
	}
	for _, lost := range cells[4:] {
		if err := os.Remove(lost); err != nil {
			t.Fatal(err)
		}
	}
	before := modified(t, cells[1])
	code, out, errs = mafalda(append(args, "--json")...)
	var again benchmarks.Table
	if err := json.Unmarshal([]byte(out), &again); code != 0 || err != nil || len(again.Rows) != len(rows) ||
		modified(t, cells[1]) != before {
		t.Errorf("code %d, %v, %s", code, err, errs)
	}
	for i, r := range again.Rows {
		if want := rows[i]; r.Strategy != want.Strategy || r.Loss != want.Loss || r.Ratio != want.Ratio ||
			r.LowerBound != want.LowerBound {
			t.Errorf("%+v again, %+v before", r, want)
		}
	}
	for name, tc := range map[string]struct {
		args []string
		say  string
	}{
		"another gossip": {append(args, "--gossip", "laplacian"), "gossip is uniform there and laplacian here"},
		"another seed":   {append(args, "--seed", "3"), "seed is 0 there and 3 here"},
		"other levels":   {append(args, "--epsilon", "1,4"), "epsilon is [0.5 2 8] there and [1 4] here"},
		"bad level":      {append(args, "--epsilon", "1,-4"), "--epsilon -4: must be positive"},
		"a level twice":  {append(args, "--epsilon", "1,1"), "--epsilon 1 is there twice"},
		"bad delta":      {append(args, "--delta", "1"), "--delta 1: must be above 0 and below 1"},
		"out of reach":   {append(args, "--epsilon", "1e-9", "--delta", "1e-12"), "is out of reach"},
		"nothing":        {[]string{"benchmark", "--only"}, "nothing to measure"},
		"bad graph":      {[]string{"benchmark", "--only", "--graph", "nowhere"}, "neither a file"},
		"gossip matrix":  {[]string{"benchmark", "--gossip", "w.npy"}, "one graph only"},
		"k without T":    {[]string{"benchmark", "-k", "3"}, "T = 0"},
	} {
		if code, _, errs := mafalda(tc.args...); code != 2 || !strings.Contains(errs, tc.say) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: code %d, %s", name, code, errs)
		}
	}
	if err := os.WriteFile(cells[0], []byte("hello"), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := mafalda(args...); code != 2 || !strings.Contains(errs, "is damaged") ||
		strings.Count(errs, "\n") != 1 {
		t.Errorf("a garbled row: code %d, %s", code, errs)
	}
}

func benchmarkOf(t *testing.T, path string) []benchmarks.Row {
	t.Helper()
	var rows benchmarks.Table
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &rows)
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows.Rows
}

// Another graph, whether beside the others or alone, loses no row, and CSV and JSON have the same ones.
func TestBenchmarkKeepsRows(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "bench")
	one, two := writeFile(t, "g.edges", "a b\nb c\n"), writeFile(t, "g.edges", "a b\nb c\nc d\n")
	for i, graphs := range [][]string{{"cycle:5"}, {one}, {two, "cycle:5"}, {"path:3"}} {
		args := []string{"benchmark", "--only", "--T", "6", "-k", "2", "-q", "-o", dir}
		for _, g := range graphs {
			args = append(args, "--graph", g)
		}
		if code, _, errs := mafalda(args...); code != 0 {
			t.Fatalf("code %d, %s", code, errs)
		}
		want := (i + 1) * len(benchmarks.Strategies())
		if rows, lines := benchmarkOf(t, filepath.Join(dir, "benchmark.json")), linesOf(t, filepath.Join(dir,
			"benchmark.csv")); len(rows) != want || lines != want+1 {
			t.Errorf("after %v: %d rows in JSON, %d lines of CSV, want %d rows", graphs, len(rows), lines, want)
		}
	}
	if code, out, _ := mafalda("benchmark", "--only", "--T", "6", "-k", "2", "-o", dir, "--graph", one,
		"--graph", two); code != 0 || strings.Count(out, "g.edges#") != 6 {
		t.Errorf("two files of one name: code %d\n%s", code, out)
	}
	if code, _, errs := mafalda("benchmark", "--only", "--T", "6", "-k", "2", "-o", dir, "--graph",
		"directed:"+one); code != 2 ||
		!strings.Contains(errs, "directed is false there and true here") {
		t.Errorf("resumed with a direction: code %d, %s", code, errs)
	}
}

// No command leaves its files in an export, which would not verify any more: average and partpsp did, and plot, for
// which the current folder is the default.
func TestNothingElseInAnExport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, "--graph", "cycle:5", "--T", "12", "-k", "3", "--no-baselines", "-o", dir)
	t.Chdir(dir)
	for _, args := range []string{"plot .", "plot . --force", "average --graph cycle:5 -o .", "partpsp -o .", "graph cycle:5 -o . --force"} {
		if code, _, errs := mafalda(strings.Fields(args)...); code != terminal.ExitUsage || !strings.Contains(errs, "is an export") {
			t.Errorf("%s: code %d, %s", args, code, errs)
		}
	}
	if code, out, errs := mafalda("verify", "."); code != 0 {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
}
