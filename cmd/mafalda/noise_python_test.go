package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The Python module took the second of two keys, a C⁻¹ that is no inverse, and a noise level that does not follow from μ.
func TestPythonNoiseRefuses(t *testing.T) {
	if err := exec.Command("python3", "-c", "import numpy").Run(); err != nil {
		t.Logf("no Python with NumPy here: %v", err)
		return
	}
	dir := noisy(t)
	for name, tc := range map[string]struct{ from, to, say string }{
		"key twice":     {`"clip":`, `"clip": 1, "clip":`, "twice"},
		"in other case": {`"clip":`, `"CLIP": 1, "clip":`, "twice"},
		"no number":     {`"seconds":`, `"seconds": NaN, "x":`, "NaN"},
		"little noise":  {`"noise_std": `, `"noise_std": 0.001, "y": `, "takes"},
		"hash":          {`"C_inv.npy": "`, `"C_inv.npy": "0`, "not the file"},
		"inverse":       {`"C_inv.npy": "`, `"C_inv.npy": "`, "inverse"},
	} {
		work := t.TempDir()
		if err := os.CopyFS(work, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(work, "manifest.json")
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), tc.from) {
			t.Fatalf("%s: %v", name, err)
		}
		changed := strings.Replace(string(text), tc.from, tc.to, 1)
		if name == "inverse" {
			content := [2][]byte{}
			for i, name := range []string{"C.npy", "C_inv.npy"} {
				if content[i], err = os.ReadFile(filepath.Join(work, name)); err != nil {
					t.Fatal(err)
				}
			}
			was, is := fmt.Sprintf("%x", sha256.Sum256(content[1])), fmt.Sprintf("%x", sha256.Sum256(content[0]))
			changed = strings.ReplaceAll(changed, was, is)
			if err := os.WriteFile(filepath.Join(work, "C_inv.npy"), content[0], 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		run := exec.Command("python3", "../../examples/pytorch/mafalda_noise.py", work, "Pazzi", "3", "9", filepath.Join(work, "row.npy"))
		run.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
		out, err := run.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "ValueError") || !strings.Contains(string(out), tc.say) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
