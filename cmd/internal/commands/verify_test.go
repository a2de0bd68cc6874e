package commands

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mafalda/verify"
)

// Two keys that differ in case, of which Python takes the first and encoding/json the last, are refused by whatever
// reads an export.
func TestTwoNoiseLevels(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, "--graph", "path:4", "--T", "6", "-k", "2", "--mu", "1", "-o", dir)
	path := filepath.Join(dir, "manifest.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	two := strings.Replace(string(text), `"noise_std": `, `"noise_std": 0.001, "NOISE_STD": `, 1)
	if err := os.WriteFile(path, []byte(two), 0o600); err != nil || two == string(text) {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"verify", dir}, {"noise", dir, "--node", "0", "--dim", "2", "--steps", "1"},
		{"plot", dir, "-o", t.TempDir()}} {
		if code, out, errs := mafalda(args...); code != 2 || out != "" || !strings.Contains(errs,
			`unknown key "privacy.NOISE_STD"`) && args[0] != "noise" {
			t.Errorf("%v: code %d, %s%s", args, code, out, errs)
		}
	}
}

// What verify cannot know it lists: without the network's file all that depends on it, with a hint how to name it;
// and what does not hold it says in words.
func TestVerifySays(t *testing.T) {
	edges := writeFile(t, "g.edges", "a b\nb c\nc d\n")
	dir := filepath.Join(t.TempDir(), "out")
	if code, out, _ := mafalda("optimize", "--graph", edges, "--T", "6", "-k", "2", "-o", dir); code != 0 ||
		!strings.Contains(out, "check it with: mafalda verify "+dir+" --graph "+edges) {
		t.Errorf("code %d\n%s", code, out)
	}
	spaced := filepath.Join(t.TempDir(), "o u t")
	if code, out, _ := mafalda("optimize", "--graph", edges, "--T", "6", "-k", "2", "-o", spaced); code != 0 ||
		!strings.Contains(out, "mafalda verify '"+spaced+"' --graph") {
		t.Errorf("code %d: the command cannot be copied\n%s", code, out)
	}
	verdict := func(args ...string) (code int, checks []verify.Check, notChecked []string) {
		code, out, _ := mafalda(append([]string{"verify", "--json", dir}, args...)...)
		var v struct {
			Checks     []verify.Check `json:"checks"`
			NotChecked []string       `json:"not_checked"`
		}
		if err := json.Unmarshal([]byte(out), &v); err != nil {
			t.Fatal(err)
		}
		return code, v.Checks, v.NotChecked
	}
	code, _, not := verdict("--graph", edges)
	if want := []string{"version", "command", "graph.source", "tolerance", "iterations", "status", "history", "privacy",
		"seconds", "peak_bytes"}; code != 0 || !slices.Equal(not, want) {
		t.Errorf("code %d, not checked: %v, want %v", code, not, want)
	}
	if code, _, not = verdict(); code != 0 || !slices.Contains(not, "loss") || !slices.Contains(not, "lower_bound") ||
		!slices.Contains(not, "baselines") {
		t.Errorf("without the file: code %d, not checked: %v", code, not)
	}
	if _, out, _ := mafalda("verify", dir); !strings.Contains(out, "--graph FILE (it was g.edges)") ||
		!strings.Contains(out, "not checked: version, ") {
		t.Errorf("without the file:\n%s", out)
	}
	text, manifest := readGeneric(t, dir)
	manifest["rmse"] = json.Number("7")
	writeGeneric(t, dir, manifest)
	if code, out, errs := mafalda("verify", dir); code != 1 || !strings.Contains(out, "FAILED  arithmetic") ||
		!strings.Contains(out, "; the manifest says 7") {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "C.npz"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	code, checks, _ := verdict("--graph", edges)
	extra := slices.IndexFunc(checks, func(c verify.Check) bool { return c.Name == "extra files" })
	if code != 1 || extra < 0 || checks[extra].OK || !strings.Contains(checks[extra].Detail, "C.npz") {
		t.Errorf("an extra file: code %d, %+v", code, checks)
	}
}

// A network that the export is not for is refused, not ignored.
func TestVerifyNetworkOfPrefix(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, "--workload", "prefix", "--T", "6", "-k", "2", "-o", dir)
	if code, _, errs := mafalda("verify", dir, "--graph", "florentine"); code != 2 || !strings.Contains(errs,
		"leave out --graph") {
		t.Errorf("code %d, %s", code, errs)
	}
}

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

// Large numbers are grouped as everywhere.
func TestVerifyGroupsThousands(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	m := optimizeJSON(t, "--graph", "path:8", "--T", "200", "-k", "10", "--no-baselines", "-o", dir)
	code, out, errs := mafalda("verify", dir)
	thousands := regexp.MustCompile(`(?m)^ok      lower bound  \d\d,\d{3}\.`)
	if code != 0 || m.Loss < 1e4 || m.Loss >= 1e5 || !thousands.MatchString(out) || regexp.MustCompile(`\d{5,}\.`).MatchString(out) {
		t.Errorf("code %d, loss %v\n%s%s", code, m.Loss, out, errs)
	}
}
