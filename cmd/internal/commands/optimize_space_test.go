package commands

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"mafalda/export"
)

// What scripts read: the keys of space, losses, and neither a lower bound nor a gap of all.
func TestOptimizeSharedNoise(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	args := []string{"optimize", "--graph", "florentine", "--T", "16", "-k", "4"}
	code, out, errs := mafalda(append(args, "--trust", "secldp", "--json", "-o", dir)...)
	var text map[string]json.RawMessage
	if err := json.Unmarshal([]byte(out), &text); code != 0 || err != nil {
		t.Fatalf("code %d, %v, %s", code, err, errs)
	}
	if text["lower_bound"] != nil || text["gap"] != nil {
		t.Errorf("lower_bound %s, gap %s", text["lower_bound"], text["gap"])
	}
	var space struct {
		Own   map[string]float64
		Pairs [][]any
		Worst struct {
			Attacker []string
			Victim   string
			Value    float64
		}
		GapSpace, GapTime *float64
	}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text["space"]), "gap_", "gap")), &space); err != nil {
		t.Fatal(err)
	}
	if len(space.Own) != 15 || !near(space.Own["Pazzi"], 1, 1e-6) || len(space.Pairs) != 20 || len(space.Pairs[0]) != 3 ||
		len(space.Worst.Attacker) != 1 || space.Worst.Victim == "" || !near(space.Worst.Value, 1, 1e-9) ||
		space.GapSpace == nil || space.GapTime == nil {
		t.Errorf("%s", text["space"])
	}
	m := optimizeJSON(t, append(args[1:], "--trust", "secldp")...)
	ldp := optimizeJSON(t, append(args[1:], "--trust", "ldp")...)
	if !near(m.LDPLoss, ldp.Loss, 2e-6) || !near(m.Loss, 543.4928062155007, 1e-4) || m.JointLowerBound > m.Loss {
		// the loss: numpy, a soft maximum that hardens, the best of four alternations
		t.Errorf("loss %v, joint bound %v; LDP %v, not %v", m.Loss, m.JointLowerBound, m.LDPLoss, ldp.Loss)
	}
	e, err := export.Load(dir)
	if err != nil || e.Manifest.Space.Own != nil || len(e.Shared.Pairs) != 20 || e.CheckHashes() != nil {
		t.Errorf("%v, %+v", err, e)
	}
	code, out, errs = mafalda(append(args, "--trust", "secldp", "--epsilon", "2", "--delta", "1e-6")...)
	for _, say := range []string{"20 pairs may share noise", "single curious nodes", "space and time", "LDP optimum", "DECOR ",
		"DECOR, this strategy", "error at privacy", "(SecLDP)", "together"} {
		if code != 0 || !strings.Contains(out, say) {
			t.Errorf("code %d, %s; not said: %q in\n%s", code, errs, say, out)
		}
	}
}

// What is not for shared noise is refused in a line that names the flag.
func TestBadSharedNoise(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	unknown := writeFile(t, "pairs", "Medici Pazzi\nMedici Rossi\n")
	for _, tc := range []struct{ args, say string }{
		{"--trust secrets=all", "--trust secrets is for --trust secldp"},
		{"--trust coalitions=2", "--trust coalitions is for --trust secldp"},
		{"--trust largest-pair=1", "--trust largest-pair is for --trust secldp"},
		{"--trust secldp --trust largest-pair=0", "--trust largest-pair 0: must be positive"},
		{"--trust secldp --trust largest-pair=NaN", "--trust largest-pair"},
		{"--trust secldp --trust largest-pair=1e5", "--trust largest-pair 100000: must be"},
		{"--trust pndp", "choose ldp or secldp"},
		{"--trust secldp --strategy per-node", "--strategy per-node or --strategy groups is not"},
		{"--trust secldp --strategy groups=2", "--strategy per-node or --strategy groups is not"},
		{"--trust secldp --objective max", "--objective max is not"},
		{"--trust secldp --gram lanczos", "--gram lanczos is not"},
		{"--trust secldp --sampling bins --epsilon 1 --delta 1e-5", "--sampling bins is not"},
		{"--trust secldp --trust secrets=" + missing, "must be gossip, all, or a file"},
		{"--trust secldp --trust secrets=" + unknown, `no node "Rossi"`},
		{"--trust secldp --trust coalitions=0", "must be 1, 2, or a file"},
		{"--trust secldp --trust secrets=", "--trust secrets is empty"},
		{"--trust secldp --graph-changes failures:0.1", "leave out --graph-changes failures"},
	} {
		args := append([]string{"optimize", "--graph", "florentine", "--T", "8", "-k", "2"}, strings.Fields(tc.args)...)
		code, out, errs := mafalda(args...)
		if code != 2 || out != "" || !strings.Contains(errs, tc.say) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: code %d, %s", tc.args, code, errs)
		}
	}
	code, _, errs := mafalda("optimize", "--graph", "complete:501", "--T", "2", "-k", "1", "--trust", "secldp", "--trust", "secrets=all")
	if code != 2 || !strings.Contains(errs, "at most 500 nodes") {
		t.Errorf("code %d, %s", code, errs)
	}
	code, _, errs = mafalda("optimize", "--workload", "prefix", "--T", "4", "-k", "1", "--trust", "secldp")
	if code != 2 || !strings.Contains(errs, "(no nodes) is not for noise that nodes share") {
		t.Errorf("code %d, %s", code, errs)
	}
}

// Pairs keep to the variance that is asked for, which verify knows again, and a file of coalitions says who is trusted.
func TestLargestPair(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	few := writeFile(t, "coalitions", "0 1\n2\n")
	args := []string{"optimize", "--graph", "complete:8", "--T", "4", "-k", "2", "--trust", "secldp", "--trust", "largest-pair=0.3"}
	if code, out, errs := mafalda(append(args, "--trust", "coalitions="+few, "-o", dir)...); code != 0 ||
		!strings.Contains(out, "5 nodes in no coalition") {
		t.Fatalf("code %d, %s, %s", code, out, errs)
	}
	e, err := export.Load(dir)
	if err != nil || e.Manifest.Space.LargestPair != 0.3 {
		t.Fatalf("%v, %+v", err, e.Manifest.Space)
	}
	var most float64
	for _, p := range e.Shared.Pairs {
		most = max(most, p.Deviation*p.Deviation)
	}
	if most > 0.3*(1+1e-9) || most < 0.29 {
		t.Errorf("the largest variance of a pair is %v, want 0.3", most)
	}
	if code, out, errs := mafalda("verify", dir); code != 0 {
		t.Errorf("code %d, %s, %s", code, out, errs)
	}
}
