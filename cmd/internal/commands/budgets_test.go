package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An export whose noise, clip or level of one node was changed does not verify, and nothing is drawn from it.
func TestTamperedBudget(t *testing.T) {
	levels := writeFile(t, "levels.csv", "node,epsilon,delta,clip\n0,8,1e-6,1\n1,1,1e-6,1\n2,4,1e-6,2\n")
	dir := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, "--graph", "path:3", "--T", "8", "-k", "2", "--budgets", levels, "-o", dir)
	path := filepath.Join(dir, "manifest.json")
	honest, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	budgets := strings.Index(string(honest), `"budgets": [`)
	head, tail := string(honest[:budgets]), string(honest[budgets:])
	entry := func(i int) string { return strings.SplitAfter(tail, "}")[i] }
	field := func(text, key string) string { // `"key": value`
		from := strings.Index(text, `"`+key+`"`)
		return text[from : from+strings.IndexAny(text[from:], ",\n")]
	}
	replace := func(i int, key, value string) string {
		was := field(entry(i), key)
		now := strings.Replace(entry(i), was, `"`+key+`": `+value, 1)
		return head + strings.Replace(tail, entry(i), now, 1)
	}
	state := 0
	draw := func(node string) (int, string) {
		state++
		code, _, errs := mafalda("noise", dir, "--node", node, "--dim", "2", "--state", filepath.Join(t.TempDir(), "state"), "--new", "--steps", "1",
			"-o", filepath.Join(t.TempDir(), "row.npy"))
		return code, errs
	}
	if code, errs := draw("1"); code != 0 {
		t.Fatal(errs)
	}
	for name, text := range map[string]string{
		"less noise":          replace(0, "noise_std", "0.1"),
		"a little less noise": replace(0, "noise_std", "0.65293538"),
		"much more noise":     replace(0, "noise_std", "3"),
		"a larger clip":       replace(1, "clip", "1.5"),
		"the largest clip":    replace(2, "clip", "4"),
		"a smaller mu":        replace(0, "mu", "0.5"),
		"the least mu":        replace(1, "mu", "0.1"),
		"a smaller epsilon":   replace(0, "epsilon", "2"),
		"no delta":            head + strings.Replace(tail, field(entry(0), "delta")+",", "", 1),
		"another node":        replace(0, "node", `"7"`),
		"nodes in turn":       head + strings.NewReplacer(`"node": "0"`, `"node": "1"`, `"node": "1"`, `"node": "0"`).Replace(tail),
		"a node less":         head + strings.Replace(tail, entry(0)+",", `"budgets": [`, 1),
		"less for all":        strings.Replace(head, field(head, "noise_std"), `"noise_std": 1`, 1) + tail,
		"no privacy":          strings.Replace(head, `"privacy": {`, `"nothing": {`, 1) + tail,
	} {
		if text == string(honest) {
			t.Fatalf("%s: nothing was changed", name)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _, _ := mafalda("verify", dir); code == 0 {
			t.Errorf("%s: it verifies", name)
		}
		for _, node := range []string{"0", "1", "2"} {
			if code, errs := draw(node); code != 2 || strings.Count(errs, "\n") != 1 {
				t.Errorf("%s: noise of %s: code %d, %s", name, node, code, errs)
			}
		}
		if code, out, errs := mafalda("epsilon", "--export", dir, "--step", "1"); code != 2 || out != "" || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: epsilon: code %d, %s%s", name, code, out, errs)
		}
	}
	weight := field(string(honest), "loss")
	text := strings.Replace(string(honest), weight, `"loss": 1`, 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, _ := mafalda("verify", dir); code != 1 {
		t.Error("another loss verifies")
	}
}
