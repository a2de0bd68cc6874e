package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mafalda/export"
)

// An optimization goes on from its checkpoint to the same optimum, at once if it was at its end.
func TestCheckpoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.ckpt")
	args := []string{"optimize", "--graph", "florentine", "--T", "60", "-k", "4", "--no-baselines", "--json"}
	direct := optimizeJSON(t, append(slices.Clip(args[1:]), "--tolerance", "1e-9")...)
	args = slices.Clip(args)
	kept := slices.Clip(append(args, "--checkpoint", path, "--checkpoint", "resume"))

	// The first iterate is kept.
	if code, _, errs := mafalda(append(args, "--checkpoint", path, "--tolerance", "10")...); code != 0 {
		t.Fatalf("code %d, %s", code, errs)
	}
	code, text, said := mafalda(append(kept, "--tolerance", "1e-9")...)
	var m export.Manifest
	if err := json.Unmarshal([]byte(text), &m); code != 0 || err != nil || !near(m.Loss, direct.Loss, 2e-9) ||
		!strings.Contains(said, "going on after 0 iterations") {
		t.Errorf("code %d, %v, loss %v, must be %v; %s", code, err, m.Loss, direct.Loss, said)
	}

	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := append([]byte(nil), content...)
	damaged[len(damaged)-3] ^= 1
	for name, tc := range map[string]struct {
		content []byte
		args    []string
		say     string
	}{
		"damaged":                     {damaged, kept, "damaged"},
		"cut":                         {content[:len(content)/2], kept, "damaged"},
		"no checkpoint":               {[]byte("hello\n"), kept, "not a checkpoint"},
		"another problem":             {content, append(kept, "--gossip", "laplacian"), "another problem"},
		"without --checkpoint resume": {content, append(args, "--checkpoint", path), "--checkpoint resume goes on"},
		"without file":                {content, append(args, "--checkpoint", "resume"), "needs --checkpoint"},
		"start and resume":            {content, append(kept, "--start", "x"), "only one"},
		"another objective":           {content, append(kept, "--objective", "max"), "--objective max is not for --checkpoint"},
	} {
		if err := os.WriteFile(path, tc.content, 0o666); err != nil {
			t.Fatal(err)
		}
		if code, _, errs := mafalda(tc.args...); code != 2 || !strings.Contains(errs, tc.say) ||
			strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: code %d, %s", name, code, errs)
		}
	}
	if code, _, errs := mafalda(append(args, "--checkpoint", filepath.Join(path, "x"))...); code == 0 ||
		strings.Count(errs, "\n") != 1 {
		t.Errorf("where no file can be: code %d, %s", code, errs)
	}
}

// From the optimum of the same problem, or a structured strategy for it, the optimum is the same, and found sooner.
func TestStart(t *testing.T) {
	t.Parallel()
	dir, blt := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "blt")
	args := []string{"--graph", "florentine", "--T", "60", "-k", "4", "--no-baselines", "--tolerance", "1e-8"}
	direct := optimizeJSON(t, append(args, "-o", dir)...)
	again := optimizeJSON(t, append(args, "--start", dir)...)
	if !near(again.Loss, direct.Loss, 2e-8) || again.Iterations > direct.Iterations/2 {
		t.Errorf("%d iterations to %v, from a start %d to %v", direct.Iterations, direct.Loss, again.Iterations,
			again.Loss)
	}
	optimizeJSON(t, "--graph", "cycle:9", "--T", "60", "-k", "4", "--no-baselines", "--strategy", "blt", "--format", "parameters-only",
		"-o", blt)
	if other := optimizeJSON(t, append(args, "--start", blt)...); !near(other.Loss, direct.Loss, 2e-8) {
		t.Errorf("from another network's: %v, must be %v", other.Loss, direct.Loss)
	}
	if code, _, errs := mafalda("optimize", "--graph", "florentine", "--T", "30", "-k", "3", "--start",
		dir); code != 2 || !strings.Contains(errs, "has T = 60 steps") {
		t.Errorf("another T: code %d, %s", code, errs)
	}
}

// A checkpoint that cannot be written is said once, and once more at the end; the optimization goes on to its optimum.
func TestCheckpointThatCannotBeKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("x", 300)) // no file can have this name
	code, text, errs := mafalda("optimize", "--graph", "florentine", "--T", "20", "-k", "4", "--no-baselines",
		"--json", "--checkpoint", path)
	var m export.Manifest
	if err := json.Unmarshal([]byte(text), &m); code != 0 || err != nil || m.Gap > 1e-6 {
		t.Errorf("code %d, %v, gap %v, %s", code, err, m.Gap, errs)
	}
	if strings.Count(errs, "goes on without a checkpoint") != 1 || strings.Count(errs, "no checkpoint was kept") != 1 {
		t.Errorf("said: %s", errs)
	}
}
