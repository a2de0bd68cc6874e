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
	optimizeJSON(t, append([]string{"--graph", "florentine", "--T", "12", "-k", "3", "--trust", "secldp", "-o", dir}, args...)...)
	return dir
}

// sharedArgs are the arguments of account and audit for it.
func sharedArgs(command, dir string, more ...string) []string {
	args := []string{command, "--graph", "florentine", "--T", "12", "-k", "3", "--algorithm", "mf-d-sgd", "--export", dir}
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

// The account of such an export is against its coalitions, or others; what is asked wrongly is said in a line.
func TestSharedAccount(t *testing.T) {
	t.Parallel()
	dir := sharedOut(t)
	code, out, errs := mafalda(sharedArgs("account", dir, "--json")...)
	var found struct {
		Attacker string
		Pairs    []struct {
			Victim string
			Mu     float64
			By     []string
		}
	}
	if err := json.Unmarshal([]byte(out), &found); code != 0 || err != nil || len(found.Pairs) != 15 {
		t.Fatalf("code %d, %s%s", code, out, errs)
	}
	for _, p := range found.Pairs { // bounds, rounded up
		if p.Mu > 1+1e-14 || p.Mu < 0.9 || len(p.By) != 1 || p.By[0] == p.Victim {
			t.Errorf("%+v", p)
		}
	}
	for _, args := range [][]string{{"--trust", "coalitions=2"}, {"--attacker", "all"}, {"--attacker", "Medici,Pazzi"}, {"--trust", "ldp"},
		{"--trust", "pndp", "--attacker", "Medici"}, {"--trust", "pndp", "--attacker", "Medici", "--trust", "secure-summation"}} {
		if code, _, errs := mafalda(sharedArgs("account", dir, args...)...); code != 0 {
			t.Errorf("%v: code %d, %s", args, code, errs)
		}
	}
	plain := noisy(t)
	for name, tc := range map[string]struct {
		args []string
		say  string
	}{
		"no coalitions":     {sharedArgs("account", dir, "--trust", "coalitions=nobody"), "must be a number of nodes, or a file"},
		"a negative number": {sharedArgs("account", dir, "--trust", "coalitions=-1"), "--trust coalitions"},
		"both":              {sharedArgs("audit", dir, "--trust", "coalitions=1", "--attacker", "Medici"), "only one of them"},
		"another trust":     {sharedArgs("audit", dir, "--trust", "coalitions=1", "--trust", "pndp"), "coalitions are of secldp"},
		"nobody shares":     {[]string{"audit", "--graph", "florentine", "--T", "16", "-k", "4", "--algorithm", "mf-d-sgd", "--export", plain, "--trust", "secldp", "--trust", "coalitions=1"}, "whose nodes share noise"},
		"all nodes":         {sharedArgs("account", dir, "--trust", "coalitions="+writeFile(t, "all", strings.Join(florentineLabels(t), ","))), "nobody left"},
		"other nodes":       {sharedArgs("account", dir, "--graph", "cycle:15"), "of another graph"},
	} {
		code, out, errs := mafalda(dropGraph(tc.args)...)
		if code != 2 || out != "" || !strings.Contains(errs, tc.say) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: code %d, want %q: %s", name, code, tc.say, errs)
		}
	}
}

func florentineLabels(t *testing.T) []string {
	t.Helper()
	var labels []string
	text, err := os.ReadFile(filepath.Join(sharedOut(t, "--no-baselines"), "nodes.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		labels = append(labels, strings.Split(line, ",")[1])
	}
	return labels
}

// Methods whose neighbours share noise are simulated beside others, and the table says against whom they protect.
func TestSharedSimulate(t *testing.T) {
	t.Parallel()
	dir := sharedOut(t, "--trust", "coalitions=2", "--no-baselines")
	args := []string{"simulate", "--graph", "florentine", "--T", "12", "-k", "3", "--seeds", "2", "--task", "records=600"}
	code, out, errs := mafalda(append(args, "--mu", "1", "--methods", "none,decor,mafalda-secrets,"+dir)...)
	for _, say := range []string{"decor: SecLDP, against single curious nodes", dir + ": SecLDP, against any two curious nodes",
		"mafalda-secrets: SecLDP"} {
		if code != 0 || !strings.Contains(out, say) {
			t.Errorf("code %d, want %q: %s%s", code, say, out, errs)
		}
	}
	if code, out, _ := mafalda(append(args, "--mu", "1")...); code != 0 || strings.Contains(out, "SecLDP") || strings.Contains(out, "decor") {
		t.Errorf("without being asked: code %d, %s", code, out)
	}
	for name, tc := range map[string]struct {
		args []string
		say  string
	}{
		"nodes fail":      {[]string{"--methods", "decor", "--graph-changes", "failures:0.1", "--mu", "1"}, "--graph-changes failures"},
		"in secret":       {[]string{"--methods", "decor", "--sampling", "poisson", "--epsilon", "2"}, "decor"},
		"another network": {[]string{"--methods", dir, "--graph", "cycle:15", "--mu", "1"}, "another network"},
	} {
		if code, _, errs := mafalda(dropGraph(append(args, tc.args...))...); code == 0 || !strings.Contains(errs, tc.say) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: code %d, want %q: %s", name, code, tc.say, errs)
		}
	}
}

// The picture of who relies on whom is among the pictures of such an export, and of no other.
func TestSharedPlot(t *testing.T) {
	t.Parallel()
	dir, to := sharedOut(t, "--no-baselines"), t.TempDir()
	if code, out, errs := mafalda("plot", dir, "-o", to); code != 0 || !strings.Contains(out, "sharing.svg") {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
	text, err := os.ReadFile(filepath.Join(to, "sharing.svg"))
	if err != nil || !strings.Contains(string(text), "Medici") {
		t.Errorf("%v", err)
	}
	if code, out, _ := mafalda("plot", noisy(t), "-o", t.TempDir()); code != 0 || strings.Contains(out, "sharing") {
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
		{"simulate", "--graph", "florentine", "--T", "12", "-k", "3", "--methods", dir, "--mu", "1"}} {
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
	code, out, errs := mafalda("simulate", "--graph", "florentine", "--T", "12", "-k", "3", "--methods", dir, "--mu", "1")
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
	optimizeJSON(t, "--graph", "complete:8", "--T", "16", "-k", "4", "--trust", "secldp", "--mu", "1", "-o", dir)
	for name, algorithm := range map[string][]string{"an export": {"mf-d-sgd", "--export", dir}, "decor": {"decor"}} {
		on := func(command, trust string, more ...string) []string {
			args := append([]string{command, "--graph", "complete:8", "--T", "16", "-k", "4", "--trust", trust, "--json",
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
