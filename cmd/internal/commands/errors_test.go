package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A place that cannot be written is found before anything is computed, with exit code 1.
func TestUnwritable(t *testing.T) {
	file := writeFile(t, "file", "")
	code, out, errs := mafalda("optimize", "--graph", "cycle:5", "--T", "40", "-o", filepath.Join(file, "out"))
	if code != 1 || out != "" || strings.Count(errs, "\n") != 1 {
		t.Errorf("code %d, %q, %q", code, out, errs)
	}
}

// A changed number of the manifest, or byte of a matrix, is found out.
func TestVerifyFindsTampering(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(m map[string]any)
		say    string
	}{
		"sens too small": {func(m map[string]any) { m["sens_squared"] = 0.9 }, "FAILED  sensitivity"},
		"loss":           {func(m map[string]any) { m["loss"] = m["loss"].(float64) * 0.99 }, "FAILED  loss"},
		"bound too high": {func(m map[string]any) { m["lower_bound"] = m["loss"]; m["gap"] = 0.0 }, "FAILED  lower bound"},
		"another schema": {func(m map[string]any) { m["participation"] = map[string]any{"schema": "cyclic", "k": 8, "b": 5} }, "FAILED  sensitivity"},
		"too little": {func(m map[string]any) {
			p := m["privacy"].(map[string]any)
			p["noise_std"] = p["noise_std"].(float64) / 2
		}, "FAILED  privacy"},
		"epsilon smaller": {func(m map[string]any) { m["privacy"].(map[string]any)["epsilon"] = 1.0 }, "FAILED  privacy"},
		"adjacency":       {func(m map[string]any) { m["privacy"].(map[string]any)["adjacency"] = "replace-one" }, "FAILED  privacy"},
		"another graph":   {func(m map[string]any) { m["graph"].(map[string]any)["source"] = "cycle:6" }, "FAILED  network"},
		"another gossip":  {func(m map[string]any) { m["graph"].(map[string]any)["gossip"] = "laplacian" }, "FAILED  loss"},
		"a hash":          {func(m map[string]any) { m["files"].(map[string]any)["C.npy"] = "00" }, "FAILED  hashes"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			if code, _, errs := mafalda("optimize", "--graph", "star:5", "--T", "40", "-k", "4", "--mu", "1", "--delta", "1e-5",
				"--no-baselines", "-o", dir); code != 0 {
				t.Fatal(errs)
			}
			path := filepath.Join(dir, "manifest.json")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var m map[string]any
			if err := json.Unmarshal(text, &m); err != nil {
				t.Fatal(err)
			}
			tc.change(m)
			if text, err = json.Marshal(m); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o666); err != nil {
				t.Fatal(err)
			}
			if code, out, errs := mafalda("verify", dir); code != 1 || !strings.Contains(out, tc.say) {
				t.Errorf("code %d, want 1 and %q:\n%s%s", code, tc.say, out, errs)
			}
		})
	}
}

// A file that was cut is one line.
func TestTruncatedGraph(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.npy")
	if err := os.WriteFile(path, []byte("\x93NUMPY\x01\x00v\x00{'descr'"), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := mafalda("graph", path); code != 2 || out != "" || !strings.Contains(errs, "truncated") || strings.Count(errs, "\n") != 1 {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
}

// Of several bad numbers the same one is named every time.
func TestFirstBadNumberIsNamed(t *testing.T) {
	for want, args := range map[string]string{
		"--delta -3:": "optimize --graph path:3 --T 4 -k 2 --delta -3 --epsilon -2 --mu -1",
		"--clip -1:":  "simulate --learning-rate -2 --clip -1",
		"--clip -2:":  "smoothness --model logistic,beta=-1 --rate -1 --clip -2",
	} {
		for range 8 {
			if code, _, errs := mafalda(strings.Fields(args)...); code != 2 || !strings.Contains(errs, want) {
				t.Fatalf("%s: code %d, want %q:\n%s", args, code, want, errs)
			}
		}
	}
}
