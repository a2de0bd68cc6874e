package commands

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mafalda/threat"
)

// sharedOut is an export of optimize --trust secldp on florentine.
func sharedOut(t *testing.T, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shared")
	optimizeJSON(t, append([]string{"--graph", "florentine", "--T", "6", "-k", "2", "--trust", "secldp", "-o", dir}, args...)...)
	return dir
}

// sharedArgs are the arguments of account and audit for it.
func sharedArgs(command, dir string, more ...string) []string {
	args := []string{command, "--graph", "florentine", "--T", "6", "-k", "2", "--algorithm", "mf-d-sgd", "--export", dir}
	if !slices.Contains(more, "ldp") && !slices.Contains(more, "pndp") {
		args = append(args, "--trust", "secldp")
	}
	return append(args, more...)
}

// An export whose nodes share noise verifies; the audit of its claim passes, and fails at half the noise and against
// one curious node more than it was made for.
func TestSharedAudit(t *testing.T) {
	t.Parallel()
	dir := sharedOut(t)
	if code, out, errs := mafalda("verify", dir); code != 0 {
		t.Fatalf("verify: code %d, %s%s", code, out, errs)
	}
	for name, tc := range map[string]struct {
		args []string
		code int
		say  string
	}{
		"the worst":          {nil, 0, "claim for every coalition of at most 1"},
		"half the noise":     {[]string{"--noise-scale", "0.5"}, 1, "FAILED"},
		"two":                {[]string{"--trust", "coalitions=2"}, 1, "FAILED"},
		"two by name":        {[]string{"--attacker", "Bischeri,Castellani"}, 1, "on Strozzi"},
		"one by name":        {[]string{"--attacker", "Medici"}, 0, "attack         of Medici"},
		"the eavesdropper":   {[]string{"--trust", "coalitions=0"}, 0, "of everybody"},
		"a named victim":     {[]string{"--victim", "Medici", "--trust", "coalitions=2", "--runs", "9000"}, 1, "on Medici"},
		"coalitions, a file": {[]string{"--trust", "coalitions=" + writeFile(t, "who", "Bischeri Castellani\n")}, 1, "Bischeri,Castellani"},
	} {
		code, out, errs := mafalda(sharedArgs("audit", dir, tc.args...)...)
		if code != tc.code || !strings.Contains(out, tc.say) {
			t.Errorf("%s: code %d, %s%s", name, code, out, errs)
		}
	}
	code, out, _ := mafalda(sharedArgs("audit", dir, "--json", "--trust", "coalitions=2")...)
	var found struct {
		Attacker []string
		Victim   string
		Claimed  float64 `json:"claimed_mu"`
		Passed   bool
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil || code != 1 || len(found.Attacker) != 2 || math.Abs(found.Claimed-1) > 1e-9 || found.Passed {
		t.Errorf("code %d, %s", code, out)
	}
}

// Whoever changes a deviation, and the hashes with it, is found out by every program that judges the noise.
func TestSharedTampering(t *testing.T) {
	t.Parallel()
	dir := sharedOut(t, "--no-baselines", "--mu", "1")
	path := filepath.Join(dir, "pairs.csv")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	cut := strings.LastIndex(lines[1], ",")
	changed := lines[0] + lines[1][:cut] + ",0\n" + strings.Join(lines[2:], "")
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"verify", dir}, sharedArgs("account", dir), sharedArgs("audit", dir),
		{"simulate", "--graph", "florentine", "--T", "6", "-k", "2", "--methods", dir, "--mu", "1"}} {
		if code, out, errs := mafalda(args...); code == 0 || !strings.Contains(out+errs, "pairs.csv") {
			t.Errorf("%s: code %d, %s%s", args[0], code, out, errs)
		}
	}
	rehash(t, dir, "pairs.csv")
	if code, out, _ := mafalda("verify", dir); code != 1 || !strings.Contains(out, "hides less than it should") {
		t.Errorf("verify: code %d, %s", code, out)
	}
	if code, out, _ := mafalda(sharedArgs("audit", dir, "--runs", "16000")...); code != 1 || !strings.Contains(out, "claimed        mu = 1\n") {
		t.Errorf("audit: code %d, %s", code, out)
	}
	code, out, errs := mafalda("simulate", "--graph", "florentine", "--T", "6", "-k", "2", "--methods", dir, "--mu", "1")
	if code != 2 || !strings.Contains(errs, "hidden by less noise") {
		t.Errorf("simulate: code %d, %s%s", code, out, errs)
	}
	if code, out, _ := mafalda(sharedArgs("account", dir, "--json")...); code != 0 || !strings.Contains(out, `"mu": 1.0`) && !strings.Contains(out, `"mu": 1.1`) {
		t.Errorf("account: code %d, %s", code, out)
	}
}

// rehash makes the hash of a file in the manifest fit.
func rehash(t *testing.T, dir, name string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "manifest.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var manifest map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&manifest); err != nil {
		t.Fatal(err)
	}
	manifest["files"].(map[string]any)[name] = fmt.Sprintf("%x", sha256.Sum256(content))
	if text, err = json.Marshal(manifest); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// --trust ldp is local DP where nodes share noise, too: the number of the column, of an export and of DECOR. What it
// said before is the eavesdropper's.
func TestLocalDPTrustsNobody(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, "--graph", "complete:8", "--T", "8", "-k", "4", "--trust", "secldp", "--mu", "1", "-o", dir)
	for name, algorithm := range map[string][]string{"an export": {"mf-d-sgd", "--export", dir}, "decor": {"decor"}} {
		on := func(command, trust string, more ...string) []string {
			args := append([]string{command, "--graph", "complete:8", "--T", "8", "-k", "4", "--trust", trust, "--json",
				"--algorithm"}, algorithm...)
			return append(args, more...)
		}
		muOf := func(trust string) (mu, local float64) {
			t.Helper()
			var r threat.Report
			code, out, errs := mafalda(on("account", trust)...)
			if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
				t.Fatalf("%s: code %d, %v, %s", name, code, err, errs)
			}
			for _, p := range r.Pairs {
				mu = math.Max(mu, *p.Mu)
			}
			return mu, *r.LocalMu
		}
		ldp, local := muOf("ldp")
		outside, _ := muOf("eavesdropper")
		if math.Abs(ldp/local-1) > 1e-4 || outside > 0.6*ldp {
			t.Errorf("%s: ldp %v, local DP %v, an eavesdropper %v", name, ldp, local, outside)
		}
		for _, trust := range []string{"ldp", "eavesdropper"} {
			var r threat.AuditResult
			code, out, errs := mafalda(on("audit", trust, "--runs", "2000")...)
			want := map[string]float64{"ldp": ldp, "eavesdropper": outside}[trust]
			if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || math.Abs(r.Claimed/want-1) > 1e-4 ||
				r.Low > want || r.High < 0.99*want {
				t.Errorf("%s, audit of %s: code %d, %v, %s%s, want %v", name, trust, code, err, out, errs, want)
			}
		}
	}
	code, _, errs := mafalda("account", "--graph", "complete:8", "--T", "16", "--algorithm", "decor", "--trust", "secldp")
	if code != 2 || !strings.Contains(errs, "who attacks?") {
		t.Errorf("nobody attacks: code %d, %s", code, errs)
	}
}
