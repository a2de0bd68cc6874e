package commands

import (
	"encoding/json"
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
	if code, out, _ := mafalda("__complete", "optimize", "--graph", "flo"); code != 0 || !strings.Contains(out, "florentine") {
		t.Errorf("completion of graphs: code %d, %s", code, out)
	}
}

func TestGraphCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "g")
	code, out, errs := mafalda("graph", "star:4", "-o", dir)
	if code != 0 || errs != "" {
		t.Fatalf("code %d, %s", code, errs)
	}
	for _, want := range []string{"4 nodes, 3 undirected edges", "1 to 3", "2 (exact)", "not symmetric", "spectral gap"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for name, want := range map[string]string{"edges.tsv": "0\t1\n0\t2\n0\t3\n", "nodes.csv": "index,label,degree\n0,0,3\n1,1,1\n2,2,1\n3,3,1\n"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	// what it wrote is what it read
	again, out2, _ := mafalda("graph", filepath.Join(dir, "edges.tsv"), "--gossip-matrix", filepath.Join(dir, "gossip.mtx"), "--json")
	var r map[string]any
	if err := json.Unmarshal([]byte(out2), &r); again != 0 || err != nil || r["nodes"] != 4.0 || r["diameter"] != 2.0 || r["symmetric"] != false {
		t.Errorf("code %d, %v\n%s", again, err, out2)
	}
	if code, _, errs = mafalda("graph", "star:4", "-o", dir); code != 2 || !strings.Contains(errs, "--force") {
		t.Errorf("over files: code %d, %s", code, errs)
	}
	if code, _, errs = mafalda("graph", "star:4", "-o", dir, "--force"); code != 0 {
		t.Errorf("with force: code %d, %s", code, errs)
	}
}

func TestEpsilonCommand(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"epsilon":   {[]string{"--mu", "1", "--delta", "1e-6"}, "epsilon  4.88655411747\n"},
		"mu":        {[]string{"--epsilon", "4.886554117462212", "--delta", "1e-6"}, "mu       0.999999999999\n"},
		"delta":     {[]string{"--mu", "1", "--epsilon", "0"}, "delta    0.38292492254"}, // erf(1/√8)
		"log delta": {[]string{"--mu", "0.01", "--epsilon", "1"}, "delta    exp(-5014.234761"},
		"renyi":     {[]string{"--mu", "2", "--alpha", "3"}, "rdp      6 of order 3"},
		"from rdp":  {[]string{"--alpha", "8", "--rdp", "4", "--delta", "1e-6"}, "mu       1\n"},
		"rdp back":  {[]string{"--alpha", "3", "--rdp", "0.7"}, "mu       0.683130051064\n"},
		"given rdp": {[]string{"--alpha", "3", "--rdp", "0.7"}, "rdp      0.7 of order 3\n"},
		"as given":  {[]string{"--mu", "0.1234567890123456", "--delta", "1e-6"}, "mu       0.1234567890123456\n"},
	} {
		if code, out, errs := mafalda(append([]string{"epsilon"}, tc.args...)...); code != 0 || !strings.Contains(out, tc.want) {
			t.Errorf("%s: code %d, want %q:\n%s%s", name, code, tc.want, out, errs)
		}
	}
	code, out, _ := mafalda("epsilon", "--mu", "1", "--delta", "1e-6", "--json")
	var c map[string]float64
	if err := json.Unmarshal([]byte(out), &c); code != 0 || err != nil || c["epsilon"] < 4.886554 || c["epsilon"] > c["epsilon_by_rdp"] {
		t.Errorf("code %d, %v: %s", code, err, out)
	}
}

func TestVersionCommand(t *testing.T) {
	if code, out, _ := mafalda("version"); code != 0 || !strings.HasPrefix(out, "mafalda ") {
		t.Errorf("code %d, %s", code, out)
	}
	code, out, _ := mafalda("version", "--json")
	var v map[string]string
	if err := json.Unmarshal([]byte(out), &v); code != 0 || err != nil || v["version"] == "" {
		t.Errorf("code %d, %v: %s", code, err, out)
	}
}

// Every command that help lists has a manual page with its flags, and no line of it is taken for a request.
func TestManualPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "share", "man1")
	if code, _, errs := mafalda("man", dir); code != 0 {
		t.Fatalf("code %d, %s", code, errs)
	}
	requests := []string{".TH", ".SH", ".B", ".BR", ".PP", ".TP", ".nf", ".fi", ".br"}
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
	if page, err := os.ReadFile(filepath.Join(dir, "mafalda-submit.1")); err != nil || !strings.Contains(string(page), "\n.TP\n.B kubernetes\nthe manifest of") {
		t.Errorf("no list of engines, %v", err)
	}
	if code, _, errs := mafalda("man", dir); code != 2 || !strings.Contains(errs, "exists already") {
		t.Errorf("again: code %d, %s", code, errs)
	}
}
