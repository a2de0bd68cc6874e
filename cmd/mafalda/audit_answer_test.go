package main

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
	for _, answer := range []string{"clip:10,1", "clip:10,10", "clip:25,inf"} {
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
			r.Runs != answeredRuns || r.Low < r.Claimed {
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
		"no answer":    {on("--answer", "10,1"), "must be clip:K,B"},
		"empty":        {on("--answer", ""), "must be clip:K,B"},
		"no bound":     {on("--answer", "clip:10,0"), "must be clip:K,B"},
		"an optimizer": {on("--answer", "clip:10,1", "--momentum", "0.9"), "answers are for plain gradient descent"},
		"sampled": {strings.Fields("audit --sampling poisson --T 9 --probability 0.1 --delta 0.1 --answer clip:1,1"),
			"--answer is not for --sampling"},
	} {
		if code, _, errs := mafalda(tc.args...); code != 2 || !strings.Contains(errs, tc.say) {
			t.Errorf("%s: code %d, %s", name, code, errs)
		}
	}
}
