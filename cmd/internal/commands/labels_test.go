package commands

import (
	"testing"
)

// noise --node takes a label as it is, too: not as nodes.csv quotes it.
func TestLabelsWithQuotes(t *testing.T) {
	edges := writeFile(t, "g", "a\"x b\nb c\n")
	out := t.TempDir() + "/out"
	if code, _, stderr := mafalda("optimize", "--graph", edges, "--T", "4", "-k", "2", "--mu", "1", "-q",
		"--no-baselines", "-o", out); code != 0 {
		t.Fatal(stderr)
	}
	if code, _, stderr := mafalda("noise", out, "--node", `a"x`, "--dim", "3", "--seed", "1"); code != 0 {
		t.Error(stderr)
	}
	for _, command := range []string{"account", "audit"} {
		if code, stdout, stderr := mafalda(command, "--graph", edges, "--T", "4", "--attacker", `a"x,c`); code != 0 {
			t.Errorf("%s: %s%s", command, stdout, stderr)
		}
	}
}
