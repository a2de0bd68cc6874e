package commands

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"mafalda/cmd/internal/terminal"
	"mafalda/noise"
)

// TestNoiseProcess is no test: it is the program, in a process of its own, for those that start it.
func TestNoiseProcess(t *testing.T) {
	if args := os.Getenv("MAFALDA_NOISE_ARGS"); args != "" {
		os.Args = append([]string{"mafalda"}, strings.Split(args, "\n")...)
		os.Exit(Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
}

// noiseProcess prepares the program with arguments.
func noiseProcess(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^TestNoiseProcess$")
	cmd.Env = append(os.Environ(), "MAFALDA_NOISE_ARGS="+strings.Join(args, "\n"))
	return cmd
}

// lone returns arguments that draw a row of a node through a state.
func lone(dir, state string, args ...string) []string {
	return append([]string{"noise", dir, "--node", "Medici", "--dim", "50", "--state", state, "--steps", "1"}, args...)
}

// Rows are said to be which: on standard error, and beside the file; no other user can read them, whatever the umask.
func TestNoiseRowsAreNumbered(t *testing.T) {
	dir, work := noisy(t), t.TempDir()
	state, out := filepath.Join(work, "state"), filepath.Join(work, "row.npy")
	var last noise.About
	for row, args := range [][]string{{"--new", "--row", "0"}, {"--row", "1", "--force"}, {"--force"}} {
		code, stdout, errs := mafalda(lone(dir, state, append(args, "-o", out)...)...)
		if code != 0 || stdout != "" || !strings.HasPrefix(errs,
			"row "+string(rune('0'+row))+" of 0..15 of \"Medici\"") {
			t.Errorf("row %d: code %d, %q, %s", row, code, stdout, errs)
		}
		text, err := os.ReadFile(out + ".json")
		if err != nil || json.Unmarshal(text, &last) != nil {
			t.Fatal(err, string(text))
		}
		content, err := os.ReadFile(out)
		hash := sha256.Sum256(content)
		manifest, err2 := os.ReadFile(filepath.Join(dir, "manifest.json"))
		export := sha256.Sum256(manifest)
		if err != nil || err2 != nil || last.SHA256 != hex.EncodeToString(hash[:]) ||
			last.Export != hex.EncodeToString(export[:]) ||
			last.FirstRow != row || last.Rows != 1 || last.Steps != 16 || last.Dim != 50 || last.Node != "Medici" ||
			!last.Private || last.NoiseStd < 1-1e-12 {
			t.Errorf("row %d: %s", row, text)
		}
		for _, name := range []string{out, out + ".json", state} {
			if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
		}
	}
	if code, _, errs := mafalda(lone(dir, state, "--row", "2", "-o", out, "--force")...); code != 2 ||
		!strings.Contains(errs, "row 2 is wanted, row 3 is next") {
		t.Errorf("a row that is out: code %d, %s", code, errs)
	}
	simulated := filepath.Join(work, "simulated.npy")
	if code, _, errs := mafalda("noise", dir, "--node", "Medici", "--dim", "3", "--seed", "7", "-o",
		simulated); code != 0 {
		t.Fatal(errs)
	}
	if text, err := os.ReadFile(simulated + ".json"); err != nil || json.Unmarshal(text, &last) != nil ||
		last.Private || last.Seed == nil ||
		*last.Seed != 7 || !strings.Contains(last.Note, "not private") || last.Rows != 16 {
		t.Errorf("%v, %s", err, text)
	}
}

// A row that is lost on its way out is named, and the next one does not take its place unasked.
func TestNoiseLostRow(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("no full device here")
		return
	}
	dir, state := noisy(t), filepath.Join(t.TempDir(), "state")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	var errs bytes.Buffer
	cmd := noiseProcess(lone(dir, state, "--new")...)
	cmd.Stdout, cmd.Stderr = full, &errs
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(errs.String(), "no space left") ||
		!strings.Contains(errs.String(), "row 0 may not have come out") || !strings.Contains(errs.String(),
		"leave step 0 out") {
		t.Errorf("%v, %s", err, errs.String())
	}
	code, out, text := mafalda(lone(dir, state)...)
	if code != 2 || out != "" || !strings.Contains(text, "--row 1 goes on") {
		t.Errorf("the next run: code %d, %d bytes, %s", code, len(out), text)
	}
	if code, _, text := mafalda(lone(dir, state, "--row", "0")...); code != 2 || !strings.Contains(text,
		"row 1 is next") {
		t.Errorf("the lost row: code %d, %s", code, text)
	}
	if code, out, text := mafalda(lone(dir, state, "--row", "1")...); code != 0 || len(out) != 8*50 {
		t.Errorf("the row after it: code %d, %s", code, text)
	}
	if code, _, text := mafalda(lone(dir, state)...); code != 0 {
		t.Errorf("after a run that ended well: code %d, %s", code, text)
	}
}

// A file of rows that is interrupted leaves no file and uses up no row; a row that cannot be written is not used up.
func TestNoiseInterrupted(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Log("no signals here")
		return
	}
	dir, work := noisy(t), t.TempDir()
	state, out := filepath.Join(work, "state"), filepath.Join(work, "row.npy")
	many := []string{"noise", dir, "--node", "Medici", "--dim", "1000000", "--state", state, "--new", "-o", out}
	cmd := noiseProcess(many...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	left := func() (names []string) {
		entries, err := os.ReadDir(work)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil && info.Mode() != 0o600 {
				t.Errorf("%s: %v", e.Name(), info.Mode())
			}
			names = append(names, e.Name())
		}
		return names
	}
	for start := time.Now(); len(left()) < 3 && time.Since(start) < time.Minute; {
		time.Sleep(time.Millisecond)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != terminal.ExitInterrupted {
		t.Error(err)
	}
	if names := left(); len(names) != 1 || names[0] != "state" {
		t.Errorf("an interrupted run has left %v", names)
	}
	many[5] = "10"
	if code, _, errs := mafalda(many...); code != 2 {
		t.Errorf("code %d, %s", code, errs)
	}
	if code, _, errs := mafalda("noise", dir, "--node", "Medici", "--dim", "1000000", "--state", state, "--row", "0",
		"--steps", "1", "-o", out); code != 0 {
		t.Errorf("code %d, %s", code, errs)
	}
}

// Started from another folder, a relative path means another state: it is not there, the error says where that would
// be, and nothing is begun. By its full path it goes on.
func TestNoiseFromAnotherFolder(t *testing.T) {
	home, elsewhere := t.TempDir(), t.TempDir()
	dir := filepath.Join(home, "out")
	optimizeJSON(t, "--graph", "path:3", "--T", "4", "-k", "2", "--mu", "1", "-o", dir)
	row := func(state string, flags ...string) (int, string) {
		code, _, errs := mafalda(append([]string{"noise", dir, "--node", "1", "--dim", "2", "--state", state, "--steps", "1"}, flags...)...)
		return code, errs
	}
	t.Chdir(home)
	if code, errs := row("node.state", "--new"); code != 0 {
		t.Fatal(errs)
	}
	t.Chdir(elsewhere)
	for _, args := range [][]string{nil, {"--row", "1"}} {
		if code, errs := row("node.state", args...); code != 2 || !strings.Contains(errs, filepath.Join(elsewhere, "node.state")+": there is no such state") {
			t.Errorf("code %d, %s", code, errs)
		}
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
	if code, errs := row(filepath.Join(home, "node.state"), "--row", "1"); code != 0 {
		t.Error(errs)
	}
}
