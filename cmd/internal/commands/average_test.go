package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// averageJSON runs average and decodes what it prints.
func averageJSON[T any](t *testing.T, args ...string) T {
	t.Helper()
	code, out, errs := mafalda(append([]string{"average", "--json"}, args...)...)
	var got T
	if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil {
		t.Fatalf("%v: code %d, %v, %s", args, code, err, errs)
	}
	return got
}

type ppacJSON struct {
	Pairs []struct {
		Observer, Victim string
		Leakage          json.RawMessage
	}
	Leaves []struct{ Head, Tail string } `json:"generalized_leaves"`
	Chosen []struct{ Node, Neighbour string }
	Mean   float64
	Errors []float64
	Rounds int
	Floor  float64
	UpTo   *int `json:"leakage_rounds"`
}

func TestAveragePPAC(t *testing.T) {
	r := averageJSON[ppacJSON](t, "--protocol", "ppac", "--graph", "florentine", "--noise-std", "1500", "--values", "std:10")
	if last := r.Errors[len(r.Errors)-1]; len(r.Pairs) != 15*14 || len(r.Leaves) != 5 || r.UpTo != nil || last > 1e-6 ||
		len(r.Errors) != r.Rounds+1 || len(r.Chosen) != 15 || r.Floor <= 0 {
		t.Errorf("%d pairs, generalized leaves %v, the last error %g", len(r.Pairs), r.Leaves, last)
	}
	one := averageJSON[ppacJSON](t, "--graph", "florentine", "--rounds", "1", "--observer", "Medici", "--victim", "Pazzi")
	if len(one.Pairs) != 1 || one.Rounds != 1 || *one.UpTo != 1 {
		t.Errorf("%+v", one)
	}
	both := averageJSON[ppacJSON](t, "--graph", "cycle:9", "--observer", "1,3")
	if len(both.Pairs) != 7 || both.Pairs[0].Observer != "1,3" {
		t.Errorf("two observers: %+v", both.Pairs)
	}
}

// Values and chosen neighbours come from files; a value is recovered as it was given.
func TestAverageFiles(t *testing.T) {
	values := writeFile(t, "values", "# mine\r\n0 3.5\r\n1 -2\r\n2, 7\r\n")
	chosen := writeFile(t, "chosen", "0 1\n1 2\n2 1\n")
	code, out, errs := mafalda("average", "--graph", "path:3", "--values", values, "--protocol", "chosen="+chosen)
	if code != 0 || !strings.Contains(out, "average        2.833333333") || !strings.Contains(out, "computed -2, it is -2") || !strings.Contains(out, "next to a leaf: 0 recovers the value of 1") {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
	for name, tc := range map[string]struct{ flag, content, say string }{
		"not a neighbour": {"--chosen", "0 2\n1 2\n2 1\n", "chosen:1: node 0 chooses \"2\", which is not its neighbour"},
		"missing":         {"--values", "0 1\n1 2\n", "nothing for node 2"},
		"twice":           {"--values", "0 1\n0 2\n", "comes twice"},
		"escapes":         {"--values", "\x1b[31m9 1\n", "node \"\\x1b[31m9\""},
		"unknown":         {"--values", "9 1\n", `node "9"`},
		"no number":       {"--values", "0 NaN\n", "finite"},
		"three fields":    {"--values", "0 1 2\n", "values:1"},
	} {
		path, flag := writeFile(t, strings.TrimPrefix(tc.flag, "--"), tc.content), tc.flag
		if flag == "--chosen" {
			flag, path = "--protocol", "chosen="+path
		}
		if code, _, errs := mafalda("average", "--graph", "path:3", flag, path); code != 2 || !strings.Contains(errs, tc.say) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: code %d, %s", name, code, errs)
		}
	}
}

type dppsJSON struct {
	Rounds []struct{ Estimated, Real float64 }
	Errors []float64
	C      float64 `json:"c_prime"`
	Lambda float64
	Sound  *bool   `json:"constants_sound"`
	Per    float64 `json:"epsilon_per_round"`
	Basic  float64 `json:"epsilon_basic"`
}

func TestAverageDPPS(t *testing.T) {
	r := averageJSON[dppsJSON](t, "--protocol", "dpps", "--graph", "florentine", "--push-sum", "laplace-b:50", "--rounds", "12")
	if len(r.Rounds) != 12 || len(r.Errors) != 13 || r.C < 1 || !*r.Sound || r.Per != 50 || !near(r.Basic, 600, 1e-12) {
		t.Errorf("%+v", r)
	}
	// given constants; the paper's constants are refused when they fail, and a warning comes first
	r = averageJSON[dppsJSON](t, "--protocol", "dpps", "--graph", "exp:8", "--push-sum", "c-prime:5", "--push-sum", "lambda:0.9")
	if !*r.Sound || r.C != 5 || r.Lambda != 0.9 {
		t.Errorf("%+v", r)
	}
	values := writeFile(t, "values", "0 1\n1 -1\n")
	code, _, errs := mafalda("average", "--protocol", "dpps", "--graph", "d-out:2,2", "--values", values, "--push-sum", "estimate:paper")
	if code != 1 || !strings.Contains(errs, "not known to be sound") || !strings.Contains(errs, "2 apart in L1, the estimate is 1.56") {
		t.Errorf("code %d, %s", code, errs)
	}
	sequence := writeFile(t, "rounds.txt", "a b\nb a\n\nb c\nc b\n")
	if r := averageJSON[dppsJSON](t, "--protocol", "dpps", "--push-sum", "sequence:"+sequence, "--push-sum", "sync:0", "--push-sum", "laplace-b:1e6", "--rounds", "40"); r.Errors[40] > 1e-2*r.Errors[0] {
		t.Errorf("errors %v", r.Errors)
	}
	if code, _, errs := mafalda("average", "--protocol", "dpps", "--graph", "exp:4", "--noise-std", "3", "-q"); code != 0 || errs != "" {
		t.Errorf("code %d, %s", code, errs)
	}
}

