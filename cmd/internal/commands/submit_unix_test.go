//go:build unix

package commands

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// oddGraph is a network whose labels, and whose name, a shell would take apart.
func oddGraph(t *testing.T) string {
	return writeFile(t, `it's "odd" $HOME.edges`, "it's \"b\nit's $(c)\n$(c) \"b\n\"b d|e\nd|e *\n")
}

// same fails if two folders differ in what merge has written.
func same(t *testing.T, alone, merged string) {
	t.Helper()
	want, got := contents(t, alone), contents(t, merged)
	for name, content := range want {
		if got[name] != content {
			t.Errorf("%s is another one", name)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, %d of one machine", len(got), len(want))
	}
}

// A grid in local processes equals the grid of one process, whatever is in its words; only what is missing is run
// again.
func TestSubmitLocal(t *testing.T) {
	t.Setenv("MAFALDA_PROGRAM", "1") // this program, to its processes
	dir := t.TempDir()
	grid := []string{"account", "--graph", oddGraph(t), "--T", "4", "--attacker", "all"}
	alone, many := filepath.Join(dir, "alone"), filepath.Join(dir, "it's many")
	code, want, errs := mafalda(append(grid, "-o", alone)...)
	if code != 0 {
		t.Fatal(errs)
	}
	submit := func(flags ...string) (string, string) {
		t.Helper()
		line := append([]string{"submit", "--engine", "local", "--shards", "3"}, flags...)
		code, out, errs := mafalda(append(append(line, "--"), append(grid, "-o", many)...)...)
		if code != 0 {
			t.Fatalf("%v: code %d, %s%s", flags, code, out, errs)
		}
		return out, errs
	}
	out, errs := submit()
	if _, err := os.Stat(many); err == nil || strings.Count(out, " &\n") != 3 || !strings.Contains(errs, "without --yes") {
		t.Errorf("%v, %s%s", err, out, errs)
	}
	if out, errs = submit("--yes", "-q"); out+errs != "" {
		t.Errorf("it is not quiet: %s%s", out, errs)
	}
	same(t, alone, many)
	if err := os.RemoveAll(many); err != nil {
		t.Fatal(err)
	}
	out, errs = submit("--yes")
	if _, result, _ := strings.Cut(out, "merge"); !strings.HasSuffix(strings.ReplaceAll(result, many, alone), want) || strings.Count(errs, "all there") != 3 {
		t.Errorf("%s%s\nwant %s", out, errs, want)
	}
	same(t, alone, many)
	if out, _ = submit(); strings.Contains(out, "&") || !strings.Contains(out, " merge ") {
		t.Errorf("all is there: %s", out)
	}
	cells, err := filepath.Glob(filepath.Join(many, "cells", "*"))
	if err != nil || len(cells) != 5 {
		t.Fatal(cells, err)
	}
	if err := os.Remove(cells[3]); err != nil {
		t.Fatal(err)
	}
	if out, errs = submit("--yes"); strings.Count(out, " &\n") != 1 || !strings.Contains(errs, "missing: 1 of 5 cells, in 1 of 3 shards") {
		t.Errorf("one is missing: %s%s", out, errs)
	}
	same(t, alone, many)
}

// A folder may look like a flag.
func TestSubmitToDash(t *testing.T) {
	t.Setenv("MAFALDA_PROGRAM", "1")
	t.Chdir(t.TempDir())
	code, out, errs := mafalda("submit", "--engine", "local", "--shards", "2", "--yes", "--", "account", "--graph", "cycle:4", "--T", "3",
		"--attacker", "all", "-o", "-x")
	if _, err := os.Stat("-x/account.json"); code != 0 || err != nil || !strings.Contains(errs, "mafalda merge ./-x\n") {
		t.Errorf("code %d, %v, %s%s", code, err, out, errs)
	}
}

// Whichever shard is killed, and when: submitted again, the grid equals the grid of one process, byte for byte.
func TestSubmitAfterKills(t *testing.T) {
	t.Setenv("MAFALDA_PROGRAM", "1")
	dir := t.TempDir()
	grid := []string{"account", "--graph", "barabasi:30,3", "--T", "20", "--attacker", "all", "-q"}
	alone := filepath.Join(dir, "alone")
	if code, _, errs := mafalda(append(grid, "-o", alone)...); code != 0 {
		t.Fatal(errs)
	}
	draw, moments := rand.New(rand.NewPCG(7, 7)), 5
	if testing.Short() {
		moments = 2
	}
	killed := 0
	for moment := range moments {
		many := filepath.Join(dir, "many"+string(rune('0'+moment)))
		var shards []*exec.Cmd
		for _, part := range []string{"1/2", "2/2"} {
			cmd := exec.Command(os.Args[0], append(grid, "-o", many, "--shard", part)...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			shards = append(shards, cmd)
		}
		time.Sleep(time.Duration(draw.IntN(300)) * time.Millisecond)
		if err := shards[draw.IntN(2)].Process.Kill(); err != nil {
			t.Log(err) // it has ended before
		}
		for _, s := range shards {
			if s.Wait() != nil {
				killed++
			}
		}
		line := append([]string{"submit", "--engine", "local", "--shards", "2", "--yes", "-q", "--"}, grid...)
		if code, out, errs := mafalda(append(line, "-o", many)...); code != 0 {
			t.Fatalf("code %d, %s%s", code, out, errs)
		}
		same(t, alone, many)
	}
	t.Logf("%d of %d were killed before they had ended", killed, moments)
}

// Ctrl-C ends the shards, and so does closing the terminal; what they have is kept.
func TestSubmitInterrupted(t *testing.T) {
	t.Setenv("MAFALDA_PROGRAM", "1")
	heard := make(chan os.Signal, 1) // under nohup the tests ignore this signal, and so would the program
	signal.Notify(heard, syscall.SIGHUP)
	defer signal.Stop(heard)
	for _, end := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		dir := filepath.Join(t.TempDir(), "many")
		cmd := exec.Command(os.Args[0], "submit", "--engine", "local", "--shards", "2", "--yes", "--", "account", "--graph", "barabasi:100,5",
			"--T", "100", "--attacker", "all", "-o", dir)
		var errs strings.Builder
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for range 30000 { // ten minutes, on a machine that does much else
			if cells, _ := filepath.Glob(filepath.Join(dir, "cells", "*.json")); len(cells) > 0 {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if err := cmd.Process.Signal(end); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 130 || strings.Count(errs.String(), "interrupted") != 3 ||
			!strings.Contains(errs.String(), "same command goes on with") {
			t.Errorf("%v: code %d, %s", end, code, &errs)
		}
		code, out, _ := mafalda("status", dir)
		if code != 0 || strings.Contains(out, "failed  1") || strings.Contains(out, "done    0\n") || strings.Contains(out, "complete") {
			t.Errorf("%v: code %d, %s", end, code, out)
		}
	}
}

// A cell that is not what was written is named, and nothing is merged.
func TestSubmitOverDamage(t *testing.T) {
	t.Setenv("MAFALDA_PROGRAM", "1")
	dir := filepath.Join(t.TempDir(), "many")
	path := writeFile(t, "g.edges", "a b\nb c\nc a\n")
	line := []string{"submit", "--engine", "local", "--shards", "2", "--yes", "-q", "--", "account", "--graph", path, "--T", "3", "--attacker",
		"all", "-o", dir}
	if code, _, errs := mafalda(line...); code != 0 {
		t.Fatal(errs)
	}
	cells, err := filepath.Glob(filepath.Join(dir, "cells", "*"))
	if err != nil || len(cells) != 3 {
		t.Fatal(cells, err)
	}
	half, err := os.ReadFile(cells[1])
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		content string
		say     string
	}{"half a file": {string(half[:len(half)/2]), "damaged"}, "of other inputs": {strings.Replace(string(half), `"study":"`, `"study":"f`, 1), "damaged"}} {
		if err := os.WriteFile(cells[1], []byte(tc.content), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{line, {"merge", dir}, {"status", dir}} {
			code, out, errs := mafalda(args...)
			if code != 2 || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, tc.say) || !strings.Contains(errs, cells[1]) {
				t.Errorf("%s: %v: code %d, %s%s", name, args[0], code, out, errs)
			}
		}
	}
}
