package commands

import (
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mafalda/export"
)

// commandsIn returns the command lines of a report, without the name of the program.
func commandsIn(t *testing.T, path string) (all [][]string) {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`<pre[^>]*><code>(.*?)</code>`).FindAllSubmatch(page, -1) {
		line := html.UnescapeString(string(m[1]))
		var words []string
		for _, w := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1) {
			words = append(words, strings.Trim(w, "'"))
		}
		all = append(all, words[1:])
	}
	return all
}

// The commands in a report make the same bytes again, in other folders.
func TestReportCommandsReproduce(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	at := func(name string) string { return filepath.Join(home, name) }
	edges := writeFile(t, "g raph.edges", "a b\nb c\nc d\nd a\na c\n")
	for _, args := range [][]string{
		{"optimize", "--graph", edges, "--T", "6", "-k", "3", "--strategy", "banded", "--strategy", "bandwidth=2", "--gossip",
			"metropolis", "--mu", "0.7", "--delta", "1e-5", "--clip", "2", "--adjacency", "replace-one", "-o", at("banded")},
		{"optimize", "--graph", "erdos:8,0.6", "--seed", "3", "--T", "6", "-k", "3", "--epsilon", "2", "--delta", "1e-6",
			"-o", at("dense")},
		{"optimize", "--graph", "cycle:5", "--T", "6", "-k", "3", "--schema", "min-sep", "-b", "2", "-o", at("min-sep")},
		{"optimize", "--graph", "cycle:5", "--T", "4", "-k", "1", "--format", "both", "-o", at("single")},
		{"optimize", "--workload", "prefix", "--T", "6", "-k", "3", "-o", at("prefix")},
		{"optimize", "--graph", "path:3", "--T", "4", "-k", "2", "--sampling", "poisson", "--epsilon", "2", "--delta", "1e-6",
			"-o", at("poisson")},
		{"account", "--graph", edges, "--T", "4", "-k", "2", "--attacker", "all", "--sigma", "2", "--delta", "1e-6", "-o",
			at("account")},
		{"account", "--graph", "erdos:8,0.6", "--seed", "3", "--T", "6", "-k", "3", "--algorithm", "mf-d-sgd", "--export",
			at("dense"), "--trust", "secldp", "--attacker", "2", "-o", at("exported account")},
		{"simulate", "--graph", "cycle:5", "--T", "4", "-k", "2", "--methods", "none,dp-d-sgd", "--epsilon", "5.59712",
			"--seeds", "1", "--task", "records=200", "-o", at("simulation for ε")},
		{"simulate", "--graph", "cycle:5", "--T", "4", "-k", "2", "--methods", "none,dp-d-sgd", "--mu", "0.5", "--seeds", "2",
			"--task", "records=200", "-o", at("simulation")},
		{"sampling", "--graph", "path:3", "--T", "4", "-k", "2", "--epsilon", "4", "-o", at("sampling")},
	} {
		if code, _, errs := mafalda(args...); code != 0 {
			t.Fatalf("%v: code %d, %s", args, code, errs)
		}
	}
	compared := map[string]string{"banded": "C.npy", "dense": "C.npy", "min-sep": "C.npy", "prefix": "C.npy", "single": "C.csv",
		"poisson": "C.npy", "account": "pairs.csv",
		"exported account": "pairs.csv", "simulation for ε": "study.json", "simulation": "study.json", "sampling": "sampling.csv"}
	for name, file := range compared {
		report := at(name + ".html")
		if code, _, errs := mafalda("report", at(name), "-o", report); code != 0 || errs != "" {
			t.Fatalf("%s: code %d, %s", name, code, errs)
		}
		for i, line := range commandsIn(t, report) {
			if i == 0 {
				line[len(line)-1] += "-again"
			}
			if line[0] == "verify" && len(line) > 3 {
				line[3] = edges
			}
			if code, _, errs := mafalda(line...); code != 0 {
				t.Fatalf("%q: code %d, %s", line, code, errs)
			}
		}
		first, err := os.ReadFile(filepath.Join(at(name), file))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := os.ReadFile(filepath.Join(at(name+"-again"), file)); err != nil || string(first) != string(again) {
			t.Errorf("%s: %s is another one, %v", name, file, err)
		}
		if strings.HasSuffix(file, ".npy") {
			samePrivacy(t, at(name), at(name+"-again"))
		}
	}
}