func TestAverageGossipAndCompare(t *testing.T) {
	type gossipJSON struct {
		Mu, Epsilon float64
		Worst       float64 `json:"worst_pair_mu"`
		Pairs       []struct{ Mu, Leakage float64 }
	}
	r := averageJSON[gossipJSON](t, "--protocol", "gossip", "--graph", "florentine", "--noise-std", "5", "--protocol", "difference=2.5", "--rounds", "2")
	if r.Mu != 0.5 || len(r.Pairs) != 210 || r.Worst > 0.5 || r.Worst < 0.4 {
		t.Errorf("mu %g, worst %g of %d pairs", r.Mu, r.Worst, len(r.Pairs))
	}
	type compareJSON struct {
		Rounds    int
		Protocols []struct {
			Protocol, Promise, Against string
			Errors                     []float64
		}
	}
	c := averageJSON[compareJSON](t, "--compare", "--graph", "cycle:6", "--rounds", "30")
	if len(c.Protocols) != 4 || c.Rounds != 30 {
		t.Fatalf("%+v", c)
	}
	for _, p := range c.Protocols {
		if len(p.Errors) != 31 || p.Promise == "" || p.Against == "" {
			t.Errorf("%+v", p)
		}
	}
	if code, out, errs := mafalda("average", "--compare", "--graph", "florentine"); code != 0 || !strings.Contains(out, "do not compare") {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
}

// A comparison with -o goes on with what is there, and its files are of all protocols.
func TestAverageCompareGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "compare")
	args := []string{"average", "--compare", "--graph", "cycle:6", "--rounds", "10", "-o", dir}
	code, first, errs := mafalda(args...)
	if code != 0 || !strings.Contains(first, "written        "+dir) {
		t.Fatalf("code %d, %s%s", code, first, errs)
	}
	written, err := os.ReadFile(filepath.Join(dir, "average.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"error.png", "error.svg"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	cells, err := filepath.Glob(filepath.Join(dir, "cells", "*.json"))
	if err != nil || len(cells) != 4 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	before := modified(t, cells[1])
	if err := os.Remove(cells[0]); err != nil { // one is missing
		t.Fatal(err)
	}
	code, again, errs := mafalda(args...)
	if code != 0 || again != first || modified(t, cells[1]) != before {
		t.Errorf("again: code %d, %s%s", code, again, errs)
	}
	if now, err := os.ReadFile(filepath.Join(dir, "average.json")); err != nil || string(now) != string(written) {
		t.Errorf("average.json is another, %v", err)
	}
	if code, out, _ := mafalda(append(args, "--json")...); code != 0 || out != string(written) {
		t.Errorf("--json is not average.json: code %d", code)
	}
	if code, _, errs := mafalda(append(args, "--push-sum", "laplace-b:3")...); code != 2 || !strings.Contains(errs, "b is 50 there and 3 here") ||
		strings.Count(errs, "\n") > 2 {
		t.Errorf("other noise: code %d, %s", code, errs)
	}
	if code, _, errs := mafalda(append(args, "--push-sum", "laplace-b:3", "--force")...); code != 0 {
		t.Errorf("other noise, with force: code %d, %s", code, errs)
	}
	foreign := filepath.Join(t.TempDir(), "foreign") // results without a study.json
	if err := os.Mkdir(foreign, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(foreign, "average.json"), written, 0o666); err != nil {
		t.Fatal(err)
	}
	args[len(args)-1] = foreign
	for _, flags := range [][]string{nil, {"--force"}} {
		if code, _, errs := mafalda(append(args, flags...)...); code != 2 || !strings.Contains(errs, "no study.json") {
			t.Errorf("a folder without a study, %v: code %d, %s", flags, code, errs)
		}
	}
}

// -o leaves result and figures, and does not overwrite them.
func TestAverageOutput(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	want := map[string][]string{
		"ppac":   {"average.json", "values.png", "error.svg", "time.png", "leakage.png"},
		"dpps":   {"average.json", "sensitivity.png", "error.png"},
		"gossip": {"average.json", "error.png"},
	}
	for protocol, files := range want {
		args := []string{"average", "--protocol", protocol, "--graph", "complete:4", "-o", filepath.Join(dir, protocol)}
		if code, out, errs := mafalda(args...); code != 0 || !strings.Contains(out, "written") {
			t.Errorf("%s: code %d, %s%s", protocol, code, out, errs)
		}
		for _, name := range files {
			if _, err := os.Stat(filepath.Join(dir, protocol, name)); err != nil {
				t.Error(err)
			}
		}
		if code, _, errs := mafalda(args...); code != 2 || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s again: code %d, %s", protocol, code, errs)
		}
	}
	papers := filepath.Join(dir, "papers")
	if code, out, errs := mafalda("average", "--papers", "-o", papers); code != 0 || strings.Count(out, "written") != 21 {
		t.Errorf("papers: code %d, %s%s", code, out, errs)
	}
}

