package commands

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mafalda/threat"
)

func accountJSON(t *testing.T, args ...string) threat.Report {
	t.Helper()
	if !slices.Contains(args, "--graph") {
		args = append([]string{"--graph", "florentine"}, args...)
	}
	code, out, errs := mafalda(append([]string{"account", "--json"}, args...)...)
	var a threat.Report
	if err := json.Unmarshal([]byte(out), &a); code != 0 || err != nil {
		t.Fatalf("%v: code %d, %v, %s", args, code, err, errs)
	}
	return a
}

// fixedJSON is accountJSON for inputs that do not react.
func fixedJSON(t *testing.T, args ...string) threat.Report {
	t.Helper()
	return accountJSON(t, append([]string{"--reaction", "fixed"}, args...)...)
}

func pairOf(t *testing.T, a threat.Report, victim string) threat.Pair {
	t.Helper()
	for _, p := range a.Pairs {
		if p.Victim == victim {
			return p
		}
	}
	t.Fatalf("no pair of %s with %s", a.Attacker, victim)
	return threat.Pair{}
}

func TestAccount(t *testing.T) {
	a := fixedJSON(t, "--T", "10", "--attacker", "Medici", "--sigma", "2", "--delta", "1e-5")
	if len(a.Pairs) != 15 || a.Attacker != "Medici" || a.Local != 10 {
		t.Fatalf("%+v", a)
	}
	own := pairOf(t, a, "Medici")
	if !own.Infinite || own.SensSquared != nil || *own.Distance != 0 {
		t.Errorf("the attacker itself: %+v", own)
	}
	// Acciaiuoli has no other neighbour: Medici sees every message it was made of
	next := pairOf(t, a, "Acciaiuoli")
	if math.Abs(*next.SensSquared-10) > 1e-9 || math.Abs(*next.Mu-math.Sqrt(10)/2) > 1e-9 || *next.Epsilon <= 0 || *next.Cyffers != 10 || *next.Distance != 1 {
		t.Errorf("Acciaiuoli: %+v", next)
	}
	if math.Abs(*next.RDP-2*(*next.Mu)*(*next.Mu)/2) > 1e-12 {
		t.Errorf("RDP of order 2: %v for mu %v", *next.RDP, *next.Mu)
	}
	far := pairOf(t, a, "Peruzzi")
	for _, bound := range []string{"abs", "spectral", "exact", "lower"} {
		p := pairOf(t, fixedJSON(t, "--T", "10", "--attacker", "Medici", "--bound", bound), "Peruzzi")
		if r := *p.SensSquared / *far.SensSquared; r < 0.99 || r > 1.4 || p.Bound != bound {
			t.Errorf("%s: %v, best %v", bound, *p.SensSquared, *far.SensSquared)
		}
	}
	both := fixedJSON(t, "--T", "10", "--attacker", "Medici, Pazzi")
	if len(both.Pairs) != 15 || *pairOf(t, both, "Peruzzi").SensSquared < *far.SensSquared || !pairOf(t, both, "Pazzi").Infinite {
		t.Errorf("a coalition: %+v", both)
	}
	public := accountJSON(t, "--T", "10", "--trust", "ldp", "-k", "5")
	if math.Abs(*pairOf(t, public, "Medici").SensSquared-5) > 1e-12 || public.Attacker != "everybody" {
		t.Errorf("local DP: %+v", public)
	}
	summed := fixedJSON(t, "--T", "10", "--attacker", "Medici", "--gossip", "metropolis", "--trust", "secure-summation,forget-own-noise")
	if s := *pairOf(t, summed, "Ridolfi").SensSquared; s > 1 {
		t.Errorf("secure summation: %v", s)
	}
	for _, args := range [][]string{{"--algorithm", "antipgd"}, {"--algorithm", "muffliato", "--optimizer", "rounds:2"}, {"--algorithm", "decor", "--algorithm", "decor:shared=2"}, {"--algorithm", "zip-dl"}} {
		if a := fixedJSON(t, append([]string{"--T", "4", "--attacker", "Pazzi"}, args...)...); len(a.Pairs) != 15 || a.Algorithm != args[1] {
			t.Errorf("%v: %+v", args, a)
		}
	}
}

// An export is accounted and audited; against everybody it has the sensitivity it was made for.
func TestAccountOfAnExport(t *testing.T) {
	for _, class := range [][]string{nil, {"--strategy", "banded", "--format", "parameters-only"}, {"--strategy", "blt", "--strategy", "buffers=2"}, {"--strategy", "per-node"}, {"--strategy", "groups=2"}} {
		dir := filepath.Join(t.TempDir(), "out")
		optimizeJSON(t, append([]string{"--graph", "florentine", "--T", "20", "-k", "4", "--no-baselines", "-o", dir}, class...)...)
		run := []string{"--T", "20", "-k", "4", "--algorithm", "mf-d-sgd", "--export", dir}
		public := accountJSON(t, append([]string{"--trust", "ldp"}, run...)...)
		if s := *pairOf(t, public, "Medici").SensSquared; math.Abs(s-1) > 1e-4 {
			t.Errorf("%v: against everybody sens² is %v", class, s)
		}
		node := fixedJSON(t, append([]string{"--attacker", "Pazzi"}, run...)...)
		if s := *pairOf(t, node, "Medici").SensSquared; !(s > 0) || s >= 1 {
			t.Errorf("%v: against a node sens² is %v", class, s)
		}
		audit := append([]string{"audit", "--graph", "florentine", "--attacker", "Pazzi", "--victim", "Salviati", "--runs", "2000", "--json"}, run...)
		if code, out, errs := mafalda(audit...); code != 0 || !strings.Contains(out, `"passed": true`) {
			t.Errorf("%v: audit: code %d, %s%s", class, code, out, errs)
		}
	}
}

