package commands

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mafalda/internal/npy"
)

// noisy makes an export with a noise level.
func noisy(t *testing.T, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, dropGraph(append([]string{"--graph", "florentine", "--T", "16", "-k", "4", "--mu", "1", "--no-baselines", "-o", dir}, args...))...)
	return dir
}

// Rows drawn one by one through a state are the rows of one run, none twice; a seed makes them again.
func TestNoiseCommand(t *testing.T) {
	dir, work := noisy(t), t.TempDir()
	state := filepath.Join(work, "state")
	draw := func(name string, args ...string) npy.Array {
		t.Helper()
		out := filepath.Join(work, name)
		if code, stdout, errs := mafalda(append([]string{"noise", dir, "--node", "Medici", "--dim", "50", "-o", out}, args...)...); code != 0 || stdout != "" {
			t.Fatalf("%s: code %d, %q, %s", name, code, stdout, errs)
		}
		a, err := npy.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	all := draw("all.npy", "--seed", "3")
	if !slices.Equal(all.Shape, []int{16, 50}) {
		t.Fatalf("shape %v", all.Shape)
	}
	first := draw("first.npy", "--seed", "3", "--state", state, "--new", "--steps", "5")
	rest := draw("rest.npy", "--seed", "3", "--state", state)
	if !slices.Equal(append(first.Data, rest.Data...), all.Data) {
		t.Error("rows through a state are not those of one run")
	}
	if code, _, errs := mafalda("noise", dir, "--node", "Medici", "--dim", "50", "--seed", "3", "--state", state, "--steps", "1"); code != 2 || !strings.Contains(errs, "0 of 16 rows are left") {
		t.Errorf("after the last row: code %d, %s", code, errs)
	}
	code, raw, errs := mafalda("noise", dir, "--node", "Medici", "--dim", "50", "--seed", "3", "--format", "raw32")
	if code != 0 || len(raw) != 4*16*50 || !strings.Contains(errs, "NOT private") {
		t.Errorf("raw: code %d, %d bytes, %s", code, len(raw), errs)
	}
	secret := filepath.Join(work, "secret")
	one, other := draw("one.npy", "--state", secret, "--new", "--steps", "1"), draw("other.npy", "--state",
		filepath.Join(work, "another"), "--new", "--steps", "1")
	if slices.Equal(one.Data, other.Data) || slices.Equal(one.Data, all.Data[:50]) {
		t.Error("two keys made the same noise")
	}
	if code, _, errs := mafalda("noise", dir, "--node", "Medici", "--dim", "50", "--state", secret, "-o", filepath.Join(work, "one.npy")); code != 2 || !strings.Contains(errs, "--force") {
		t.Errorf("over a file: code %d, %s", code, errs)
	}
}

// Nodes with strategies of their own draw from these.
func TestNoiseOfNodes(t *testing.T) {
	shared, own := noisy(t), noisy(t, "--strategy", "per-node")
	draw := func(dir, node string) string {
		code, raw, errs := mafalda("noise", dir, "--node", node, "--dim", "20", "--seed", "1")
		if code != 0 {
			t.Fatalf("code %d, %s", code, errs)
		}
		return raw
	}
	if draw(shared, "Medici") == draw(own, "Medici") || draw(own, "Medici") == draw(own, "Pazzi") {
		t.Error("a node does not use its own strategy")
	}
}

// A label is written on the command line as it is, whatever nodes.csv does to it.
func TestNoiseOfQuotedLabel(t *testing.T) {
	dir := noisy(t, "--graph", writeFile(t, "g.edges", "a\"x b\nb c\n"), "--strategy", "per-node")
	for node, want := range map[string]int{`a"x`: 0, "b": 0, `"a""x"`: 2} {
		if code, _, errs := mafalda("noise", dir, "--node", node, "--dim", "2", "--seed", "1"); code != want {
			t.Errorf("%s: code %d, %s", node, code, errs)
		}
	}
}

// The example trains with fixed batches, misses steps and carries their rows, where there is a PyTorch.
func TestTrainExample(t *testing.T) {
	folder, err := filepath.Abs(filepath.Join("..", "..", "..", "examples", "pytorch"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "train.py"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"plan.sampler(", "sampler=sampler", "private.skip_to(step + 1)"} {
		if !bytes.Contains(text, []byte(line)) {
			t.Errorf("the example has no %q", line)
		}
	}
	if err := exec.Command("python3", "-c", "import torch").Run(); err != nil {
		t.Logf("no PyTorch here: %v", err)
		return
	}
	run := exec.Command("python3", filepath.Join(folder, "train.py"), noisy(t), "Medici")
	run.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+filepath.Join(folder, "..", "..", "python"))
	if out, err := run.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("step 10: loss")) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestBadNoise(t *testing.T) {
	dir := noisy(t)
	silent := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, "--graph", "florentine", "--T", "16", "-k", "4", "--no-baselines", "-o", silent)
	garbled := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(garbled, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	with := func(args ...string) []string {
		return append([]string{"noise", dir, "--node", "Medici", "--dim", "5", "--seed", "1"}, args...)
	}
	for name, tc := range map[string]struct {
		args []string
		say  string
	}{
		"no folder":      {[]string{"noise"}, "one folder"},
		"no dim":         {[]string{"noise", dir, "--seed", "1"}, "--dim"},
		"dim of zero":    {with("--dim", "0"), "at least 1"},
		"no key":         {[]string{"noise", dir, "--dim", "5"}, "--state"},
		"unknown node":   {with("--node", "Borgia"), "no node"},
		"no node":        {with("--node", ""), "no node"},
		"too many steps": {with("--steps", "17"), "16 of 16 rows are left"},
		"no steps":       {with("--steps", "0"), "at least 1"},
		"format":         {with("--format", "csv"), "csv"},
		"noise level":    {with("--noise-std", "-1"), "--noise-std -1"},
		"too little":     {with("--noise-std", "1e-9"), "is less than the "},
		"too much":       {with("--noise-std", "1.7e308"), "between"},
		"grid":           {with("--grid", "0"), "--grid 0"},
		"grid of all":    {with("--grid", "1000"), "power of two"},
		"grid of most":   {with("--grid", "1024"), "an eighth"},
		"grid of none":   {with("--grid", "1e-320"), "power of two"},
		"decimal grid":   {with("--grid", "0.1"), "power of two"},
		"no noise level": {[]string{"noise", silent, "--node", "Medici", "--dim", "5", "--seed", "1"}, "no noise level"},
		"no export":      {[]string{"noise", t.TempDir(), "--node", "Medici", "--dim", "5", "--seed", "1"}, "no export here"},
		"garbled state":  {with("--state", garbled), "no record"},
		"no such state":  {with("--state", garbled+"x"), "--new starts one"},
		"state is there": {with("--state", garbled, "--new"), "without --new"},
		"new what":       {with("--new"), "is for --state"},
		"count what":     {with("--counter", garbled+"c"), "is for --state"},
		"another row":    {with("--row", "3"), "row 0 is next"},
		"no such row":    {with("--row", "-1"), "must be at least 0"},
		"row of new":     {with("--row", "1", "--state", garbled+"x", "--new"), "starts with row 0"},
		"over the state": {with("--state", garbled, "-o", garbled, "--force"), "one file"},
		"beside itself":  {with("--state", garbled+".json", "--new", "-o", garbled, "--force"), "one file"},
		"in the export":  {with("-o", filepath.Join(dir, "row.npy")), "its own files"},
		"state in it":    {with("--state", filepath.Join(dir, "state"), "--new"), "its own files"},
		"to a device":    {with("-o", os.DevNull), "device"},
		"too large":      {with("--dim", "1000000000000"), "of memory"},
	} {
		code, out, errs := mafalda(tc.args...)
		if code != 2 || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, tc.say) {
			t.Errorf("%s: code %d, stdout %q, stderr %q; want 2 and one line with %q", name, code, out, errs, tc.say)
		}
	}
}

