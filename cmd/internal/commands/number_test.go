package commands

import (
	"strings"
	"testing"

	"mafalda/cmd/internal/terminal"
)

// Exponents are for every command: --T 1e1, built-in graphs, and lists.
func TestExponentsEverywhere(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"optimize --graph cycle:1e1 --T 1e1 -k 2 --no-baselines", "cycle:1e1: 10 nodes"},
		{"account --graph florentine --T 1e1 --attacker Medici --seed 1e3", "T = 10 steps"},
		{"account --graph florentine --growth 5,1e1 --attacker Medici", "10"},
		{"audit --graph florentine --T 4 --attacker Medici --runs 1e2", "(100 runs each)"},
		{"simulate --task records=1e2 --T 2e1 --seeds 1e0 --methods none", "every one of 20 steps"},
		{"average --protocol dpps --graph exp:1e1", "exp"},
		{"graph erdos:1e1,0.9", "10 nodes"},
	} {
		code, stdout, stderr := mafalda(strings.Fields(c.args)...)
		if code != 0 || !strings.Contains(stdout, c.want) {
			t.Errorf("%s: exit %d, %s%s; want %q", c.args, code, stdout, stderr, c.want)
		}
	}
	for _, args := range []string{"account --graph florentine --T 1e400 --attacker Medici",
		"audit --graph florentine --T 1.5e0 --attacker Medici", "graph cycle:1.5e0"} {
		code, stdout, stderr := mafalda(strings.Fields(args)...)
		if code != terminal.ExitUsage || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %s%s", args, code, stdout, stderr)
		}
	}
}

// What is no number is said in words of the user, not of the function that found out.
func TestNumbersThatAreNone(t *testing.T) {
	for args, say := range map[string]string{
		"partpsp --shared 1.5":                  "must be a whole number",
		"partpsp --shared 99999999999999999999": "too large a number",
		"simulate --mu 1,1e400":                 "too large a number",
		"simulate --mu 1,x":                     "must be a number",
		"epsilon --mu 1e400 --delta 0.1":        "too large a number",
		"optimize --quiet=maybe":                "must be true or false",
	} {
		code, _, stderr := mafalda(strings.Fields(args)...)
		if code != terminal.ExitUsage || !strings.Contains(stderr, say) || strings.Contains(stderr, "strconv") {
			t.Errorf("%s: exit %d, %s; want %q", args, code, stderr, say)
		}
	}
}