// What results say can be worded in any other way: a report names the command as it was typed, or says that the folder does not.
func TestReportNamesTheCommandWhateverResultsSay(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	out, who, page := filepath.Join(home, "out"), filepath.Join(home, "who"), filepath.Join(home, "report.html")
	for _, args := range [][]string{
		{"optimize", "--graph", "path:4", "--T", "4", "-k", "2", "--no-baselines", "--trust", "secldp", "--mu", "0.5", "-q", "-o", out},
		{"account", "--graph", "path:4", "--T", "4", "-k", "2", "--trust", "secldp", "--algorithm", "mf-d-sgd", "--export", out, "-o", who},
		{"account", "--graph", "path:4", "--T", "4", "-k", "2", "--trust", "secldp", "--algorithm", "mf-d-sgd", "--export", out,
			"--attacker", "1,2", "-q", "-o", who},
	} {
		if code, _, errs := mafalda(args...); code != 0 && args[0] == "optimize" {
			t.Fatalf("%v: code %d, %s", args, code, errs)
		}
	}
	report := func() [][]string {
		if code, _, errs := mafalda("report", who, "-o", page, "--force"); code != 0 {
			t.Fatalf("code %d, %s", code, errs)
		}
		return commandsIn(t, page)
	}
	want := report()
	if len(want) == 0 || want[0][0] != "account" || !slices.Contains(want[0], "--trust") {
		t.Fatalf("commands %q", want)
	}
	path := filepath.Join(who, "account.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := strings.NewReplacer("every coalition of at most 1", "whoever is alone", "mf-d-sgd", "the algorithm", "cyclic", "in circles").Replace(string(text))
	if other == string(text) {
		t.Fatal("no sentence was changed")
	}
	if err := os.WriteFile(path, []byte(other), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := report(); !reflect.DeepEqual(got, want) {
		t.Errorf("commands %q, before %q", got, want)
	}
	record := filepath.Join(who, "study.json")
	if text, err = os.ReadFile(record); err != nil {
		t.Fatal(err)
	}
	var r map[string]any
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	delete(r, "commands")
	if text, err = json.Marshal(r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(record, text, 0o666); err != nil {
		t.Fatal(err)
	}
	if got := report(); len(got) != 0 {
		t.Errorf("commands %q of a folder that says none", got)
	}
	if text, err = os.ReadFile(page); err != nil || !strings.Contains(string(text), "does not say by which command") {
		t.Errorf("%v: the report does not say that the folder is without a command", err)
	}
}

func samePrivacy(t *testing.T, a, b string) {
	t.Helper()
	x, err := export.Load(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := export.Load(b)
	if err != nil {
		t.Fatal(err)
	}
	if p, q := x.Manifest.Privacy, y.Manifest.Privacy; (p == nil) != (q == nil) || p != nil && (p.NoiseStd != q.NoiseStd ||
		p.Adjacency != q.Adjacency || p.Mu != q.Mu) {
		t.Errorf("%s: %+v, then %+v", a, p, q)
	}
}

// A report replaces nothing unasked, goes into no export, and is not there if a folder is no good.
func TestReportIsCareful(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, "--graph", "cycle:4", "--T", "6", "-k", "2", "-o", dir)
	path := writeFile(t, "report.html", "mine")
	if code, _, errs := mafalda("report", dir, "-o", path); code != 2 || !strings.Contains(errs, "exists already") {
		t.Errorf("code %d, %s", code, errs)
	}
	if code, _, errs := mafalda("report", dir, "-o", filepath.Join(dir, "report.html")); code != 2 ||
		!strings.Contains(errs, "is an export") {
		t.Errorf("into the export: code %d, %s", code, errs)
	}
	if code, _, errs := mafalda("report", dir, t.TempDir(), "-o", path, "--force"); code != 2 ||
		!strings.Contains(errs, "nothing to report") || strings.Count(errs, "\n") != 1 {
		t.Errorf("a folder of nobody's: code %d, %s", code, errs)
	}
	if mine, err := os.ReadFile(path); err != nil || string(mine) != "mine" {
		t.Errorf("the file is now %.20s, %v", mine, err)
	}
	code, out, errs := mafalda("report", dir, "-o", path, "--force")
	page, err := os.ReadFile(path)
	if code != 0 || errs != "" || !strings.Contains(out, "1 folder") || err != nil || !strings.Contains(string(page), "No strategy for this graph") {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
	if err := os.WriteFile(filepath.Join(dir, "C.npy"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := mafalda("report", dir, "-o", path, "--force"); code == 0 || strings.Count(errs, "\n") != 1 {
		t.Errorf("a cut matrix: code %d, %s", code, errs)
	}
}

// A report says nothing of an export whose numbers were changed to promise too much: it is refused.
func TestReportRefusesWhatContradictsItself(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "poisson")
	if code, _, errs := mafalda("optimize", "--graph", "path:3", "--T", "8", "-k", "2", "--sampling", "poisson", "--epsilon", "2",
		"--delta", "1e-6", "--no-baselines", "-o", dir); code != 0 {
		t.Fatal(errs)
	}
	page := filepath.Join(t.TempDir(), "page.html")
	if code, _, errs := mafalda("report", dir, "-o", page); code != 0 {
		t.Fatal(errs)
	}
	path := filepath.Join(dir, "manifest.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	less := regexp.MustCompile(`("noise_(?:std|multiplier)": *)(\d)`).ReplaceAllString(string(text), "${1}0.$2") // a tenth of it, nearly
	less = regexp.MustCompile(`(0\.\d)\.(\d)`).ReplaceAllString(less, "$1$2")
	if err := os.WriteFile(path, []byte(less), 0o666); err != nil || less == string(text) {
		t.Fatal(err)
	}
	if code, _, errs := mafalda("report", dir, "-o", page, "--force"); code != 2 || !strings.Contains(errs, "no report of what contradicts itself") {
		t.Errorf("code %d, %s", code, errs)
	}
}
