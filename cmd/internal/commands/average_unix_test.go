//go:build unix

package commands

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Pipes without a writer are refused, not waited for.
func TestAverageRefusesPipes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--graph", "path:3", "--values", pipe}, {"--graph", "path:3", "--protocol", "chosen=" + pipe},
		{"--protocol", "dpps", "--push-sum", "sequence:" + pipe}} {
		if code, _, errs := mafalda(append([]string{"average"}, args...)...); code != 2 || !strings.Contains(errs,
			"pipe") || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: code %d, %s", args, code, errs)
		}
	}
}
