package terminal

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
		var n WholeNumber
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
		n := WholeNumber(-7)
		if err := n.Set(text); err == nil || !strings.Contains(err.Error(), say) || n != -7 {
			t.Errorf("%q is %d, %v; want an error with %q", text, n, err, say)
		}
	}
}

func TestSeedNumbers(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "18446744073709551615": 1<<64 - 1, "0x10": 16, "1e6": 1000000,
		"1.8446744073709551615e19": 1<<64 - 1} {
		var n SeedNumber
		if err := n.Set(text); err != nil || uint64(n) != want {
			t.Errorf("%q is %d, %v; want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"", "-1", "-1e2", "1.5", "1e20", "x"} {
		var n SeedNumber
		if err := n.Set(text); err == nil {
			t.Errorf("%q is %d", text, n)
		}
	}
}

// Lists are read in the same way, and no error names a function: partpsp --shared said "strconv.Atoi".
func TestListsOfWholeNumbers(t *testing.T) {
	list := []int{1, 2, 3}
	n := WholeNumbers{List: &list}
	if n.String() != "[1,2,3]" || (&WholeNumbers{}).String() != "[]" {
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
}
