package commands

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

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
