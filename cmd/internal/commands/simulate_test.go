package commands

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// A simulation leaves runs, table and figures; what is there is not run again, and levels and seeds can be added.
func TestSimulateGoesOn(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sim")
	args := []string{"simulate", "--graph", "cycle:4", "--T", "12", "-k", "3", "--task", "records=200", "--methods",
		"none,dp-d-sgd,mafalda", "--seeds", "2", "-o", dir}
	code, out, errs := mafalda(append(slices.Clone(args), "--mu", "1,0.5")...)
	if code != 0 || errs != "" || !strings.Contains(out, "below dp-d-sgd") && !strings.Contains(out, "above dp-d-sgd") {
		t.Fatalf("code %d, %s%s", code, out, errs)
	}
	for _, name := range []string{"runs.json", "simulate.csv", "loss-mu0.5.png", "loss-mu1.svg", "privacy-utility.png"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() < 100 {
			t.Errorf("%s: %v", name, err)
		}
	}
	f, err := os.Open(filepath.Join(dir, "simulate.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if lines, err := csv.NewReader(f).ReadAll(); err != nil || len(lines) != 1+1+2*2 {
		t.Errorf("%d lines, %v", len(lines), err)
	}
	var kept struct{ Runs []simulate.Result }
	text, err := os.ReadFile(filepath.Join(dir, "runs.json"))
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil || len(kept.Runs) != 2+2*2*2 || !bytes.Contains(text, []byte(`"simulated":true,"note":"simulated, not private"`)) {
		t.Fatalf("%d runs, %v", len(kept.Runs), err)
	}
	cells, err := filepath.Glob(filepath.Join(dir, "cells", "*.json"))
	if err != nil || len(cells) != len(kept.Runs) {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	before := modified(t, cells[1])
	if err := os.Remove(cells[0]); err != nil { // one is missing
		t.Fatal(err)
	}
	args = append(args, "--seeds", "3", "--mu", "0.5,3")
	rows := simulateJSON(t, args[1:]...)
	if len(rows) != 1+2*2 || modified(t, cells[1]) != before || rows[simulate.Cell{Method: "none"}].Seeds != 3 {
		t.Errorf("%+v", rows)
	}
	if lines := linesOf(t, filepath.Join(dir, "simulate.csv")); lines != 1+1+3*2 { // mu = 1 stays
		t.Errorf("simulate.csv has %d lines", lines)
	}
	fresh := simulateJSON(t, append(slices.Clone(args[1:len(args)-6]), "--seeds", "3", "--mu", "0.5,3")...)
	for c, r := range rows {
		if *r.Mean != *fresh[c].Mean || *r.Full != *fresh[c].Full {
			t.Errorf("%v: %v resumed, %v afresh", c, *r.Mean, *fresh[c].Mean)
		}
	}
	if code, _, errs := mafalda(append(args, "--clip", "2")...); code != 2 ||
		!strings.Contains(errs, "clip is 1 there and 2 here") {
		t.Errorf("other settings: code %d, %s", code, errs)
	}
	if code, _, errs := mafalda(append(args, "--clip", "2", "--force")...); code != 0 {
		t.Errorf("other settings, with force: code %d, %s", code, errs)
	}
	if err := os.WriteFile(filepath.Join(dir, "study.json"), []byte("hello"), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := mafalda(args...); code != 2 || strings.Count(errs, "\n") != 1 {
		t.Errorf("over a damaged study: code %d, %s", code, errs)
	}
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

// Strategies of single nodes are for the nodes of one network: another network's are refused, whatever their
// number, and the same nodes in another order have theirs by their labels.
func TestSimulatePerNodeNetworks(t *testing.T) {
	edges := writeFile(t, "e.edges", "a b\nb c\nc d\nd e\n")
	star, renamed := writeFile(t, "e.edges", "a b\na c\na d\na e\n"), writeFile(t, "e.edges", "a b\nb c\nc d\nd f\n")
	run := []string{"--T", "12", "-k", "3", "--task", "records=200", "--mu", "0.5", "--seeds", "1", "--methods"}
	for _, split := range [][]string{{"--strategy", "per-node"}, {"--strategy", "groups=2"}} {
		dir := filepath.Join(t.TempDir(), "nodes")
		optimizeJSON(t, append([]string{"--graph", edges, "--T", "12", "-k", "3", "--no-baselines", "-o", dir}, split...)...)
		key := simulate.Cell{Method: dir, Mu: 0.5}
		same := simulateJSON(t, append([]string{"--graph", edges}, append(run, dir)...)...)[key]
		if same.Mean == nil {
			t.Fatalf("%v: no row", split)
		}
		for other, say := range map[string]string{star: "degree", renamed: "no node", "path:5": "no node"} {
			code, _, errs := mafalda(append([]string{"simulate", "--graph", other}, append(run, dir)...)...)
			if code != 2 || !strings.Contains(errs, "another network") || !strings.Contains(errs, say) ||
				strings.Count(errs, "\n") != 1 {
				t.Errorf("%v on %s: code %d, %s", split, other, code, errs)
			}
		}
		if code, _, errs := mafalda(append([]string{"simulate", "--graph", edges, "--gossip", "metropolis"},
			append(run, dir)...)...); code != 2 ||
			!strings.Contains(errs, "other gossip") {
			t.Errorf("%v with other gossip: code %d, %s", split, code, errs)
		}
	}
}

// Exports are methods, for the participation that they were made for; with an exported optimum results are those
// of mafalda.
func TestSimulateExports(t *testing.T) {
	network := []string{"--graph", "path:4", "--T", "12", "-k", "3"}
	dense, perNode, single := filepath.Join(t.TempDir(), "dense"), filepath.Join(t.TempDir(), "nodes"), filepath.Join(t.TempDir(), "single")
	optimizeJSON(t, append(network, "--no-baselines", "-o", dense)...)
	optimizeJSON(t, append(network, "--no-baselines", "--strategy", "per-node", "-o", perNode)...)
	optimizeJSON(t, "--graph", "path:4", "--T", "12", "-k", "1", "--no-baselines", "-o", single)
	args := append([]string{"--task", "records=200", "--mu", "0.5", "--seeds", "2"}, network...)
	rows := simulateJSON(t, append(args, "--methods", strings.Join([]string{"mafalda-uncurved", dense, perNode}, ","))...)
	if a, b := rows[simulate.Cell{Method: "mafalda-uncurved", Mu: 0.5}], rows[simulate.Cell{Method: dense, Mu: 0.5}]; !near(*a.Mean, *b.Mean, 1e-5) {
		t.Errorf("%v, from the export %v", *a.Mean, *b.Mean)
	}
	if a, b := rows[simulate.Cell{Method: "mafalda-uncurved", Mu: 0.5}], rows[simulate.Cell{Method: perNode, Mu: 0.5}]; near(*a.Mean, *b.Mean, 1e-9) {
		t.Errorf("strategies of single nodes do what the shared one does: %v", *b.Mean)
	}
	damaged := filepath.Join(t.TempDir(), "damaged")
	optimizeJSON(t, append(network, "--no-baselines", "-o", damaged)...)
	if err := os.WriteFile(filepath.Join(damaged, "nodes.csv"), []byte("index,label,degree\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		say  string
	}{
		"fewer participations": {append(args, "--methods", single), "participation violated"},
		"another T":            {[]string{"--graph", "path:4", "--T", "24", "-k", "3", "--methods", dense}, "use --T 12"},
		"closer than b":        {[]string{"--graph", "path:4", "--T", "12", "-k", "6", "--methods", dense}, "participation violated"},
		"more nodes": {[]string{"--graph", "path:5", "--T", "12", "-k", "3", "--methods", perNode},
			"for another network: path:4"},
		"damaged":   {append(args, "--methods", damaged), "SHA-256"},
		"no method": {append(args, "--methods", "dpsgd"), "nor a folder"},
		"no export": {append(args, "--methods", t.TempDir()), "no export here"},
	} {
		code, _, errs := mafalda(append([]string{"simulate"}, tc.args...)...)
		if code != 2 || !strings.Contains(errs, tc.say) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: code %d, %s", name, code, errs)
		}
	}
	if code, out, errs := mafalda("simulate", "--graph", "cycle:4", "--T", "12", "-k", "3", "--task", "records=200", "--methods", dense, "--seeds", "1"); code != 0 ||
		!strings.Contains(errs, "another network") || !strings.Contains(out, dense) {
		t.Errorf("on another network: code %d, %s%s", code, out, errs)
	}
}

func TestSimulateBadInput(t *testing.T) {
	housing := writeFile(t, "cal_housing.data", "1,2,3\n")
	for name, tc := range map[string]struct {
		args []string
		say  string
	}{
		"no data":           {[]string{"--task", "housing"}, "cal_housing.tgz"},
		"missing data":      {[]string{"--task", "housing", "--task", "data=nowhere.data"}, "cal_housing.tgz"},
		"wrong data":        {[]string{"--task", "housing", "--task", "data=" + housing}, "line 1"},
		"no folder":         {[]string{"--task", "mnist"}, "train-images-idx3-ubyte"},
		"data for linear":   {[]string{"--task", "data=" + housing}, "leave out data"},
		"unknown task":      {[]string{"--task", "cifar"}, "--task cifar: choose linear"},
		"no seeds":          {[]string{"--seeds", "0"}, "at least 1"},
		"mu":                {[]string{"--mu", "0.5,-1"}, "--mu -1"},
		"mu that is none":   {[]string{"--mu", "NaN"}, "--mu NaN"},
		"mu and epsilon":    {[]string{"--mu", "1", "--epsilon", "1"}, "only one"},
		"delta":             {[]string{"--delta", "1"}, "must be above 0 and below 1"},
		"few records":       {[]string{"--task", "records=100"}, "16 batches of 15 nodes"},
		"more than k times": {[]string{"--T", "40", "-k", "3", "-b", "4"}, "T must be at most k·b"},
		"k without room":    {[]string{"--T", "40", "-k", "41"}, "T = 40"},
		"huge":              {[]string{"--T", "2000000", "-k", "20"}, "memory"},
		"no graph":          {[]string{"--graph", "nowhere"}, "neither a file"},
		"rate":              {[]string{"--learning-rate", "0"}, "--learning-rate 0"},
		"sampling":          {[]string{"--sampling", "bernoulli"}, "choose cyclic, poisson, bins, allocation or truncated"},
		"poisson without":   {[]string{"--sampling", "poisson"}, "--epsilon is missing"},
		"poisson with mu":   {[]string{"--sampling", "poisson", "--mu", "1"}, "--mu 1: does not describe"},
		"poisson, dense":    {[]string{"--sampling", "poisson", "--epsilon", "1", "--methods", "d-mf"}, "more bands"},
		"poisson, replaced": {[]string{"--sampling", "poisson", "--epsilon", "1", "--adjacency", "replace-one"}, "only zero-out"},
		"many bands":        {[]string{"--sampling", "poisson", "--epsilon", "1", "--sampling", "bandwidth=17"}, "at most b = 16"},
		"bins, others":      {[]string{"--sampling", "bins", "--epsilon", "1", "--methods", "d-mf"}, "is not compared there"},
		"bins with mu":      {[]string{"--sampling", "bins", "--mu", "1"}, "--mu 1: does not describe"},
		"more bands":        {[]string{"--sampling", "bins", "--epsilon", "1", "--sampling", "bandwidth=321"}, "at most T = 320"},
		"no bands":          {[]string{"--sampling", "poisson", "--epsilon", "1", "--sampling", "bandwidth=0"}, "at least 1"},
		"bands of cyclic":   {[]string{"--sampling", "bandwidth=2"}, "--sampling bandwidth 2"},
		"no noise does it": {[]string{"--sampling", "poisson", "--epsilon", "1e-12", "--delta", "1e-12", "--methods", "dp-d-sgd"},
			"no noise meets"},
	} {
		code, out, errs := mafalda(append([]string{"simulate"}, tc.args...)...)
		if code != 2 || out != "" || !strings.Contains(errs, tc.say) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: code %d, %s", name, code, errs)
		}
	}
}

// Batches drawn in secret are another study, whose rows say so, and which goes on as any other. Exports with bands are
// methods, each with groups for its bands; dense ones are refused.
func TestSimulatePoisson(t *testing.T) {
	t.Parallel()
	network := []string{"--graph", "cycle:4", "--T", "12", "-k", "3"}
	banded, dense := filepath.Join(t.TempDir(), "banded"), filepath.Join(t.TempDir(), "dense")
	optimizeJSON(t, append(network, "--no-baselines", "--strategy", "banded:bandwidth=2", "-o", banded)...)
	optimizeJSON(t, append(network, "--no-baselines", "-o", dense)...)
	dir := filepath.Join(t.TempDir(), "sim")
	args := append(network, "--task", "records=200", "--seeds", "2", "--sampling", "poisson", "--epsilon", "2,8", "-o", dir)
	code, out, errs := mafalda(append([]string{"simulate", "--methods", "none,dp-d-sgd,mafalda," + banded}, args...)...)
	if code != 0 || errs != "" || !strings.Contains(out, "sampling       poisson") || !strings.Contains(out, "bands") {
		t.Fatalf("code %d, %s%s", code, out, errs)
	}
	_, out, _ = mafalda(append([]string{"simulate", "--json", "--methods", "none,dp-d-sgd," + banded}, args...)...)
	var got struct{ Rows []simulate.Row }
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Rows) != 1+2*2 {
		t.Fatal(err, out)
	}
	for _, r := range got.Rows {
		noise := r.Method != "none"
		if r.Sampling != "poisson" || r.Mu != nil || (r.Epsilon != nil) != noise || (r.Multiplier > 0) != noise ||
			(r.Groups == 2) != (r.Method == banded) {
			t.Errorf("%+v", r)
		}
	}
	for _, name := range []string{"loss-epsilon2.png", "loss-epsilon8.svg", "privacy-utility.png"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() < 100 {
			t.Errorf("%s: %v", name, err)
		}
	}
	table, err := os.ReadFile(filepath.Join(dir, "simulate.csv"))
	if err != nil || !strings.Contains(string(table), "accuracy,learning_rate,excess,excess_standard_error,predicted_excess,sampling,groups,noise_multiplier,note\n") {
		t.Errorf("%v, %s", err, table)
	}
	cells, err := filepath.Glob(filepath.Join(dir, "cells", "*.json"))
	if err != nil || len(cells) != 2*(1+3*2) {
		t.Errorf("%d cells, %v", len(cells), err)
	}
	code, _, errs = mafalda(append([]string{"simulate", "--methods", dense}, args...)...)
	if code != 2 || !strings.Contains(errs, "12 bands, more than a node has batches (4)") {
		t.Errorf("a dense export: code %d, %s", code, errs)
	}
	args[slices.Index(args, "poisson")] = "cyclic"
	if code, _, errs = mafalda(append([]string{"simulate"}, args...)...); code != 2 ||
		!strings.Contains(errs, "sampling is gone") {
		t.Errorf("another sampling in the same folder: code %d, %s", code, errs)
	}
}

// Noise of an export for records that are replaced is no noise of a study of records that are there or not: it is
// calibrated anew, to what an export for them has.
func TestSimulateOfAnExportForOtherNeighbours(t *testing.T) {
	t.Parallel()
	network := []string{"--graph", "cycle:4", "--T", "12", "-k", "3", "--sampling", "poisson", "--epsilon", "4"}
	said, used := map[string]float64{}, map[string]float64{}
	for _, adjacency := range []string{"zero-out", "replace-one"} {
		dir := filepath.Join(t.TempDir(), adjacency)
		made := optimizeJSON(t, append(network, "--delta", "1e-6", "--adjacency", adjacency, "--strategy", "bandwidth=1", "--no-baselines", "-o", dir)...)
		code, out, errs := mafalda(append([]string{"simulate", "--json", "--task", "records=200", "--seeds", "1", "--methods", dir}, network...)...)
		var got struct{ Rows []simulate.Row }
		if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil || len(got.Rows) != 1 {
			t.Fatal(code, err, out, errs)
		}
		said[adjacency], used[adjacency] = made.Sampling.NoiseMultiplier, got.Rows[0].Multiplier
	}
	if !(said["replace-one"] > 1.1*said["zero-out"]) || used["zero-out"] != said["zero-out"] || used["replace-one"] != said["zero-out"] {
		t.Errorf("noise %v of the exports, %v in the study", said, used)
	}
}

// A run whose loss is not finite is reported with its step, kept, and left out of the means.
func TestSimulateDiverges(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sim")
	args := []string{"simulate", "--graph", "cycle:4", "--T", "12", "-k", "3", "--task", "records=200", "--methods", "dp-d-sgd,mafalda", "--mu", "1e-41,1", "--seeds", "2", "-o", dir}
	code, out, errs := mafalda(args...)
	if code != 0 || !strings.Contains(errs, "not finite after step") || !strings.Contains(out, "2 runs diverged") {
		t.Fatalf("code %d, %s%s", code, out, errs)
	}
	again := simulateJSON(t, args[1:]...)
	r := again[simulate.Cell{Method: "mafalda", Mu: 1e-41}]
	if r.Diverged != 2 || r.Mean != nil || r.Improvement != nil {
		t.Errorf("%+v", r)
	}
}

// Classifications report their accuracy beside the loss, in the table, the JSON, the CSV and the folder; regressions
// have none.
func TestSimulateAccuracy(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sim")
	args := []string{"simulate", "--graph", "cycle:4", "--T", "24", "-k", "3", "--task", "records=400", "--methods", "none,dp-d-sgd",
		"--seeds", "2", "--mu", "1"}
	if code, out, errs := mafalda(args...); code != 0 || strings.Contains(out, "accuracy") {
		t.Errorf("regression: code %d, %s%s", code, out, errs)
	}
	args = append(args, "--task", "logistic", "-o", dir)
	code, out, errs := mafalda(args...)
	if code != 0 || !strings.Contains(out, "accuracy") || strings.Count(out, " %") < 2 {
		t.Fatalf("code %d, %s%s", code, out, errs)
	}
	_, again, _ := mafalda(append(args, "--json")...) // from what is kept
	var result struct{ Rows []simulate.Row }
	if err := json.Unmarshal([]byte(again), &result); err != nil || len(result.Rows) != 2 {
		t.Fatal(err, again)
	}
	table, err := os.ReadFile(filepath.Join(dir, "simulate.csv"))
	for _, r := range result.Rows {
		if r.Accuracy == nil || *r.Accuracy < 0.3 || *r.Accuracy > 0.95 || // four classes
			!strings.Contains(out, fmt.Sprintf("%.1f %%", 100**r.Accuracy)) ||
			err != nil || !strings.Contains(string(table), strconv.FormatFloat(*r.Accuracy, 'g', 17, 64)+`,,,,,"simulated`) {
			t.Errorf("%s: accuracy %v, %v in\n%s%s", r.Method, r.Accuracy, err, out, table)
		}
	}
}

// With --tune every method has a rate of its own, and more rates can be added to a folder; other folders are others'.
func TestSimulateTunes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sim")
	args := strings.Fields("simulate --graph cycle:4 --T 12 -k 3 --task records=200 --methods none,dp-d-sgd,mafalda --seeds 2 --mu 1000 --clip 100")
	args = append(args, "-o", dir)
	code, out, errs := mafalda(append(slices.Clone(args), "--tune=0.001,2")...)
	if code != 0 || errs != "" || !strings.Contains(out, "rate of 5e-05, 0.1,") || !strings.Contains(out, "not paid for in privacy") ||
		!strings.Contains(out, "predicted, off by") {
		t.Fatalf("code %d, %s%s", code, out, errs)
	}
	for i, tune := range []string{"--tune=0.001,2,0.1", "--tune"} { // one of the five rates is there
		if code, _, errs := mafalda(append(slices.Clone(args), tune)...); code != 0 {
			t.Fatalf("%s: code %d, %s", tune, code, errs)
		}
		cells, err := filepath.Glob(filepath.Join(dir, "cells", "*.json"))
		if want := 2 * 3 * []int{3, 7}[i]; err != nil || len(cells) != want {
			t.Errorf("%s: %d cells, must be %d", tune, len(cells), want)
		}
	}
	rows := simulateJSON(t, append(slices.Clone(args[1:]), "--tune")...)
	if r := rows[simulate.Cell{Method: "mafalda", Mu: 1000}]; r.Rate != 0.15000000000000002 || r.Seeds != 2 {
		t.Errorf("%+v", r)
	}
	if code, _, errs := mafalda(args...); code != 2 || !strings.Contains(errs, "other inputs") {
		t.Errorf("without --tune in the same folder: code %d, %s", code, errs)
	}
	if code, _, errs := mafalda(append(slices.Clone(args), "--tune=0")...); code != 2 || !strings.Contains(errs, "--tune 0: must be positive") {
		t.Errorf("a rate of 0: code %d, %s", code, errs)
	}
}
