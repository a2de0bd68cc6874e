package commands

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// costs are the lines of a manifest that say what making it took.
var costs = regexp.MustCompile(`(?m)^  "(seconds|peak_bytes)": .*\n`)

// Strategies of nodes, and of groups, that shards have found make the export of one machine.
func TestMergeLayers(t *testing.T) {
	t.Parallel()
	for kind, test := range map[string]struct {
		flags []string
		alone bool // one shard finds all, where no other one does its part
	}{"nodes": {[]string{"--strategy", "per-node"}, false}, "groups": {[]string{"--strategy", "groups=3", "--epsilon", "2", "--delta", "1e-6"}, true}} {
		one, many := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "many")
		command := append([]string{"optimize", "--graph", "florentine", "--T", "20", "-k", "4"}, test.flags...)
		code, want, errs := mafalda(append(command, "-o", one)...)
		if code != 0 {
			t.Fatal(errs)
		}
		shard := func(part string) {
			t.Helper()
			code, out, errs := mafalda(append(command, "-o", many, "--shard", part)...)
			if code != 0 || out != "" || strings.Count(errs, "shard "+part) != 1 {
				t.Fatalf("%s: code %d, %s%s", kind, code, out, errs)
			}
		}
		shard("1/2")
		code, _, errs = mafalda("merge", many, "-q")
		if test.alone != (code == 0) || test.alone == strings.Contains(errs, "missing: ") || code > 1 {
			t.Errorf("%s: merge of one of two: code %d, %s", kind, code, errs)
		}
		shard("2/2")
		code, got, errs := mafalda("merge", many)
		timed := regexp.MustCompile(`(?m)^(cost|took) .*\n|[0-9.]+ m?s\b.*`)
		export := filepath.Join(many, "export")
		if code != 0 || timed.ReplaceAllString(strings.ReplaceAll(got, export, one), "") != timed.ReplaceAllString(want, "") {
			t.Errorf("%s: code %d, %s\n%swant %s", kind, code, errs, got, want)
		}
		merged, files := contents(t, export), contents(t, one)
		for name, content := range files {
			if costs.ReplaceAllString(merged[name], "") != costs.ReplaceAllString(content, "") {
				t.Errorf("%s: %s is another one", kind, name)
			}
		}
		if len(merged) != len(files) {
			t.Errorf("%s: %d files, %d of one machine", kind, len(merged), len(files))
		}
		if code, report, _ := mafalda("verify", export); code != 0 {
			t.Errorf("%s: verify: code %d\n%s", kind, code, report)
		}
	}
}

// A shard that is interrupted before it has found anything says so, and not that all is there.
func TestLayersInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, kind := range [][]string{{"--strategy", "per-node"}, {"--strategy", "groups=2"}} {
		var out, errs strings.Builder
		dir := filepath.Join(t.TempDir(), "grid")
		code := run(ctx, append([]string{"optimize", "--graph", "cycle:5", "--T", "40", "-k", "4", "-o", dir, "--shard", "1/2"},
			kind...), &out, &errs)
		if code != 130 || out.String() != "" || errs.String() != "mafalda: interrupted\n" {
			t.Errorf("%v: code %d, %s%s", kind, code, &out, &errs)
		}
	}
}

// Submitting groups runs all shards until the last round is done.
func TestSubmitGroups(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "grid")
	groups := []string{"optimize", "--graph", "florentine", "--T", "12", "-k", "3", "--strategy", "groups=2", "-o", dir}
	submit := append([]string{"submit", "--engine", "slurm", "--shards", "3", "--"}, groups...)
	code, out, errs := mafalda(submit...)
	if code != 0 || !strings.Contains(out, "--array=1-3 ") || !strings.Contains(errs, "missing: 1 of 1 cell of this round") {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
	if code, _, errs := mafalda(append(groups, "--shard", "2/3")...); code != 0 {
		t.Fatal(errs)
	}
	if code, out, errs = mafalda(submit...); code != 0 || strings.Contains(out, "--array") || !strings.Contains(errs, "are merged") {
		t.Errorf("all is there: code %d, %s%s", code, out, errs)
	}
}
