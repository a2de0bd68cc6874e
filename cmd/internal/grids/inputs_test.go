package grids_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mafalda/cmd/internal/commands"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/terminal"
)

func gridCommands(runner *grids.Runner) *cobra.Command {
	root := &cobra.Command{Use: "program", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(commands.NewAccount(runner), commands.NewSimulate(runner), commands.NewBenchmark(runner))
	return root
}

// Every flag whose value may name something on this machine goes with the command, where its cells are computed.
func TestInputFlags(t *testing.T) {
	var paths, taken []string
	for _, cmd := range gridCommands(new(grids.Runner)).Commands() {
		cmd.Flags().VisitAll(func(fl *pflag.Flag) {
			if _, is := fl.Annotations["input"]; is && !slices.Contains(taken, fl.Name) {
				taken = append(taken, fl.Name)
			}
			if slices.Contains([]string{"graph-changes", "task", "trust"}, fl.Name) {
				return // its parts name files
			}
			words := strings.FieldsFunc(strings.ToLower(fl.Usage), func(r rune) bool { return r < 'a' || r > 'z' })
			for _, word := range []string{"file", "files", "folder", "folders", "path"} {
				if slices.Contains(words, word) && !slices.Contains(paths, fl.Name) {
					paths = append(paths, fl.Name)
				}
			}
		})
	}
	paths = slices.DeleteFunc(paths, func(name string) bool { return name == "output" || name == "shard" })
	slices.Sort(paths)
	slices.Sort(taken)
	if !slices.Equal(paths, taken) {
		t.Errorf("%v name files, %v are taken along", paths, taken)
	}
}

// runOn runs a command line whose cells an engine computes, or this process, and returns the exit code.
func runOn(t *testing.T, e grids.Engine, stdout, stderr io.Writer, args ...string) int {
	root := gridCommands(&grids.Runner{Words: args, Engine: e})
	return terminal.Run(t.Context(), root, args, stdout, stderr, flags.Explain)
}

// taking is an engine that takes the grid, and computes nothing.
type taking struct{ grid *grids.Grid }

var errTaken = errors.New("taken")

func (e *taking) Compute(_ context.Context, g *grids.Grid) error {
	e.grid = g
	return errTaken
}

// A command is handed on with all that it was given but for where results go, and can be put together again elsewhere.
func TestEngineSeesCommand(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, content := range map[string]string{"g.edges": "a b\nb c\n", "when": "0 1\n2 3\n", "florentine": "x y\n"} {
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	e := new(taking)
	code := runOn(t, e, io.Discard, io.Discard, "account", "-g", "g.edges", "--T=4", "--schema", "when", "-q", "--attacker",
		"all", "-o", "out", "--json", "--force")
	if code != 1 || e.grid == nil || len(e.grid.Cells) != 3 || e.grid.Workers < 1 {
		t.Fatalf("code %d, %+v", code, e.grid)
	}
	want := []grids.Flag{{"graph", "g.edges", []string{"g.edges"}}, {"T", "4", nil}, {"schema", "when", []string{"when"}},
		{"quiet", "true", nil}, {"attacker", "all", nil}}
	if !reflect.DeepEqual(e.grid.Flags, want) || !slices.Equal(e.grid.Command, []string{"account"}) {
		t.Errorf("%v %v", e.grid.Command, e.grid.Flags)
	}
	places := map[string]string{"g.edges": "/there/g.edges", "when": "/there/when"}
	words := grids.WordsAt(e.grid.Command, e.grid.Flags, places)
	if got := strings.Join(words, " "); got !=
		"account --graph=/there/g.edges --T=4 --schema=/there/when --quiet=true --attacker=all" {
		t.Error(got)
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); !os.IsNotExist(err) {
		t.Errorf("a folder without results: %v", err)
	}
	runOn(t, e, io.Discard, io.Discard, "account", "-g", "florentine", "--T=4", "--attacker", "Medici")
	if f := e.grid.Flags[0]; f.Paths != nil {
		t.Errorf("a built-in graph is %v", f.Paths)
	}
}

// doing computes the cells of a grid in this process, but for some.
type doing struct{ leave int }

func (e doing) Compute(ctx context.Context, g *grids.Grid) error {
	for _, cell := range g.Cells[e.leave:] {
		result, err := g.Do(ctx, cell)
		if err == nil {
			err = g.Keep(ctx, cell, result)
		}
		if err != nil {
			return errors.Join(err, g.Fail(cell, err))
		}
	}
	return nil
}

// An engine makes what the command makes by itself; what it leaves is an error, and is computed the next time.
func TestEngineComputes(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	account := func(e grids.Engine, out string) (int, string, string) {
		var stdout, stderr bytes.Buffer
		code := runOn(t, e, &stdout, &stderr, "account", "--graph", "path:4", "--T", "3", "--attacker", "all", "-o", out)
		return code, strings.ReplaceAll(stdout.String(), out, "OUT"), stderr.String()
	}
	_, want, _ := account(nil, "alone")
	code, got, errs := account(doing{3}, "other")
	if code != 1 || got != "" || !strings.Contains(errs, "not computed 3 attackers; 1 of 4 attackers are kept in other") {
		t.Errorf("code %d, %s%s", code, got, errs)
	}
	if code, got, errs = account(doing{}, "other"); code != 0 || got != want {
		t.Errorf("code %d, %s%s, alone: %s", code, got, errs, want)
	}
	for _, name := range []string{"account.json", "pairs.csv", "study.json", "exposure.svg"} {
		a, err := os.ReadFile(filepath.Join("alone", name))
		b, failed := os.ReadFile(filepath.Join("other", name))
		if err != nil || failed != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs: %v, %v", name, err, failed)
		}
	}
	if code, got, _ = account(new(taking), "other"); code != 0 || got != want {
		t.Errorf("an engine is asked for cells that are there: code %d, %s", code, got)
	}
	code = runOn(t, doing{}, io.Discard, io.Discard, "account", "--graph", "path:4", "--T", "3", "--attacker", "all",
		"-o", "parts", "--shard", "1/2")
	if code != 2 {
		t.Errorf("with --shard: code %d", code)
	}
}
