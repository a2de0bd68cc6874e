package commands

import (
	"encoding/json"
	"strings"
	"testing"

	"mafalda/threat"
)

// audit --answer breaks the claim of a network's nodes, with the exit code of a failed audit, and says that local DP holds.
func TestAuditAnswer(t *testing.T) {
	on := func(more ...string) []string {
		return append([]string{"audit", "--graph", "path:3", "--T", "2", "-k", "1", "--attacker", "2"}, more...)
	}
	for _, answer := range []string{"clip:10,1", "clip:10,10", "clip:25,inf", "linear:26"} {
		code, out, errs := mafalda(on("--answer", answer)...)
		if code != 1 || !strings.Contains(out, "FAILED: the attack learns more than is claimed; the local-DP number, mu = 1, holds") ||
			!strings.Contains(out, "attack         of 2 on 0,") || !strings.Contains(errs, "mu = 1, holds") {
			t.Errorf("%s: code %d, %s%s", answer, code, out, errs)
		}
		code, out, _ = mafalda(on("--answer", answer, "--json")...)
		var r struct {
			threat.AuditResult
			Answer string `json:"answer"`
		}
		if err := json.Unmarshal([]byte(out), &r); code != 1 || err != nil || r.Passed || r.Answer != answer || !*r.LocalHolds ||
			r.Runs != answeredRuns || r.Low < r.Claimed ||
			r.Reacting == nil || r.Reacting.Judged || !r.Reacting.Holds || !r.Reacting.Broken {
			t.Errorf("%s: code %d, %v, %s", answer, code, err, out)
		}
	}
	if code, out, errs := mafalda(on()...); code != 0 || strings.Contains(out, "answers") {
		t.Errorf("without answers: code %d, %s%s", code, out, errs)
	}
	for _, trust := range []string{"ldp", "secldp"} {
		code, out, errs := mafalda("audit", "--graph", "path:3", "--T", "3", "--trust", trust, "--answer", "clip:3,inf")
		if code != 0 || !strings.Contains(out, "passed") {
			t.Errorf("%s: code %d, %s%s", trust, code, out, errs)
		}
	}
	for name, tc := range map[string]struct {
		args []string
		say  string
	}{
		"no answer": {on("--answer", "10,1"), "must be clip:K,B"},
		"empty":     {on("--answer", ""), "must be clip:K,B"},
		"no bound":  {on("--answer", "clip:10,0"), "must be clip:K,B"},
		"no class":  {on("--answer", "convex:-1"), "must be clip:K,B"},
		"a class of public messages": {strings.Fields("audit --graph path:3 --T 3 --trust ldp --answer smooth:1"),
			"the worst answers of a class are for nodes that attack"},
		"an optimizer": {on("--answer", "clip:10,1", "--optimizer", "momentum:0.9"), "answers are for plain gradient descent"},
		"sampled": {strings.Fields("audit --sampling poisson:probability=0.1 --T 9 --delta 0.1 --answer clip:1,1"),
			"--answer is not for --sampling"},
	} {
		if code, _, errs := mafalda(tc.args...); code != 2 || !strings.Contains(errs, tc.say) {
			t.Errorf("%s: code %d, %s", name, code, errs)
		}
	}
}

// audit --answer with a class judges the bound for the class, and shows the number for gradients that do not react as none
// that holds.
func TestAuditClass(t *testing.T) {
	args := []string{"audit", "--graph", "path:3", "--T", "2", "-k", "1", "--attacker", "2", "--answer", "smooth:0.5"}
	code, out, errs := mafalda(args...)
	for _, line := range []string{"claimed        mu = 0.447214\n", "no guarantee   mu = 0.316228, if gradients do not react; these nodes exceed it\n",
		"reachable      mu = 0.447214 by this attack, exactly\n", "verdict        passed"} {
		if !strings.Contains(out, line) {
			t.Errorf("%q is not in %s", line, out)
		}
	}
	if code != 0 || errs != "" {
		t.Errorf("code %d, %s", code, errs)
	}
	code, out, _ = mafalda(append(args, "--json")...)
	var r threat.AuditResult
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || !r.Reacting.Judged || r.Claimed != r.Reacting.Bound ||
		r.Reachable > r.Claimed || r.HoldsFor != "" {
		t.Errorf("code %d, %v, %s", code, err, out)
	}
	if code, _, errs = mafalda(append(args, "--noise-scale", "0.3")...); code != 1 || !strings.Contains(errs, "more than the claimed 0.447214") {
		t.Errorf("less noise: code %d, %s", code, errs)
	}
}