// The Python package makes the same bytes, for every class of strategies, where there is a Python with NumPy. Without
// one the golden numbers in package noise, which it made, stand for it.
func TestPythonNoise(t *testing.T) {
	t.Parallel()
	module := filepath.Join("..", "..", "..", "python", "mafalda", "_generator.py")
	if text, err := os.ReadFile(module); err != nil || !bytes.Contains(text, []byte("def chacha8")) {
		t.Fatalf("the package is not there: %v", err)
	}
	if err := exec.Command("python3", "-c", "import numpy").Run(); err != nil {
		t.Logf("no Python with NumPy here: %v", err)
		return
	}
	quoted := writeFile(t, "g.edges", "a\"x Pazzi\nPazzi c\n")
	var runs []pythonRun
	for name, args := range map[string][]string{
		"dense":          nil,
		"quoted":         {"--graph", quoted, "--strategy", "per-node"},
		"per-node":       {"--strategy", "per-node"},
		"banded":         {"--strategy", "banded", "--format", "parameters-only"},
		"toeplitz":       {"--strategy", "toeplitz", "--strategy", "scale-columns"},
		"blt":            {"--strategy", "blt", "--strategy", "buffers=3"},
		"banded-inverse": {"--strategy", "banded-inverse", "--strategy", "bandwidth=3"},
		"comb":           {"--strategy", "comb", "--strategy", "buffers=2", "--strategy", "scale-columns"},
		"shared":         {"--trust", "secldp", "--T", "8", "-k", "2"},
	} {
		if testing.Short() {
			args = append(args, "--T", "8", "-k", "2")
		}
		dir, work := noisy(t, args...), t.TempDir()
		ours, theirs := filepath.Join(work, "go.npy"), filepath.Join(work, "python.npy")
		if code, _, errs := mafalda("noise", dir, "--node", "Pazzi", "--dim", "4100", "--seed", "9", "-o", ours); code != 0 {
			t.Fatalf("%s: code %d, %s", name, code, errs)
		}
		runs = append(runs, pythonRun{name, []string{dir, "Pazzi", "4100", "9", theirs}})
	}
	for name, says := range python(t, runs) {
		if says != "" {
			t.Errorf("%s: %s", name, says)
		}
	}
	for _, r := range runs {
		theirs := r.Args[4]
		a, err := os.ReadFile(filepath.Join(filepath.Dir(theirs), "go.npy"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(theirs)
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: Go and Python differ (%v)", r.Name, err)
		}
	}
}
