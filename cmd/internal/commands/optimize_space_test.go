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
