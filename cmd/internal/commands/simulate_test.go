package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mafalda/simulate"
)

// simulateJSON runs a simulation and returns its rows by method and mu.
func simulateJSON(t *testing.T, args ...string) map[simulate.Cell]simulate.Row {
	t.Helper()
	code, out, errs := mafalda(append([]string{"simulate", "--json"}, args...)...)
	var got struct{ Rows []simulate.Row }
	if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil {
		t.Fatalf("%v: code %d, %v, %s", args, code, err, errs)
	}
	rows := map[simulate.Cell]simulate.Row{}
	for _, r := range got.Rows {
		c := simulate.Cell{Method: r.Method}
		if r.Mu != nil {
			c.Mu = *r.Mu
		}
		rows[c] = r
	}
	return rows
}

// An interrupted simulation keeps its runs.
func TestSimulateInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := filepath.Join(t.TempDir(), "sim")
	var out, errs bytes.Buffer
	code := run(ctx, []string{"simulate", "--methods", "none", "-o", dir}, &out, &errs)
	if code != 130 || !strings.Contains(errs.String(), "none of 10 runs is finished, and nothing is written") {
		t.Errorf("code %d, %s", code, errs.String())
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("there is a folder")
	}
}
