package commands

import (
	"strings"
	"testing"
)

// What may have been meant is asked for: of commands, flags and the values of flags.
func TestDidYouMean(t *testing.T) {
	for want, args := range map[string][]string{
		"did you mean optimize?":       {"optimise", "--graph", "cycle:5"},
		"did you mean noise serve?":    {"serve", "nowhere"}, // not merge, which is as near as that
		"did you mean --tolerance?":    {"optimize", "--tolerence", "1"},
		"did you mean banded?":         {"optimize", "--graph", "cycle:5", "--T", "8", "-k", "2", "--strategy", "bandet"},
		"did you mean zero-out?":       {"optimize", "--graph", "cycle:5", "--T", "8", "-k", "2", "--adjacency", "zeroout"},
		"did you mean metropolis?":     {"optimize", "--graph", "cycle:5", "--T", "8", "-k", "2", "--gossip", "metropoliss"},
		"did you mean cyclic?":         {"optimize", "--graph", "cycle:5", "--T", "8", "--schema", "cylic"},
		"did you mean poisson?":        {"optimize", "--graph", "cycle:5", "--T", "8", "-k", "2", "--sampling", "possion"},
		"did you mean Medici?":         {"account", "--graph", "florentine", "--T", "4", "--attacker", "Medicii"},
		"needs one folder or more":     {"report"},
		"use --delta, for example":     {"optimize", "--graph", "cycle:5", "--T", "8", "-k", "2", "--epsilon", "2"},
		"did you mean max?":            {"optimize", "--graph", "cycle:5", "--T", "8", "-k", "2", "--objective", "maxi"},
		"unknown argument \"extra\" (": {"version", "extra"},
	} {
		if code, _, errs := mafalda(args...); code != 2 || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: code %d, %q is not in %s", args, code, want, errs)
		}
	}
	if _, _, errs := mafalda("optimize", "--graph", "cycle:5", "--T", "8", "-k", "2", "--strategy", "xyzzy"); strings.Contains(errs, "mean") {
		t.Errorf("nothing is near: %s", errs)
	}
}

// Help lists flags in groups.
func TestHelpInGroups(t *testing.T) {
	for command, headings := range map[string][]string{
		"optimize": {"\nNetwork:\n", "\nWho takes part when:\n", "\nPrivacy:\n", "\nStrategy:\n",
			"\nOutput:\n", "\nGlobal Flags:\n", "\nAll flags: mafalda optimize --help-all\n"},
		"advise": {"\nNetwork:\n", "\nWho takes part when:\n", "\nPrivacy:\n", "\nStrategy:\n"},
		"graph":  {"\nFlags:\n"},
		"":       {"\nPrivacy:\n  account ", "\nAt a node:\n", "\nOther commands:\n", "\nFlags:\n"},
	} {
		_, out, _ := mafalda(append(strings.Fields(command), "--help")...)
		for _, h := range headings {
			if strings.Count(out, h) != 1 {
				t.Errorf("%s: no %q in\n%s", command, h, out)
			}
		}
	}
}
