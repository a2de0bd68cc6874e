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

// A study that goes on has the numbers of a fresh one, also without a cell; a damaged cell is named, and computed again when it is gone.
func TestSimulateGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sim")
	study := func(more ...string) map[simulate.Cell]simulate.Row {
		t.Helper()
		return simulateJSON(t, append(strings.Fields("--graph path:3 --T 8 -k 2 --task records=30 --mu 1 --methods none,dp-d-sgd"), more...)...)
	}
	study("--seeds", "1", "-o", dir)
	fresh := study("--seeds", "2")
	cells, err := filepath.Glob(filepath.Join(dir, "cells", "*.json"))
	if err != nil || len(cells) != 2 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	if err := os.WriteFile(cells[0], []byte("hello"), 0o666); err != nil {
		t.Fatal(err)
	}
	args := strings.Fields("simulate --graph path:3 --T 8 -k 2 --task records=30 --mu 1 --methods none,dp-d-sgd --seeds 2 -o")
	if code, _, errs := mafalda(append(args, dir)...); code == 0 || !strings.Contains(errs, cells[0]+" is damaged") {
		t.Errorf("a damaged cell: code %d, %s", code, errs)
	}
	if err := os.Remove(cells[0]); err != nil {
		t.Fatal(err)
	}
	for c, r := range study("--seeds", "2", "-o", dir) {
		if r.Seeds != 2 || *r.Mean != *fresh[c].Mean || *r.Full != *fresh[c].Full {
			t.Errorf("%v: %v of %d seeds resumed, %v afresh", c, *r.Mean, r.Seeds, *fresh[c].Mean)
		}
	}
}
