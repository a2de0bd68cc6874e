package main

import (
	"strings"
	"testing"
)

// Whole numbers may have an exponent, and are exact; nothing else is a whole number.
func TestWholeNumbers(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "020": 20, "+7": 7, "-3": -3, "1e6": 1000000, "1E+6": 1000000,
		"2.5e3": 2500, "1.0e0": 1, "100e-2": 1,
		"-2e2": -200, "0e400": 0, "0.e9": 0, ".5e1": 5, "9007199254740993e0": 9007199254740993,
		"9.223372036854775807e18": 9223372036854775807} {
		var n wholeNumber
		if err := n.Set(text); err != nil || int(n) != want {
			t.Errorf("%q is %d, %v; want %d", text, n, err, want)
		}
	}
	for text, say := range map[string]string{"": "whole", "1.5": "whole", "1.5e0": "whole", "1e-1": "whole",
		"0x10": "whole", "1_000": "whole", "e5": "whole",
		"1e": "whole", "1e5.5": "whole", ".e5": "whole", "1e400": "too large", "1e999999999999999999999": "too large",
		"1e-400":                  "whole",
		"1e-99999999999999999999": "whole", "9223372036854775808": "too large", "9.3e18": "too large",
		"--1e5": "whole", "inf": "whole", "NaN": "whole", "1 e5": "whole"} {
		n := wholeNumber(-7)
		if err := n.Set(text); err == nil || !strings.Contains(err.Error(), say) || n != -7 {
			t.Errorf("%q is %d, %v; want an error with %q", text, n, err, say)
		}
	}
}

func TestSeedNumbers(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "18446744073709551615": 1<<64 - 1, "0x10": 16, "1e6": 1000000,
		"1.8446744073709551615e19": 1<<64 - 1} {
		var n seedNumber
		if err := n.Set(text); err != nil || uint64(n) != want {
			t.Errorf("%q is %d, %v; want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"", "-1", "-1e2", "1.5", "1e20", "x"} {
		var n seedNumber
		if err := n.Set(text); err == nil {
			t.Errorf("%q is %d", text, n)
		}
	}
}

// Lists are read in the same way, and no error names a function: partpsp --shared said "strconv.Atoi".
func TestListsOfWholeNumbers(t *testing.T) {
	list := []int{1, 2, 3}
	n := wholeNumbers{list: &list}
	if n.String() != "[1,2,3]" || (&wholeNumbers{}).String() != "[]" {
		t.Error(n.String())
	}
	if n.Set("1e0,2") != nil || n.Set("3") != nil || n.String() != "[1,2,3]" || len(list) != 3 {
		t.Error(list)
	}
	for _, text := range []string{"", "1.5", "1,,2", "99999999999999999999"} {
		if err := n.Set(text); err == nil || len(list) != 3 {
			t.Errorf("%q is %v", text, list)
		}
	}
	for args, say := range map[string]string{
		"partpsp --shared 1.5":                  "must be a whole number",
		"partpsp --shared 99999999999999999999": "too large a number",
		"simulate --mu 1,1e400":                 "too large a number",
		"simulate --mu 1,x":                     "must be a number",
		"epsilon --mu 1e400 --delta 0.1":        "too large a number",
		"optimize --quiet=maybe":                "must be true or false",
	} {
		code, _, stderr := mafalda(strings.Fields(args)...)
		if code != exitUsage || !strings.Contains(stderr, say) || strings.Contains(stderr, "strconv") {
			t.Errorf("%s: exit %d, %s; want %q", args, code, stderr, say)
		}
	}
}

// Exponents are for every command: --T 1e1, built-in graphs, and lists.
func TestExponentsEverywhere(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"optimize --graph cycle:1e1 --T 1e1 -k 2 --no-baselines", "cycle:1e1: 10 nodes"},
		{"account --graph florentine --T 1e1 --attacker Medici --seed 1e3", "T = 10 steps"},
		{"account --graph florentine --growth 5,1e1 --attacker Medici", "10"},
		{"audit --graph florentine --T 4 --attacker Medici --runs 1e2", "(100 runs each)"},
		{"simulate --records 1e2 --T 2e1 --seeds 1e0 --methods none", "every one of 20 steps"},
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
		if code != exitUsage || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %s%s", args, code, stdout, stderr)
		}
	}
}
