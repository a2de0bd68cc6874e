package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Flags say what is trained; what is drawn is named with its seed, and local DP stays what it is.
func TestAccountOfTraining(t *testing.T) {
	plain := fixedJSON(t, "--T", "12", "--attacker", "Medici")
	if plain.Workload != nil || plain.Drawn != nil {
		t.Errorf("plain: %+v", plain)
	}
	for _, args := range []string{"--optimizer momentum:0.9 --learning-rates cosine", "--optimizer rounds:2", "--optimizer local:3",
		"--optimizer tracking", "--graph-changes failures:0.2 --seed 7", "--graph-changes neighbours:2", "--missed-steps 0.1 --missed-steps carry"} {
		a := fixedJSON(t, append([]string{"--T", "12", "--attacker", "Medici"}, strings.Fields(args)...)...)
		drawn := strings.Contains(args, "fail") || strings.Contains(args, "neighbours") || strings.Contains(args, "missed")
		if a.Workload == nil || (a.Drawn != nil) != drawn || a.Local != 12 {
			t.Errorf("%s: %+v", args, a)
		}
		if p := pairOf(t, a, "Peruzzi"); *p.SensSquared == *pairOf(t, plain, "Peruzzi").SensSquared || *p.SensSquared > 12 {
			t.Errorf("%s: sens² is %v", args, *p.SensSquared)
		}
	}
	public := accountJSON(t, "--T", "12", "--trust", "ldp", "--optimizer", "momentum:0.9", "--missed-steps", "0.1")
	if *pairOf(t, public, "Medici").SensSquared != 12 || public.Drawn != nil {
		t.Errorf("against everybody: %+v", public)
	}
	code, out, errs := mafalda("account", "--graph", "florentine", "--T", "6", "--attacker", "Medici", "--graph-changes", "links:0.1")
	if code != 0 || !strings.Contains(out, "drawn          by --seed 0") || !strings.Contains(out, "links fail") {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
}

// An export's training is its own; flags may repeat it, and nothing else.
func TestAccountOfATrainedExport(t *testing.T) {
	folder := t.TempDir()
	turns := filepath.Join(folder, "turns.edges")
	if err := os.WriteFile(turns, []byte("0 1\n2 3\n\n1 2\n3 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	momentum, turning := filepath.Join(folder, "momentum"), filepath.Join(folder, "turning")
	optimizeJSON(t, "--graph", "cycle:4", "--T", "8", "-k", "2", "--no-baselines", "--optimizer", "momentum:0.9", "-o", momentum)
	optimizeJSON(t, "--graph", "cycle:4", "--T", "8", "-k", "2", "--no-baselines", "--graph-changes", "sequence:"+turns, "-o", turning)
	run := func(dir string, args ...string) []string {
		return append([]string{"--graph", "cycle:4", "--T", "8", "-k", "2", "--attacker", "0", "--algorithm", "mf-d-sgd",
			"--export", dir}, args...)
	}
	a := accountJSON(t, run(momentum)...)
	if a.Workload == nil || a.Workload.Momentum != 0.9 {
		t.Errorf("%+v", a)
	}
	if a := accountJSON(t, run(turning, "--graph-changes", "sequence:"+turns)...); a.Workload == nil || a.Workload.GraphSequence == nil {
		t.Errorf("%+v", a)
	}
	if code, out, errs := mafalda(append([]string{"audit", "--runs", "500"}, run(turning, "--graph-changes", "sequence:"+turns)...)...); code != 0 ||
		!strings.Contains(out, "networks that take turns") {
		t.Errorf("audit: code %d, %s%s", code, out, errs)
	}
	if a := accountJSON(t, run(momentum, "--optimizer", "momentum:0.9")...); a.Workload == nil {
		t.Errorf("%+v", a)
	}
	medici := []string{"--graph", "florentine", "--T", "8", "--attacker", "Medici"}
	for name, tc := range map[string]struct {
		args []string
		say  string
	}{
		"other momentum":    {run(momentum, "--optimizer", "momentum:0.5"), "--optimizer momentum 0.5: the strategy in"},
		"more than it says": {run(momentum, "--optimizer", "rounds:2"), "--optimizer rounds 2: the strategy in"},
		"a sequence, too":   {run(momentum, "--graph-changes", "sequence:"+turns), "a network that stays"},
		"no sequence":       {run(turning), "--graph-changes sequence:FILE"},
		"bad momentum":      {append(medici, "--optimizer", "momentum:1"), "--optimizer momentum 1"},
		"bad combination":   {append(medici, "--optimizer", "tracking", "--optimizer", "local:2"), "--optimizer local"},
		"too many":          {append(medici, "--graph-changes", "neighbours:15"), "only 14 others"},
		"decor":             {append(medici, "--algorithm", "decor", "--optimizer", "momentum:0.5"), "--algorithm decor is accounted for without"},
		"muffliato":         {append(medici, "--algorithm", "muffliato", "--optimizer", "momentum:0.5", "--optimizer", "rounds:2"), "without optimizers"},
		"sampling":          {[]string{"--sampling", "poisson", "--T", "8", "--optimizer", "momentum:0.5"}, "--optimizer is not for"},
	} {
		command := "account"
		if name == "sampling" {
			command = "audit"
		}
		args := append([]string{command}, tc.args...)
		if code, out, errs := mafalda(args...); code != 2 || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, tc.say) {
			t.Errorf("%s: code %d, %q, %q; want one line with %q", name, code, out, errs, tc.say)
		}
	}
}

// An export that was made with momentum is not accounted for as one with Nesterov's.
func TestNesterovContradictsAnExportWithoutIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, "--graph", "path:3", "--T", "4", "-k", "2", "--optimizer", "momentum:0.5", "--no-baselines", "-o", dir)
	args := []string{"account", "--graph", "path:3", "--T", "4", "-k", "2", "--algorithm", "mf-d-sgd", "--export", dir, "--attacker", "0"}
	if code, _, errs := mafalda(args...); code != 0 {
		t.Fatalf("code %d, %s", code, errs)
	}
	if code, _, errs := mafalda(append(args, "--optimizer", "nesterov")...); code != 2 || !strings.Contains(errs, "made for other training") {
		t.Errorf("code %d, %s", code, errs)
	}
}
