package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mafalda/export"
)

// mafalda runs a command line and returns exit code, stdout and stderr.
func mafalda(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(context.Background(), args, &out, &err)
	return code, out.String(), err.String()
}

// dropGraph returns a command line without the --graph that another one in it takes the place of.
func dropGraph(args []string) []string {
	at := slices.Index(args, "--graph")
	if at >= 0 && slices.Contains(args[at+1:], "--graph") {
		return append(slices.Clone(args[:at]), args[at+2:]...)
	}
	return args
}

func writeFile(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func optimizeJSON(t *testing.T, args ...string) export.Manifest {
	t.Helper()
	code, out, errs := mafalda(append([]string{"optimize", "--json"}, args...)...)
	var m export.Manifest
	if err := json.Unmarshal([]byte(out), &m); code != 0 || err != nil {
		t.Fatalf("%v: code %d, %v, %s", args, code, err, errs)
	}
	return m
}

func near(a, b, relative float64) bool { return math.Abs(a-b) <= relative*math.Abs(b) }

// One node, and the complete graph with uniform gossip, are the centralized problem: MAFALDA is D-MF there.
func TestCentralizedSpecialCases(t *testing.T) {
	want := optimizeJSON(t, "--workload", "prefix", "--T", "24", "-k", "3", "--tolerance", "1e-9")
	if want.Graph != nil || !near(want.Loss, want.Baselines["d-mf"].Loss, 1e-8) {
		t.Errorf("prefix: %+v", want)
	}
	for _, spec := range []string{"complete:1", "complete:6"} {
		got := optimizeJSON(t, "--graph", spec, "--T", "24", "-k", "3", "--tolerance", "1e-9")
		if !near(got.Loss, want.Loss, 2e-9) || !near(got.Loss, got.Baselines["d-mf"].Loss, 1e-8) {
			t.Errorf("%s: loss %v, prefix %v, d-mf %v", spec, got.Loss, want.Loss, got.Baselines["d-mf"].Loss)
		}
	}
}

// T = 1: C = [1], and the loss is H = ‖W‖².
func TestOneStep(t *testing.T) {
	m := optimizeJSON(t, "--graph", "cycle:6", "--T", "1")
	if m.Participation.K != 1 || m.Participation.B != 1 || !near(m.Loss, 6.0/3, 1e-6) || m.Privacy != nil {
		t.Errorf("%+v", m)
	}
}

// A cancelled context is what Ctrl-C makes: exit code 130, nothing exported but on request.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, keep := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "out")
		args := []string{"optimize", "--graph", "cycle:5", "--T", "40", "-k", "4", "-o", dir}
		if keep {
			args = append(args, "--keep-partial")
		}
		var out, errs bytes.Buffer
		code := run(ctx, args, &out, &errs)
		_, err := os.Stat(dir)
		if code != 130 || !strings.Contains(errs.String(), "interrupted") || (err == nil) != keep {
			t.Errorf("keep %v: code %d, %s, exported %v", keep, code, errs.String(), err == nil)
		}
		if code, out, _ := mafalda("verify", dir); keep && code != 0 {
			t.Errorf("a partial export does not verify:\n%s", out)
		}
	}
}
