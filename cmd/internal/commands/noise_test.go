package commands

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/floats"

	"mafalda/internal/npy"
)

// noisy makes an export with a noise level.
func noisy(t *testing.T, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, dropGraph(append([]string{"--graph", "florentine", "--T", "16", "-k", "4", "--mu", "1", "--no-baselines", "-o", dir}, args...))...)
	return dir
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

// Noise on a grid is a row of multiples of it.
func TestNoiseOnAGrid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "grid.npy")
	args := []string{"noise", noisy(t), "--node", "Medici", "--dim", "9", "--seed", "1", "--steps", "2", "--grid", "0.0625", "-o", path}
	if code, _, errs := mafalda(args...); code != 0 {
		t.Fatalf("code %d, %s", code, errs)
	}
	a, err := npy.ReadFile(path)
	if err != nil || len(a.Data) != 18 || floats.Norm(a.Data, 2) == 0 {
		t.Fatal(a.Shape, err)
	}
	for i, v := range a.Data {
		if math.Mod(v, 0.0625) != 0 {
			t.Errorf("number %d is %v", i, v)
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
