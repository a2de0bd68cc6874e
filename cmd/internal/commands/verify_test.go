package commands

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Whatever is in a manifest, the command ends in one line and with exit code 1 or 2; or 0, if it is true.
func TestVerifyEndsInOneLine(t *testing.T) {
	t.Parallel()
	edges := writeFile(t, "g.edges", "a b\nb c\nc d\n")
	const alphabet = "\"{}[],:0123456789eE.-+ nNtTfF\x00\xff"
	values := []any{json.Number("0"), json.Number("-1"), json.Number("1e308"), json.Number("4611686018427387904"),
		json.Number("1e400"), "", "x\ny", "prefix", true, nil, []any{}, map[string]any{}}
	rng := rand.New(rand.NewPCG(7, 7))
	for _, split := range [][]string{nil, {"--strategy", "groups=2"}, {"--strategy", "blt", "--format", "parameters-only"}} {
		dir := filepath.Join(t.TempDir(), "out")
		optimizeJSON(t, append([]string{"--graph", edges, "--T", "6", "-k", "2", "-o", dir}, split...)...)
		text, manifest := readGeneric(t, dir)
		ends := func() {
			t.Helper()
			code, _, errs := mafalda("verify", dir, "--graph", edges)
			if n := strings.Count(errs, "\n"); code < 0 || code > 2 || code != 0 && n != 1 {
				t.Errorf("%v: code %d, %q", split, code, errs)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(manifest)) {
			was := manifest[key]
			manifest[key] = values[rng.IntN(len(values))]
			writeGeneric(t, dir, manifest)
			manifest[key] = was
			ends()
		}
		for range 10 {
			broken := bytes.Clone(text)
			broken[rng.IntN(len(broken))] = alphabet[rng.IntN(len(alphabet))]
			if err := os.WriteFile(filepath.Join(dir, "manifest.json"), broken, 0o600); err != nil {
				t.Fatal(err)
			}
			ends()
		}
	}
}

// readGeneric returns the bytes of a manifest, and what they hold, numbers as they are written.
func readGeneric(t testing.TB, dir string) ([]byte, map[string]any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&manifest); err != nil {
		t.Fatal(err)
	}
	return text, manifest
}

func writeGeneric(t testing.TB, dir string, manifest map[string]any) {
	t.Helper()
	text, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Where baselines are measured, so is the strategy of plain training: it cannot be left out of a manifest.
func TestVerifyMissesPlainStrategy(t *testing.T) {
	t.Parallel()
	train := []string{"--graph", "path:4", "--T", "8", "-k", "2", "--optimizer", "momentum:0.9"}
	dir, without := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, append(train, "-o", dir)...)
	optimizeJSON(t, append(train, "--no-baselines", "-o", without)...)
	path := filepath.Join(dir, "manifest.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(text, &m); err != nil || m["plain_strategy_loss"] == nil {
		t.Fatal(err, string(text))
	}
	delete(m, "plain_strategy_loss")
	if text, err = json.Marshal(m); err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if code, out, errs := mafalda("verify", dir); err != nil || code != 1 || !strings.Contains(out, "FAILED  plain strategy") {
		t.Errorf("%v, code %d, %s%s", err, code, out, errs)
	}
	if code, out, errs := mafalda("verify", without); code != 0 || !strings.Contains(out, "plain_strategy_loss") {
		t.Errorf("without baselines: code %d, %s%s", code, out, errs)
	}
	trained := strings.Replace(string(text), `"momentum":0.9`, `"momentum":1.9`, 1)
	if err := os.WriteFile(path, []byte(trained), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := mafalda("verify", dir); code != 2 || !strings.Contains(errs, "workload_spec: momentum 1.9") {
		t.Errorf("code %d, %s", code, errs)
	}
}