// All attackers are kept on disk: a second run computes nothing, another setting is refused, and --force replaces it.
func TestAccountResumes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "account")
	run := func(args ...string) (int, string, string) {
		return mafalda(append([]string{"account", "--graph", "florentine", "--attacker", "all", "-o", dir, "--T"}, args...)...)
	}
	code, first, errs := run("5")
	if _, err := os.Stat(filepath.Join(dir, "exposure.png")); code != 0 || err != nil || !strings.Contains(first, dir) {
		t.Fatalf("code %d, %v, %s%s", code, err, first, errs)
	}
	cells, err := filepath.Glob(filepath.Join(dir, "cells", "*.json"))
	if err != nil || len(cells) != 15 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	kept, lost := modified(t, cells[0]), cells[3]
	if err := os.Remove(lost); err != nil {
		t.Fatal(err)
	}
	if code, second, errs := run("5"); code != 0 || second != first {
		t.Errorf("again: code %d, %s%s", code, second, errs)
	}
	if modified(t, cells[0]) != kept || modified(t, lost) == kept {
		t.Error("the second run did not compute what was missing, and that alone")
	}
	if code, _, errs := run("6"); code != 2 || !strings.Contains(errs, "T is 5 there and 6 here") {
		t.Errorf("other settings: code %d, %s", code, errs)
	}
	if code, _, errs := run("6", "--force"); code != 0 {
		t.Errorf("replacing: code %d, %s", code, errs)
	}
	if lines := linesOf(t, filepath.Join(dir, "pairs.csv")); lines != 1+15*15 {
		t.Errorf("pairs.csv has %d lines", lines)
	}
}

func modified(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime().UnixNano()
}

func linesOf(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// The growth of a node's view under secure summation approaches T/n.
func TestAccountGrowth(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "growth")
	args := []string{"account", "--graph", "cycle:5", "--gossip", "metropolis", "--attacker", "0", "--trust", "secure-summation",
		"--trust", "forget-own-noise", "--reaction", "fixed", "--growth", "60, 20"}
	code, out, errs := mafalda(append(args, "--json")...)
	var r struct {
		Rows []threat.GrowthRow `json:"rows"`
	}
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || len(r.Rows) != 2 || r.Rows[0].Steps != 20 {
		t.Fatalf("code %d, %v, %s%s", code, err, out, errs)
	}
	early, late := r.Rows[0], r.Rows[1]
	if *late.Asymptote != 0.2 || math.Abs(*late.Others-0.2) > math.Abs(*early.Others-0.2) || math.Abs(*late.Neighbours-0.2) > 0.02 {
		t.Errorf("%+v, %+v", early, late)
	}
	code, out, errs = mafalda(append(args, "-o", dir)...)
	if _, err := os.Stat(filepath.Join(dir, "growth.png")); code != 0 || err != nil || !strings.Contains(out, dir) {
		t.Errorf("code %d, %v, %s%s", code, err, out, errs)
	}
}

func TestAudit(t *testing.T) {
	attack := []string{"audit", "--graph", "florentine", "--T", "6", "--attacker", "Medici", "--runs", "2000"}
	if code, out, errs := mafalda(attack...); code != 0 || !strings.Contains(out, "passed") {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
	code, out, errs := mafalda(append(attack, "--noise-scale", "0.5", "--json")...)
	var r struct {
		Claimed float64 `json:"claimed_mu"`
		Low     float64 `json:"ci_low"`
		Passed  bool    `json:"passed"`
	}
	if err := json.Unmarshal([]byte(out), &r); code != 1 || err != nil || r.Passed || r.Low < r.Claimed || strings.Count(errs, "\n") != 1 {
		t.Errorf("halved noise: code %d, %+v, %v, %s", code, r, err, errs)
	}
}

// Without a class rows below local DP say why they are: only then.
func TestRowsBelowLocalDP(t *testing.T) {
	for steps, want := range map[string]bool{"3": true, "4": false} {
		code, out, errs := mafalda("account", "--graph", "path:5", "--T", steps, "-k", "1", "--attacker", "4")
		if code != 0 {
			t.Fatal(errs)
		}
		if got := strings.Contains(out, "what never arrives"); got != want {
			t.Errorf("T = %s: %v\n%s", steps, got, out)
		}
	}
}
