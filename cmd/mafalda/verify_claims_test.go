package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// Two keys that differ in case, of which Python takes the first and encoding/json the last, are refused by whatever
// reads an export.
func TestTwoNoiseLevels(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, "--graph", "path:4", "--T", "6", "-k", "2", "--mu", "1", "-o", dir)
	path := filepath.Join(dir, "manifest.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	two := strings.Replace(string(text), `"noise_std": `, `"noise_std": 0.001, "NOISE_STD": `, 1)
	if err := os.WriteFile(path, []byte(two), 0o600); err != nil || two == string(text) {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"verify", dir}, {"noise", dir, "--node", "0", "--dim", "2", "--steps", "1"},
		{"plot", dir, "-o", t.TempDir()}} {
		if code, out, errs := mafalda(args...); code != 2 || out != "" || !strings.Contains(errs,
			"differ in case only") && args[0] != "noise" {
			t.Errorf("%v: code %d, %s%s", args, code, out, errs)
		}
	}
}

// What verify cannot know it lists: without the network's file all that depends on it, with a hint how to name it;
// and what does not hold it says in words.
func TestVerifySays(t *testing.T) {
	edges := writeFile(t, "g.edges", "a b\nb c\nc d\n")
	dir := filepath.Join(t.TempDir(), "out")
	if code, out, _ := mafalda("optimize", "--graph", edges, "--T", "6", "-k", "2", "-o", dir); code != 0 ||
		!strings.Contains(out, "check it with: mafalda verify "+dir+" --graph "+edges) {
		t.Errorf("code %d\n%s", code, out)
	}
	verdict := func(args ...string) (code int, checks []check, notChecked []string) {
		code, out, _ := mafalda(append([]string{"verify", "--json", dir}, args...)...)
		var v struct {
			Checks     []check  `json:"checks"`
			NotChecked []string `json:"not_checked"`
		}
		if err := json.Unmarshal([]byte(out), &v); err != nil {
			t.Fatal(err)
		}
		return code, v.Checks, v.NotChecked
	}
	code, _, not := verdict("--graph", edges)
	if want := []string{"version", "privacy", "graph.source", "tolerance", "iterations", "status", "history",
		"seconds", "peak_bytes"}; code != 0 || !slices.Equal(not, want) {
		t.Errorf("code %d, not checked: %v, want %v", code, not, want)
	}
	if code, _, not = verdict(); code != 0 || !slices.Contains(not, "loss") || !slices.Contains(not, "lower_bound") ||
		!slices.Contains(not, "baselines") {
		t.Errorf("without the file: code %d, not checked: %v", code, not)
	}
	if _, out, _ := mafalda("verify", dir); !strings.Contains(out, "--graph FILE (it was g.edges)") ||
		!strings.Contains(out, "not checked: version, ") {
		t.Errorf("without the file:\n%s", out)
	}
	text, manifest := readGeneric(t, dir)
	manifest["rmse"] = json.Number("7")
	writeGeneric(t, dir, manifest)
	if code, out, errs := mafalda("verify", dir); code != 1 || !strings.Contains(out, "FAILED  arithmetic") ||
		!strings.Contains(out, "; the manifest says 7") {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "C.npz"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	code, checks, _ := verdict("--graph", edges)
	extra := slices.IndexFunc(checks, func(c check) bool { return c.Name == "extra files" })
	if code != 1 || extra < 0 || checks[extra].OK || !strings.Contains(checks[extra].Detail, "C.npz") {
		t.Errorf("an extra file: code %d, %+v", code, checks)
	}
}

// A network that the export is not for is refused, not ignored.
func TestVerifyNetworkOfPrefix(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, "--workload", "prefix", "--T", "6", "-k", "2", "-o", dir)
	if code, _, errs := mafalda("verify", dir, "--graph", "florentine"); code != 2 || !strings.Contains(errs,
		"leave out --graph") {
		t.Errorf("code %d, %s", code, errs)
	}
}

// Many steps need no matrices: verify asked for 2 TB of memory for 100,000 of them. Nor does an export of parameters
// for the prefix workload have any file beside its manifest, which was refused for listing none.
func TestVerifyManySteps(t *testing.T) {
	const steps = 100000
	inverse, err := strategy.NewBandedInverse(steps, []float64{1, -0.5})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := participation.NewCyclic(steps, 1, steps)
	if err != nil {
		t.Fatal(err)
	}
	c, err := factorize.Normalize(inverse, schema)
	if err != nil {
		t.Fatal(err)
	}
	gram := &export.Gram{Method: "exact"}
	responses, _, err := responsesBy(t.Context(), gram, nil, workload.Prefix, nil)
	if err != nil {
		t.Fatal(err)
	}
	q, err := factorize.Evaluate(c, factorize.Long(responses), schema)
	if err != nil {
		t.Fatal(err)
	}
	m := &export.Manifest{Workload: "prefix", Steps: steps, Gram: gram,
		Participation: export.DescribeSchema("", schema), Strategy: export.Describe(c),
		SensSquared: q.Sensitivity.Squared, SensKind: q.Sensitivity.Kind(), SquaredError: q.SquaredError,
		Loss: q.Loss, RMSE: q.RMSE(1, steps),
		Status: "converged"}
	dir := filepath.Join(t.TempDir(), "out")
	if err := export.WriteDir(dir, m, nil, export.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := mafalda("verify", dir); code != 0 || !strings.Contains(out, "ok      loss") {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
}
