package commands

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"

	"mafalda/benchmarks"
	"mafalda/cmd/internal/terminal"
	"mafalda/optim"
	"mafalda/simulate"
)

// imported is what gonum uses once all rooms are imported.
var imported = blas64.Implementation()

func TestImportChangesNothing(t *testing.T) {
	if _, ok := imported.(gonum.Implementation); !ok {
		t.Errorf("importing the rooms made gonum use %T", imported)
	}
}

// TestMain lets processes of the tests be the program, with its kernels: TestFourAtOnce and the scripts start it.
func TestMain(m *testing.M) {
	optim.UseKernels()
	if os.Getenv("MAFALDA_PROGRAM") != "" {
		go terminal.EndOnSignals()
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	if args := os.Getenv("MAFALDA_ARGS"); args != "" {
		go terminal.EndOnSignals()
		os.Exit(run(context.Background(), strings.Split(args, " "), os.Stdout, os.Stderr))
	}
	testscript.Main(testsOf{m}, map[string]func(){"mafalda": func() {
		os.Exit(Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}})
}

// testsOf runs the tests, which collect less garbage than the program: a quarter of the time went into collecting
// little that was there, and a seventh into samples of allocations.
type testsOf struct{ *testing.M }

func (m testsOf) Run() int {
	debug.SetGCPercent(400)
	runtime.MemProfileRate = 0
	return m.M.Run()
}

// Attackers come to those that are there, coalitions in any order, and several processes at once lose none.
func TestFourAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "a")
	var all []*exec.Cmd
	for _, attacker := range []string{"Medici", "Pazzi", "Albizzi", "Ginori,Peruzzi"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "MAFALDA_ARGS=account --graph florentine --T 4 -q -o "+dir+" --attacker "+attacker)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if code, _, errs := mafalda("account", "--graph", "florentine", "--T", "4", "-q", "-o", dir, "--attacker",
		"Peruzzi,Ginori"); code != 0 {
		t.Errorf("code %d, %s", code, errs)
	}
	if lines := linesOf(t, filepath.Join(dir, "pairs.csv")); lines != 1+4*15 {
		t.Errorf("pairs.csv has %d lines, want those of four attackers", lines)
	}
}

// Folders with files of the user's are refused before anything is computed, with --force, too.
func TestForeignFolders(t *testing.T) {
	for name, args := range map[string][]string{
		"simulate.csv": {"simulate", "--graph", "cycle:4", "--T", "12", "-k", "3", "--task", "records=200", "--methods",
			"none", "--seeds", "1"},
		"pairs.csv":     {"account", "--graph", "florentine", "--T", "4", "--attacker", "Medici"},
		"benchmark.csv": {"benchmark", "--graph", "cycle:5", "--only", "--T", "6", "-k", "2"},
		"growth.png":    {"account", "--graph", "florentine", "--growth", "4", "--attacker", "Medici"},
	} {
		mine := writeFile(t, name, "mine")
		for _, force := range [][]string{nil, {"--force"}} {
			code, out, errs := mafalda(append(append(args, "-o", filepath.Dir(mine)), force...)...)
			text, err := os.ReadFile(mine)
			if entries, failed := os.ReadDir(filepath.Dir(mine)); code != 2 || out != "" ||
				strings.Count(errs, "\n") != 1 || string(text) != "mine" || failed != nil || len(entries) != 1 {
				t.Errorf("%v: code %d, %s, %q, %v, %v", args, code, errs, text, err, entries)
			}
		}
	}
}

// A command that ends early says what is kept, and that is what is there.
func TestInterruptedStudies(t *testing.T) {
	for name, args := range map[string][]string{
		"account":   {"account", "--graph", "florentine", "--T", "6", "--attacker", "all"},
		"growth":    {"account", "--graph", "florentine", "--growth", "4,5,6,7", "--attacker", "Medici"},
		"benchmark": {"benchmark", "--graph", "cycle:5", "--only", "--T", "6", "-k", "2"},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		dir := filepath.Join(t.TempDir(), "a", "b")
		var out, errs bytes.Buffer
		code := run(ctx, append(args, "-o", dir), &out, &errs)
		if _, err := os.Stat(filepath.Dir(dir)); code != 130 || err == nil || !strings.Contains(errs.String(), "interrupted") ||
			strings.Contains(errs.String(), "kept") || out.Len() > 0 {
			t.Errorf("%s: code %d, %s, folder %v", name, code, errs.String(), err)
		}
	}
}

func TestInterruptedWithSomeKept(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := filepath.Join(t.TempDir(), "a")
	args := []string{"benchmark", "--only", "--T", "6", "-k", "2", "-q", "-o", dir, "--graph", "path:3"}
	if code, _, errs := mafalda(args...); code != 0 {
		t.Fatalf("code %d, %s", code, errs)
	}
	var out, errs bytes.Buffer
	code := run(ctx, append(args, "--graph", "cycle:5"), &out, &errs)
	half := len(benchmarks.Strategies())
	if want := fmt.Sprintf("%d of %d rows are kept in %s", half, 2*half, dir); code != 130 || !strings.Contains(errs.String(), want) ||
		strings.Contains(errs.String(), "nothing") {
		t.Errorf("code %d, %s, want %q", code, errs.String(), want)
	}
}

// An error that is found while training leaves no folder behind.
func TestSimulateLeavesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	code, _, errs := mafalda("simulate", "--task", "records=100", "-o", dir)
	if _, err := os.Stat(filepath.Dir(dir)); code != 2 || err == nil || strings.Count(errs, "\n") != 1 {
		t.Errorf("code %d, %s, folder: %v", code, errs, err)
	}
}

// An export that is a method is known by its bytes: another one in the same folder is another method, and both stay.
func TestSimulateOfAReplacedExport(t *testing.T) {
	t.Parallel()
	dir, out := filepath.Join(t.TempDir(), "sim"), filepath.Join(t.TempDir(), "out")
	args := []string{"--graph", "cycle:4", "--T", "12", "-k", "3", "--task", "records=200", "--mu", "1", "--seeds", "1", "--methods", out}
	key := simulate.Cell{Method: out, Mu: 1}
	for i, strategy := range []string{"banded", "toeplitz"} {
		optimizeJSON(t, "--graph", "cycle:4", "--T", "12", "-k", "3", "--strategy", strategy, "--no-baselines", "-o", out, "--force")
		kept, fresh := simulateJSON(t, append(args, "-o", dir)...)[key], simulateJSON(t, args...)[key]
		if *kept.Mean != *fresh.Mean {
			t.Errorf("%s: %v from the folder, %v afresh", strategy, *kept.Mean, *fresh.Mean)
		}
		if lines := linesOf(t, filepath.Join(dir, "simulate.csv")); lines != 2+i {
			t.Errorf("%s: simulate.csv has %d lines", strategy, lines)
		}
	}
}
