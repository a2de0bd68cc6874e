package commands

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The Python package once took the second of two keys, a C⁻¹ that is no inverse, and a noise level that does not follow from μ.
func TestPythonNoiseRefuses(t *testing.T) {
	t.Parallel()
	if err := exec.Command("python3", "-c", "import numpy").Run(); err != nil {
		t.Logf("no Python with NumPy here: %v", err)
		return
	}
	dir := noisy(t)
	want := map[string]string{}
	var runs []pythonRun
	for name, tc := range map[string]struct{ from, to, say string }{
		"key twice":     {`"clip":`, `"clip": 1, "clip":`, "twice"},
		"in other case": {`"clip":`, `"CLIP": 1, "clip":`, "twice"},
		"no number":     {`"seconds":`, `"seconds": NaN, "x":`, "NaN"},
		"little noise":  {`"clip": `, `"clip": 1`, "takes"},
		"shared noise":  {`"seconds":`, `"space": {}, "seconds":`, "coalitions"},
		"unknown key":   {`"seconds":`, `"x": 1, "seconds":`, "does not know"},
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
		want[name] = tc.say
		runs = append(runs, pythonRun{name, []string{work, "Pazzi", "3", "9", filepath.Join(work, "row.npy")}})
	}
	says := python(t, runs)
	for name, want := range want {
		if !strings.Contains(says[name], "ExportError") || !strings.Contains(says[name], want) {
			t.Errorf("%s: %q, want %q", name, says[name], want)
		}
	}
}

// pythonRun is a drawing of the Python package (export, node, dim, seed, file), and what it is called here.
type pythonRun struct {
	Name string
	Args []string
}

// python has the Python package draw all rows of each, one after the other in one process, as it takes a while to start.
// It returns for every name the exception, or nothing.
func python(t *testing.T, runs []pythonRun) map[string]string {
	t.Helper()
	const program = `
import json, sys
sys.path.insert(0, "../../../python")
import mafalda, numpy
says = {}
for run in json.load(sys.stdin):
    directory, node, dim, seed, out = run["Args"]
    try:
        rows = mafalda.load(directory).noise(node, int(dim), seed=int(seed))
        numpy.save(out, numpy.stack([row for _, row in rows]))
        says[run["Name"]] = ""
    except Exception as e:
        says[run["Name"]] = type(e).__name__ + ": " + str(e)
print(json.dumps(says))
`
	input, err := json.Marshal(runs)
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command("python3", "-c", program)
	run.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	run.Stdin = bytes.NewReader(input)
	var errs bytes.Buffer
	run.Stderr = &errs
	out, err := run.Output()
	says := map[string]string{}
	if err == nil {
		err = json.Unmarshal(out, &says)
	}
	if err != nil || len(says) != len(runs) {
		t.Fatalf("%d of %d runs, %v\n%s%s", len(says), len(runs), err, out, errs.Bytes())
	}
	return says
}
