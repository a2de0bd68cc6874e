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

// The graph file, its directions, components and hash go into the manifest, and verify asks for the file again.
func TestGraphFile(t *testing.T) {
	path := writeFile(t, "g.edges", "# pairs\r\na b\r\nb a\r\nb c\r\nx y\r\n")
	dir := filepath.Join(t.TempDir(), "out")
	code, out, errs := mafalda("optimize", "--graph", path, "--T", "6", "-k", "2", "-o", dir, "--json", "--no-baselines")
	if code != 0 || !strings.Contains(errs, "3 of 5 nodes") || !strings.Contains(errs, "1 repeated") {
		t.Fatalf("code %d, %s", code, errs)
	}
	var m export.Manifest
	if err := json.Unmarshal([]byte(out), &m); err != nil || m.Graph.DroppedNodes != 2 || len(m.Graph.SHA256) != 64 || m.Graph.Source != "g.edges" {
		t.Errorf("%+v, %v", m.Graph, err)
	}
	if nodes, err := os.ReadFile(filepath.Join(dir, "nodes.csv")); err != nil || string(nodes) != "index,label,degree\n0,a,1\n1,b,2\n2,c,1\n" {
		t.Errorf("%q, %v", nodes, err)
	}
	if code, out, _ = mafalda("verify", dir); code != 0 || !strings.Contains(out, "--graph") {
		t.Errorf("verify without the file: code %d, %s", code, out)
	}
	if code, out, _ = mafalda("verify", dir, "--graph", path); code != 0 || !strings.Contains(out, "lower bound") {
		t.Errorf("verify with the file: code %d, %s", code, out)
	}
	other := writeFile(t, "g.edges", "a b\nb c\nc a\n")
	if code, out, _ = mafalda("verify", dir, "--graph", other); code != 1 || !strings.Contains(out, "FAILED  network") || !strings.Contains(out, "FAILED  loss") {
		t.Errorf("verify with another file: code %d, %s", code, out)
	}
}

func TestGossipMatrixFile(t *testing.T) {
	w := writeFile(t, "w.csv", "0.5,0.5,0\n0.25,0.5,0.25\n0,0.5,0.5\n")
	dir := filepath.Join(t.TempDir(), "out")
	alone := optimizeJSON(t, "--gossip", ""+w, "--T", "6", "-k", "2", "-o", dir)
	with := optimizeJSON(t, "--gossip", ""+w, "--graph", "path:3", "--T", "6", "-k", "2")
	if !near(alone.Loss, with.Loss, 1e-12) || alone.Graph.Gossip != "file" || alone.Graph.Edges != 2 {
		t.Errorf("%+v\n%+v", alone, with)
	}
	if code, out, errs := mafalda("verify", dir, "--gossip", ""+w); code != 0 || !strings.Contains(out, "lower bound") {
		t.Errorf("code %d, %s%s", code, out, errs)
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
