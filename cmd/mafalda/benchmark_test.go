package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mafalda/benchmarks"
)

// A benchmark leaves table, CSV, JSON and figures, and goes on with what it finds.
func TestBenchmarkCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bench")
	args := []string{"benchmark", "--graph", "cycle:5", "--only", "--T", "24", "-k", "3", "-o", dir}
	code, out, errs := mafalda(args...)
	if code != 0 || errs != "" || !strings.Contains(out, "banded 2b") || !strings.Contains(out, "cycle:5") {
		t.Fatalf("code %d, %s%s", code, out, errs)
	}
	for _, name := range []string{"benchmark.csv", "benchmark.json", "excess-k3-b8.png", "excess-k3-b8.svg"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() < 100 {
			t.Errorf("%s: %v", name, err)
		}
	}
	path := filepath.Join(dir, "benchmark.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows benchmarkRows
	if err := json.Unmarshal(text, &rows); err != nil || len(rows.Rows) != len(benchmarks.Strategies()) {
		t.Fatalf("%d rows, %v", len(rows.Rows), err)
	}
	rows.Rows[1].Seconds = 1234567 // a mark that survives only if the row is not measured again
	rows.Rows = rows.Rows[:4]
	if text, err = json.Marshal(rows); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	code, out, errs = mafalda(append(args, "--json")...)
	var again benchmarkRows
	if err := json.Unmarshal([]byte(out), &again); code != 0 || err != nil || len(again.Rows) != len(benchmarks.Strategies()) || again.Rows[1].Seconds != 1234567 {
		t.Errorf("code %d, %v, %s", code, err, errs)
	}
	for name, tc := range map[string]struct {
		args []string
		say  string
	}{
		"another gossip": {append(args, "--gossip", "laplacian"), "choose another folder"},
		"another seed":   {append(args, "--seed", "3"), "choose another folder"},
		"nothing":        {[]string{"benchmark", "--only"}, "nothing to measure"},
		"bad graph":      {[]string{"benchmark", "--only", "--graph", "nowhere"}, "neither a file"},
		"gossip matrix":  {[]string{"benchmark", "--gossip-matrix", "w.npy"}, "one graph only"},
		"k without T":    {[]string{"benchmark", "-k", "3"}, "T = 0"},
	} {
		if code, _, errs := mafalda(tc.args...); code != 2 || !strings.Contains(errs, tc.say) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: code %d, %s", name, code, errs)
		}
	}
	if err := os.WriteFile(path, []byte("hello"), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := mafalda(args...); code != 2 || !strings.Contains(errs, "not a benchmark") {
		t.Errorf("garbled rows: code %d, %s", code, errs)
	}
}

func TestPlotCommand(t *testing.T) {
	dir, pictures := filepath.Join(t.TempDir(), "out"), t.TempDir()
	optimizeJSON(t, "--graph", "cycle:5", "--T", "12", "-k", "3", "--strategy", "blt", "--buffers", "2", "--no-dense", "--no-baselines", "-o", dir)
	code, out, errs := mafalda("plot", dir, "-o", pictures)
	if code != 0 || strings.Count(out, "written") != 8 {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
	if code, _, errs = mafalda("plot", dir, "-o", pictures); code != 2 || !strings.Contains(errs, "--force") {
		t.Errorf("over pictures: code %d, %s", code, errs)
	}
	if code, _, errs = mafalda("plot", pictures); code != 2 || !strings.Contains(errs, "no export here") {
		t.Errorf("of no export: code %d, %s", code, errs)
	}
}
