package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mafalda/export"
)

// Every class is optimized, exported with its parameters, and verified from them; with matrices or without.
func TestStrategies(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args  []string
		worst float64 // ratio to the dense optimum
		keeps int     // floats a parameter
	}{
		"dense":          {nil, 1, 40},
		"banded":         {[]string{"--strategy", "banded"}, 1.02, 19},
		"two bands":      {[]string{"--strategy", "banded", "--strategy", "bandwidth=2"}, 2.5, 1},
		"toeplitz":       {[]string{"--strategy", "toeplitz"}, 1.2, 9},
		"scaled":         {[]string{"--strategy", "toeplitz", "--strategy", "scale-columns"}, 1.15, 9},
		"blt":            {[]string{"--strategy", "blt", "--strategy", "buffers=3"}, 1.2, 3},
		"comb":           {[]string{"--strategy", "comb"}, 1.06, 14},
		"banded-inverse": {[]string{"--strategy", "banded-inverse", "--strategy", "bandwidth=3"}, 1.3, 2},
	} {
		t.Run(name, func(t *testing.T) {
			for _, noDense := range []bool{false, true} {
				dir := filepath.Join(t.TempDir(), "out")
				args := append([]string{"--graph", "florentine", "--T", "40", "-k", "4", "--no-baselines", "-o", dir}, tc.args...)
				if noDense && tc.args != nil {
					args = append(args, "--format", "parameters-only")
				}
				m := optimizeJSON(t, args...)
				ratio := m.Loss / m.LowerBound
				if ratio > tc.worst*(1+1e-5) || ratio < 1 || m.SensSquared > 1 || m.Strategy.MemoryFloats != tc.keeps {
					t.Errorf("ratio %v, sens² %v, keeps %d; want at most %v and %d", ratio, m.SensSquared, m.Strategy.MemoryFloats, tc.worst, tc.keeps)
				}
				if _, err := os.Stat(filepath.Join(dir, "C.npy")); (err == nil) == (noDense && tc.args != nil) {
					t.Errorf("no-dense %v: C.npy: %v", noDense, err)
				}
				if code, out, errs := mafalda("verify", dir); code != 0 {
					t.Errorf("verify: code %d\n%s%s", code, out, errs)
				}
			}
		})
	}
}

// A parameter that is changed no longer makes the exported matrix.
func TestVerifyFindsChangedParameters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	m := optimizeJSON(t, "--graph", "florentine", "--T", "40", "-k", "4", "--strategy", "toeplitz", "--no-baselines", "-o", dir)
	m.Strategy.Coefficients[3] *= 1.001
	m.Files = nil
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var old export.Manifest
	if err := json.Unmarshal(text, &old); err != nil {
		t.Fatal(err)
	}
	old.Strategy = m.Strategy
	if text, err = json.Marshal(old); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := mafalda("verify", dir); code != 1 || !strings.Contains(out, "FAILED  parameters") {
		t.Errorf("code %d\n%s", code, out)
	}
}

func TestStrategyFlags(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		say  string
	}{
		"unknown":                {[]string{"--strategy", "tree"}, "tree"},
		"bandwidth above T":      {[]string{"--strategy", "banded", "--strategy", "bandwidth=41"}, "from 1 to T = 40"},
		"bandwidth of zero":      {[]string{"--strategy", "toeplitz", "--strategy", "bandwidth=0"}, "must be at least 1"},
		"bandwidth of dense":     {[]string{"--strategy", "bandwidth=4"}, "--strategy dense has no bandwidth"},
		"too many buffers":       {[]string{"--strategy", "blt", "--strategy", "buffers=40"}, "less than T = 40"},
		"buffers of banded":      {[]string{"--strategy", "banded", "--strategy", "buffers=3"}, "of blt and comb"},
		"scaled columns of blt":  {[]string{"--strategy", "blt", "--strategy", "scale-columns"}, "of toeplitz and comb"},
		"no matrices of dense":   {[]string{"--format", "parameters-only"}, "leaves nothing"},
		"octal":                  {[]string{"-k", "0x4"}, "whole number"},
		"empty output":           {[]string{"-o", ""}, "--output is empty"},
		"infinite tolerance":     {[]string{"--tolerance", "inf"}, "positive and finite"},
		"output is this folder":  {[]string{"-o", "."}, "current folder"},
		"participations above T": {[]string{"-k", "80"}, "above T = 40"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := mafalda(append([]string{"optimize", "--graph", "cycle:5", "--T", "40"}, tc.args...)...)
			if code != 2 || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, tc.say) {
				t.Errorf("code %d, stdout %q, stderr %q; want 2 and one line with %q", code, out, errs, tc.say)
			}
		})
	}
}

// Output that cannot be written is a failure.
func TestLostOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		full, err = os.Open(os.DevNull) // read only: writing fails, too
		if err != nil {
			t.Fatal(err)
		}
	}
	defer full.Close()
	for _, args := range [][]string{{"version"}, {"graph", "cycle:5"}, {"epsilon", "--mu", "1", "--delta", "1e-6"},
		{"optimize", "--graph", "cycle:5", "--T", "4", "-k", "2"}} {
		var errs strings.Builder
		if code := run(t.Context(), args, full, &errs); code != 1 || !strings.Contains(errs.String(), "mafalda: ") {
			t.Errorf("%v: code %d, %s", args, code, errs.String())
		}
	}
}

// The default number of buffers fits every T, as secrets do; of buffers that are given too many are refused.
func TestBuffersFitFewSteps(t *testing.T) {
	for steps, buffers := range map[string]int{"1": 1, "2": 1, "4": 3, "6": 4} {
		for _, trust := range []string{"ldp", "secldp"} {
			m := optimizeJSON(t, "--graph", "path:3", "--T", steps, "-k", steps, "--strategy", "blt", "--no-baselines",
				"--trust", trust, "-o", filepath.Join(t.TempDir(), "out"))
			if m.Strategy.Buffers != buffers {
				t.Errorf("T = %s, %s: %d buffers, want %d", steps, trust, m.Strategy.Buffers, buffers)
			}
		}
	}
}
