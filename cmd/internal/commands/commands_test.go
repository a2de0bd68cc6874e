package commands

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mafalda/cmd/internal/grids"
)

// Every command has a description and an example that starts with the program's name.
func TestHelp(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Short == "" || !strings.Contains(cmd.Example, "mafalda") {
			t.Errorf("%s has no description or no example", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRootCmd(new(grids.Runner)))
	if code, out, _ := mafalda("optimize", "--help"); code != 0 || !strings.Contains(out, "--tolerance") {
		t.Errorf("code %d\n%s", code, out)
	}
	if code, out, _ := mafalda("simulate", "--help"); code != 0 || !strings.Contains(out, "(default 0.2,0.5,1)") {
		t.Errorf("code %d\n%s", code, out)
	}
	if code, out, _ := mafalda("completion", "bash"); code != 0 || !strings.Contains(out, "mafalda") {
		t.Errorf("completion: code %d", code)
	}
}

// Every command that help lists has a manual page with its flags, and no line of it is taken for a request.
func TestManualPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "share", "man1")
	if code, _, errs := mafalda("man", dir); code != 0 {
		t.Fatalf("code %d, %s", code, errs)
	}
	requests := []string{".TH", ".SH", ".B", ".BR", ".TP", ".nf", ".fi"}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		text, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"))
		if err != nil {
			t.Error(err)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			name := `\-\-` + strings.ReplaceAll(f.Name, "-", `\-`)
			if !f.Hidden && !strings.Contains(string(text), name) {
				t.Errorf("%s: no %s", cmd.CommandPath(), name)
			}
		})
		for _, line := range strings.Split(string(text), "\n") {
			word, _, _ := strings.Cut(line, " ")
			if strings.HasPrefix(line, ".") && !slices.Contains(requests, word) || strings.HasPrefix(line, "'") {
				t.Errorf("%s: %s", cmd.CommandPath(), line)
			}
		}
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				visit(sub)
			}
		}
	}
	visit(newRootCmd(new(grids.Runner)))
	if page, err := os.ReadFile(filepath.Join(dir, "mafalda-submit.1")); err != nil || !strings.Contains(string(page), "\n  kubernetes  the manifest of") {
		t.Errorf("no list of engines, %v", err)
	}
	if code, _, errs := mafalda("man", dir); code != 2 || !strings.Contains(errs, "exists already") {
		t.Errorf("again: code %d, %s", code, errs)
	}
}
