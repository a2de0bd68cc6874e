package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"mafalda/internal/text"
	"mafalda/study"
)

// contents returns the files of a folder and below, without the shards' files, by their names.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		if err != nil || e.IsDir() || strings.HasPrefix(name, "grids") || strings.HasPrefix(name, ".") {
			return err
		}
		content, err := os.ReadFile(path)
		all[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Shards and merge make the same bytes as one machine. The times in the cells of simulate were measured by the shards.
func TestMerge(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		command []string
		timed   bool
	}{
		{[]string{"account", "--graph", "florentine", "--T", "5", "--attacker", "all"}, false},
		{[]string{"account", "--graph", "cycle:5", "--attacker", "0", "--growth", "5,10,20"}, false},
		{[]string{"simulate", "--graph", "cycle:4", "--T", "8", "-k", "2", "--mu", "1,2.50", "--seeds", "2", "--methods",
			"none,dp-d-sgd,mafalda"}, true},
	} {
		command, one, many := test.command, filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "many")
		shards(t, command, many)
		if test.timed {
			if err := os.CopyFS(one, os.DirFS(many)); err != nil {
				t.Fatal(err)
			}
		}
		code, want, errs := mafalda(append(command, "-o", one)...)
		if code != 0 {
			t.Fatal(errs)
		}
		code, got, errs := mafalda("merge", many)
		if code != 0 || strings.ReplaceAll(got, many, one) != want {
			t.Errorf("%v: code %d, %s%s\nwant %s", command, code, got, errs, want)
		}
		files, merged := contents(t, one), contents(t, many)
		for name, content := range files {
			if merged[name] != content {
				t.Errorf("%v: %s is another one", command, name)
			}
		}
		if len(merged) != len(files) {
			t.Errorf("%v: %d files, %d of one machine", command, len(merged), len(files))
		}
	}
}

// shards runs three of them into a folder.
func shards(t *testing.T, command []string, dir string) {
	t.Helper()
	for i := 1; i <= 3; i++ {
		if i > 1 {
			code, out, errs := mafalda("merge", dir)
			if code != 1 || out != "" || !strings.Contains(errs, "; missing: {") || strings.Count(errs, "\n") != 1 {
				t.Errorf("%v: merge of %d shards: code %d, %s%s", command, i-1, code, out, errs)
			}
		}
		code, out, errs := mafalda(append(command, "--shard", fmt.Sprintf("%d/3", i), "-o", dir)...)
		if code != 0 || out != "" || !strings.Contains(errs, fmt.Sprintf("shard %d/3 of the grid", i)) {
			t.Fatalf("%v: code %d, %s%s", command, code, out, errs)
		}
	}
	for name := range contents(t, dir) {
		if name != "study.json" && !strings.HasPrefix(name, "cells") {
			t.Errorf("%v: shards made %s", command, name)
		}
	}
	var status struct{ Cells, Done, Failed, Left int }
	_, text, _ := mafalda("status", dir, "--json")
	if err := json.Unmarshal([]byte(text), &status); err != nil || status.Cells < 3 || status.Done != status.Cells ||
		status.Failed+status.Left != 0 {
		t.Errorf("%v: %s", command, text)
	}
}

// Cells that failed are named with the line of their error, and those that are missing, and nothing is merged.
func TestStatusOfFailedCells(t *testing.T) {
	t.Parallel()
	dir, ctx := filepath.Join(t.TempDir(), "grid"), t.Context()
	store, err := study.Open[int, float64](dir, study.Of("count"))
	if err == nil {
		err = errors.Join(store.Ask(ctx, []string{"count"}, []int{1, 2, 3}), store.Put(ctx, 1, 0.5),
			store.Fail(2, errors.New("no such number\nand more")))
	}
	if err != nil {
		t.Fatal(err)
	}
	const want = "study   mafalda count\ncells   3\ndone    1\nfailed  1\nleft    1\neta     not known: the last cell was finished 0s ago\n" +
		"        2: no such number\n"
	ago := regexp.MustCompile(`finished \d+s ago`)
	if code, out, errs := mafalda("status", dir); code != 0 || ago.ReplaceAllString(out, "finished 0s ago") != want {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
	var status struct {
		Cells, Done, Failed, Left int
		ETA                       *float64 `json:"eta_seconds"`
		Failures                  []struct{ Error string }
	}
	_, out, _ := mafalda("status", dir, "--json")
	if err := json.Unmarshal([]byte(out), &status); err != nil || status.Failed != 1 || status.Left != 1 || status.ETA != nil ||
		len(status.Failures) != 1 || status.Failures[0].Error != "no such number" {
		t.Errorf("%v, %s", err, out)
	}
	code, out, errs := mafalda("merge", dir)
	if code != 1 || out != "" || !strings.HasSuffix(errs, "has 1 of 3 cells; failed: 2: no such number; missing: 3\n") {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
}

// What a foreign folder holds is shown, and steers no terminal: it neither moves the cursor nor makes lines.
func TestFailuresCannotSteerTerminals(t *testing.T) {
	t.Parallel()
	dir, ctx := filepath.Join(t.TempDir(), "grid"), t.Context()
	spec := study.Of("count\x1b]0;title\a\ncells   9")
	store, err := study.Open[string, float64](dir, spec)
	if err == nil {
		err = errors.Join(store.Ask(ctx, []string{"count"}, []string{"\u009b2J", "\u202eb"}),
			store.Fail("\u009b2J", errors.New("\x1b[2J\rdone    2")))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"status", dir}, {"merge", dir}, {"status", dir, "--json"}} {
		_, out, errs := mafalda(args...)
		said := strings.ReplaceAll(out+errs, "\n", "")
		if strings.ContainsFunc(said, text.ControlsTerminal) || strings.Contains(out, "\ncells   9") || !strings.Contains(said, "[2J") {
			t.Errorf("%v: %q %q", args, out, errs)
		}
	}
}

// What a foreign folder holds fills no terminal either.
func TestFailuresHaveAnEnd(t *testing.T) {
	t.Parallel()
	dir, ctx, long := filepath.Join(t.TempDir(), "grid"), t.Context(), strings.Repeat("ä", 1e6)
	store, err := study.Open[string, float64](dir, study.Of("count"+long))
	if err == nil {
		err = errors.Join(store.Ask(ctx, []string{"count"}, []string{long, "b" + long}), store.Fail(long, errors.New("c"+long)))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"status", "merge"} {
		_, out, errs := mafalda(command, dir)
		if text := out + errs; len(text) > 5000 || !strings.Contains(text, "cää") || !utf8.ValidString(text) {
			t.Errorf("%s: %d bytes, %.5000q", command, len(text), text)
		}
	}
}

// A foreign export adds no line to what verify says of it.
func TestVerifySaysItsOwnLines(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	if code, _, errs := mafalda("optimize", "--graph", "cycle:4", "--T", "4", "-k", "2", "-o", dir); code != 0 {
		t.Fatal(errs)
	}
	path := filepath.Join(dir, "manifest.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.Replace(string(text), `"source": "cycle:4"`, `"source": "g\nok      all is fine\u001b[2J", "sha256": "`+
		strings.Repeat("ab", 32)+`"`, 1))
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	_, out, errs := mafalda("verify", dir)
	if strings.Contains(out, "\nok      all is fine") || strings.Contains(out+errs, "\x1b") || !strings.Contains(out, "all is fine") {
		t.Errorf("%s%s", out, errs)
	}
}
