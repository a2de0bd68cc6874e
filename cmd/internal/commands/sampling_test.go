package commands

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mafalda/cmd/internal/results"
)

// The table, the JSON, the CSV and the picture are of the same numbers, which optimize finds, too.
func TestSamplingCommand(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sampling")
	args := []string{"sampling", "--graph", "path:3", "--T", "4", "-k", "2", "--epsilon", "16,1"}
	code, out, errs := mafalda(append(args, "-o", dir, "--json")...)
	if code != 0 || strings.Contains(errs, "mafalda:") || !strings.HasPrefix(out, "{") {
		t.Fatalf("code %d, %s%s", code, out, errs)
	}
	var r results.SamplingResult
	text, err := os.ReadFile(filepath.Join(dir, "sampling.json"))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil || len(r.Rows) != 2 || r.Rows[0].Epsilon != 1 || r.Graph.Source != "path:3" ||
		r.Separation != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, row := range r.Rows {
		m := optimizeJSON(t, "--no-baselines", "--graph", "path:3", "--T", "4", "-k", "2", "--sampling", "poisson", "--delta", "1e-6",
			"--epsilon", map[float64]string{1: "1", 16: "16"}[row.Epsilon])
		if best := row.Best; best.Bands != m.Sampling.Groups ||
			math.Abs(best.Error-m.ErrorAtPrivacy) > 2e-5*best.Error ||
			math.Abs(row.Cyclic-m.CyclicErrorAtPrivacy) > 2e-6*m.CyclicErrorAtPrivacy {
			t.Errorf("%+v, optimize: %+v", row, m.Sampling)
		}
		if b := row.Bins; b == nil || b.Error < row.BinsLowerBound || b.Failure > 1e-9 || b.Ratio != b.Error/row.Cyclic {
			t.Errorf("random bins: %+v, bound %v", b, row.BinsLowerBound)
		}
		for _, at := range row.Bands {
			if at.Ratio != at.Error/row.Cyclic || at.Error < row.Best.Error {
				t.Errorf("%+v, best %+v", at, row.Best)
			}
		}
	}
	lines, err := os.ReadFile(filepath.Join(dir, "sampling.csv"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(strings.NewReader(string(lines))).ReadAll()
	best := 0
	for _, line := range table {
		if line[7] == "true" {
			best++
		}
	}
	if err != nil || best != 2 || len(table) < 1+2*2 {
		t.Errorf("%v, %v", table, err)
	}
	for _, name := range []string{"sampling.png", "sampling.svg"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() < 1000 || info.Size() > 200_000 {
			t.Errorf("%s: %v", name, err)
		}
	}
	picture, err := os.ReadFile(filepath.Join(dir, "sampling.svg"))
	for _, curve := range []string{"Poisson, best number of bands", "allocation, best number of bands", "bound for Poisson alone", "bound for bins alone"} {
		if err != nil || !strings.Contains(string(picture), curve) {
			t.Errorf("no curve %q in the picture, %v", curve, err)
		}
	}
	if code, _, errs := mafalda(append(args, "-o", dir)...); code != 2 || !strings.Contains(errs, "--force") {
		t.Errorf("over files: code %d, %s", code, errs)
	}
}