func TestAverageBadInput(t *testing.T) {
	ppac, dpps := []string{"average", "--graph", "star:5"}, []string{"average", "--protocol", "dpps", "--graph", "exp:10"}
	with := func(base []string, args ...string) []string { return append(append([]string(nil), base...), args...) }
	lopsided := writeFile(t, "lopsided", "a b\nb c\nc a\na c\n")
	apart := writeFile(t, "apart", "a b\nb a\n\nc d\nd c\n")
	for name, tc := range map[string]struct {
		args []string
		say  string
	}{
		"protocol":            {with(ppac, "--protocol", "push"), "choose ppac, dpps or gossip"},
		"no noise":            {with(ppac, "--noise-std", "0"), "--noise-std 0"},
		"negative values":     {with(ppac, "--values", "std:-1"), "--values std -1"},
		"NaN":                 {with(ppac, "--noise-std", "NaN"), "NaN"},
		"rounds":              {with(ppac, "--rounds", "-1"), "--rounds -1"},
		"too many rounds":     {with(ppac, "--rounds", "99999999999"), "GB"},
		"observer":            {with(ppac, "--observer", "9"), "no such node"},
		"all observe":         {with(ppac, "--observer", "0,1,2,3,4"), "no victim"},
		"observer is victim":  {with(ppac, "--observer", "1", "--victim", "1"), "knows its own value"},
		"b of ppac":           {with(ppac, "--push-sum", "laplace-b:1"), "--protocol dpps"},
		"not stochastic":      {with(ppac, "--gossip", "uniform"), "doubly stochastic"},
		"periodic":            {[]string{"average", "--graph", "cycle:6", "--gossip", "laplacian"}, "no consensus"},
		"one node":            {[]string{"average", "--graph", "complete:1"}, "nobody to average with"},
		"no graph":            {[]string{"average"}, "which network"},
		"b is zero":           {with(dpps, "--push-sum", "laplace-b:0"), "--push-sum laplace-b 0"},
		"b is negative":       {with(dpps, "--push-sum", "laplace-b:-2"), "--push-sum laplace-b -2"},
		"gamma":               {with(dpps, "--push-sum", "gamma-n:0"), "--push-sum gamma-n 0"},
		"sync":                {with(dpps, "--push-sum", "sync:-1"), "--push-sum sync -1"},
		"estimate":            {with(dpps, "--push-sum", "estimate:none"), "choose sound, paper or real"},
		"half the constants":  {with(dpps, "--push-sum", "c-prime:1"), "both or none"},
		"lambda":              {with(dpps, "--push-sum", "c-prime:1", "--push-sum", "lambda:1"), "lambda"},
		"gossip of exp":       {with(dpps, "--gossip", "metropolis"), "weights of its own"},
		"form of d-out":       {[]string{"average", "--protocol", "dpps", "--graph", "d-out:10"}, "d-out:n,d"},
		"self-loops":          {[]string{"average", "--protocol", "dpps", "--graph", "star:4", "--gossip", "laplacian"}, "self-loop"},
		"lopsided sequence":   {[]string{"average", "--protocol", "dpps", "--push-sum", "sequence:" + lopsided}, "round 0"},
		"sequence apart":      {[]string{"average", "--protocol", "dpps", "--push-sum", "sequence:" + apart}, "reaches every other"},
		"sequence is missing": {[]string{"average", "--protocol", "dpps", "--push-sum", "sequence:nowhere.txt"}, "nowhere.txt"},
		"exp for all":         {[]string{"average", "--compare", "--graph", "exp:8"}, "for --protocol dpps only"},
		"both graphs":         {with(dpps, "--push-sum", "sequence:"+apart), "only one of them"},
		"compare and choose":  {with(ppac, "--compare", "--protocol", "ppac"), "--compare and --protocol: only one of them"},
		"papers into nowhere": {[]string{"average", "--papers"}, "-o FOLDER"},
		"delta":               {with(ppac, "--delta", "2"), "--delta 2"},
	} {
		code, out, errs := mafalda(tc.args...)
		if code != 2 || out != "" || !strings.Contains(errs, tc.say) || strings.Count(errs, "\n") > 2 {
			t.Errorf("%s: code %d, want %q: %s%s", name, code, tc.say, out, errs)
		}
	}
}
