package commands

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Profiles are new files: whatever has the name already stays as it is.
func TestProfilesReplaceNothing(t *testing.T) {
	for _, flag := range []string{"--cpuprofile", "--memprofile"} {
		mine := writeFile(t, "thesis.tex", "mine")
		code, out, errs := mafalda("epsilon", "--mu", "1", "--delta", "0.1", flag, mine)
		if text, err := os.ReadFile(mine); code != 2 || out != "" || strings.Count(errs, "\n") != 1 ||
			!strings.Contains(errs, "there already") || string(text) != "mine" {
			t.Errorf("%s: code %d, %s%s, %q, %v", flag, code, out, errs, text, err)
		}
	}
	dir := t.TempDir()
	cpu, memory := filepath.Join(dir, "cpu"), filepath.Join(dir, "memory")
	args := []string{"epsilon", "--mu", "1", "--delta", "0.1", "--cpuprofile", cpu, "--memprofile", memory}
	if code, _, errs := mafalda(args...); code != 0 {
		t.Fatalf("code %d, %s", code, errs)
	}
	for _, path := range []string{cpu, memory} {
		if text, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
			t.Errorf("%s: %v", path, err)
		}
	}
	both := filepath.Join(dir, "both")
	if code, _, errs := mafalda("epsilon", "--mu", "1", "--delta", "0.1", "--cpuprofile", both, "--memprofile",
		both); code != 2 {
		t.Errorf("one file for two: code %d, %s", code, errs)
	}
	if _, err := os.Stat(both); err == nil {
		t.Error("a file is left of a command that did not start")
	}
}
