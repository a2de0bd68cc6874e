package commands

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
)

func TestByteSizes(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "12": 12, "2e9": 2e9, "1.5kB": 1500, "4GB": 4e9,
		"512MiB": 512 << 20, "1 TiB": 1 << 40, "3m": 3e6, "7B": 7, "-1": -1, "": -1, "GB": -1, "1 2MB": -1, "nan": -1,
		"inf": -1, "1e400": -1,
		"0x10": -1, "3 Bi": -1} {
		var b terminal.ByteSize
		if err := b.Set(text); (err == nil) != (want >= 0) || err == nil && float64(b) != want {
			t.Errorf("%q: %v, %v; want %v", text, float64(b), err, want)
		}
	}
}

// advised returns the advice of a command line.
func advised(t *testing.T, args ...string) *results.Advice {
	t.Helper()
	code, out, errs := mafalda(append(append([]string{"advise"}, args...), "--json")...)
	r := &results.Advice{}
	if err := json.Unmarshal([]byte(out), r); code != 0 || err != nil || len(r.Ways) == 0 {
		t.Fatalf("%v: code %d, %v: %s%s", args, code, err, out, errs)
	}
	return r
}

// made runs a command of advice without exporting, and returns what its manifest says.
func made(t *testing.T, command string) export.Manifest {
	t.Helper()
	words := strings.Fields(strings.TrimSuffix(command, " -o out"))
	if words[0] != "mafalda" || words[1] != "optimize" || !strings.HasSuffix(command, " -o out") {
		t.Fatalf("not a command: %s", command)
	}
	return optimizeJSON(t, append(words[2:], "--no-baselines")...)
}

var adviseCase = strings.Fields("--graph cycle:5 --T 8 -k 2 --epsilon 8 --delta 1e-5")

// The commands make what the rows say: their error, with the noise and the memory, at the promise that stands beside
// it.
func TestAdviceKeepsItsWord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "advice")
	r := advised(t, append(adviseCase, "--memory", "dim=1e6", "--missed-steps", "0.1", "--missed-steps", "carry", "--trust", "secldp",
		"--sampling", "secret",
		"--memory", "front", "-o", dir, "--memprofile", filepath.Join(t.TempDir(), "profile"))...)
	if r.Dim != 1e6 || len(r.Ways) != 7 || len(r.LeftOut) != 1 {
		t.Fatalf("%d ways, %+v left out", len(r.Ways), r.LeftOut)
	}
	for i, w := range r.Ways {
		if strings.Contains(w.Command, "profile") {
			t.Fatalf("%s: a flag of every command", w.Command)
		}
		m := made(t, w.Command)
		noise := m.Privacy.NoiseStd / m.Privacy.Clip
		if w.Rank != i+1 || !near(m.ErrorAtPrivacy, w.ErrorAtPrivacy, 1e-4) || !near(noise, w.NoiseStd, 1e-4) ||
			m.Strategy.MemoryFloats != w.Floats || m.Guarantee() != w.Guarantee ||
			i > 0 && w.Ratio < r.Ways[i-1].Ratio {
			t.Errorf("%s: error %v, noise %v, keeps %d, %s; want %+v", w.Command, m.ErrorAtPrivacy, noise,
				m.Strategy.MemoryFloats,
				m.Guarantee(), w)
		}
	}
	for _, c := range []results.FrontRow{r.MemoryFront.Best, r.MemoryFront.BestInTurn} {
		if m := made(t, c.Command); !near(m.ErrorAtPrivacy, c.ErrorAtPrivacy, 1e-4) ||
			m.Strategy.MemoryFloats != c.Floats {
			t.Errorf("%s: error %v, keeps %d; want %+v", c.Command, m.ErrorAtPrivacy, m.Strategy.MemoryFloats, c)
		}
	}
	for name, want := range map[string]int{"advice": len(r.Ways), "memory": len(r.MemoryFront.Choices)} {
		for _, ending := range []string{".png", ".svg", ".pdf"} {
			if info, err := os.Stat(filepath.Join(dir, name+ending)); err != nil || info.Size() == 0 {
				t.Errorf("%s%s: %v", name, ending, err)
			}
		}
		text, err := os.ReadFile(filepath.Join(dir, name+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		if lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll(); err != nil || len(lines) != want+1 {
			t.Errorf("%s.csv: %v, %d lines for %d rows", name, err, len(lines), want)
		}
	}
	code, _, errs := mafalda(append(append([]string{"advise"}, adviseCase...), "-o", dir)...)
	if code != 2 || !strings.Contains(errs, "--force") {
		t.Errorf("over files: code %d, %s", code, errs)
	}
}

// A way has a rank only if the case says all that it relies on; what the case denies is left out, with the flag that
// does.
func TestAdviceRanksWhatWasSaid(t *testing.T) {
	base := append(adviseCase, "--limit", "30s")
	of := func(args ...string) (ranked, unranked, leftOut []string) {
		r := advised(t, append(base, args...)...)
		for _, w := range r.Ways {
			what := w.Trust + " " + w.Sampling
			if into := &unranked; w.Rank == 0 {
				*into = append(*into, what)
			} else {
				ranked = append(ranked, what)
			}
		}
		for _, l := range r.LeftOut {
			leftOut = append(leftOut, l.Reason)
		}
		return ranked, unranked, leftOut
	}
	has := func(list []string, part string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, part) })
	}
	ranked, unranked, _ := of()
	if has(ranked, "secldp") || has(ranked, "poisson") || has(ranked, "allocation") ||
		!has(unranked, "secldp cyclic") ||
		!has(unranked, "secldp poisson") || !has(unranked, "ldp poisson") {
		t.Errorf("nothing said: %q, without rank %q", ranked, unranked)
	}
	ranked, unranked, leftOut := of("--trust", "ldp", "--sampling", "cyclic")
	if has(ranked, "secldp") || has(ranked, "poisson") || unranked != nil || !has(leftOut, "--trust ldp: ") ||
		!has(leftOut, "--sampling cyclic: ") {
		t.Errorf("all denied: %q, without rank %q, left out %q", ranked, unranked, leftOut)
	}
	ranked, unranked, _ = of("--sampling", "poisson")
	if !has(ranked, "ldp poisson") || has(ranked, "secldp") || has(append(ranked, unranked...), "allocation") ||
		!has(unranked, "secldp poisson") {
		t.Errorf("draws in secret: %q, without rank %q", ranked, unranked)
	}
}

// What cannot be combined is left out with its reason: levels of nodes, persons, and memory that is too little.
func TestAdviceLeavesOut(t *testing.T) {
	levels := writeFile(t, "levels.csv", "node,epsilon,delta,clip\n0,8,1e-6,1\n1,1,1e-6,1\n2,4,1e-6,2\n")
	path := strings.Fields("--graph path:3 --T 8 -k 2")
	r := advised(t, append(path, "--budgets", levels, "--sampling", "secret", "--trust", "secldp")...)
	last := r.Ways[len(r.Ways)-1]
	for _, w := range r.Ways {
		m := made(t, w.Command)
		error := math.Pow(m.Privacy.NoiseStd/m.Privacy.Clip, 2) * m.SquaredError
		if m.Budgets == nil != w.OneLevel || !near(w.ErrorAtPrivacy, error, 1e-5) {
			t.Errorf("%s: %v", w.Command, w.ErrorAtPrivacy)
		}
		if w.OneLevel {
			last = w
		}
	}
	if !last.OneLevel || !strings.Contains(last.Guarantee, "(1, 1e-06)-DP") || len(r.LeftOut) < 4 ||
		!strings.Contains(r.LeftOut[len(r.LeftOut)-1].Reason, "--sampling poisson is not for --budgets") ||
		!slices.ContainsFunc(r.Ways, func(w results.AdvisedWay) bool { return w.Trust == "secldp" && !w.OneLevel }) {
		t.Errorf("%+v\n%+v", last, r.LeftOut)
	}
	r = advised(t, append(path, "--epsilon", "2", "--delta", "1e-6", "--unit", "person", "--memory", "20MB",
		"--memory", "dim=1e6")...)
	for _, w := range r.Ways {
		if w.Floats > 2 || w.MemoryBytes > 2e7 || w.Sampling != "cyclic" {
			t.Errorf("%+v", w)
		}
	}
	if first := r.Ways[0]; !slices.Contains(first.BreaksBy, "a person in 2 batches") || first.Class == "dense" ||
		strings.Contains(first.Command, "--memory") {
		t.Errorf("%+v", first)
	}
}

// Where there is no terminal, advise says what it computes, a line a way, and nothing with --quiet.
func TestAdviseSaysItsStages(t *testing.T) {
	t.Parallel()
	args := append([]string{"advise"}, adviseCase...)
	_, out, errs := mafalda(args...)
	for _, want := range []string{"computing: own noise, in turn\n", "computing: own noise, poisson\n",
		"computing: shared noise, in turn\n"} {
		if strings.Count(errs, want) != 1 {
			t.Errorf("no %q in %q", want, errs)
		}
	}
	for _, want := range []string{"│ 1    │ own noise, in turn, ", "│ -    │ shared noise, poisson, ", "\ntake ",
		"\nwithout rank "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	args = append(args, "--quiet", "--trust", "ldp", "--sampling", "cyclic")
	if code, out, errs := mafalda(args...); code != 0 || out+errs != "" {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
}

// On a terminal what is missing is asked; every answer is a flag, and what is no answer is asked again.
func TestAdviseAsks(t *testing.T) {
	var asked bytes.Buffer
	f := adviseFlags{outcomeFlags: outcomeFlags{runner: &grids.Runner{}}}
	cmd := newPatientCommand("advise", &f)
	cmd.SetContext(t.Context())
	answers := "1\n6\nsome\nfew\n6\n2\nmany\n8\npeople\nperson\n3\n2\n\n1e-5\nmaybe\ny\nn\n1.5\n0.1\ny\n2\n3QB\n1GB\n1e6\n"
	q := terminal.NewQuestions(t.Context(), strings.NewReader(answers), &asked)
	if err := f.questions(cmd, q, &asked); err != nil {
		t.Fatalf("%v\n%s", err, &asked)
	}
	want := "advise --T 8 --delta 1e-05 --epsilon 2 --graph regular:6,2 --memory '1 GB,dim=1000000' " +
		"--missed-steps 0.1,carry --participations 2 --sampling cyclic --trust secldp --unit person:batches=2"
	if got := asked.String(); !strings.Contains(got, want) || strings.Count(got, "How many steps") != 2 ||
		strings.Count(got, "How many n") != 4 ||
		!strings.Contains(got, "k = 3 does not divide T = 8") {
		t.Errorf("no %q in\n%s", want, got)
	}
	if f.incomplete(cmd) {
		t.Error("something is still missing")
	}
	f = adviseFlags{outcomeFlags: outcomeFlags{runner: &grids.Runner{}}} // a silo is in every step: neither how often nor which records is asked
	cmd = newPatientCommand("advise", &f)
	cmd.SetContext(t.Context())
	q = terminal.NewQuestions(t.Context(), strings.NewReader("florentine\n8\nsilo\n2\n1e-5\nn\n0\nall\n"), &asked)
	want = "advise --T 8 --delta 1e-05 --epsilon 2 --graph florentine --trust ldp --unit silo\n"
	if err := f.questions(cmd, q, &asked); err != nil || !strings.Contains(asked.String(), want) {
		t.Errorf("%v: no %q in\n%s", err, want, &asked)
	}
	f = adviseFlags{outcomeFlags: outcomeFlags{runner: &grids.Runner{}}}
	q = terminal.NewQuestions(t.Context(), strings.NewReader("florentin\nflorentine\n"), &asked)
	cmd = newPatientCommand("advise", &f)
	cmd.SetContext(t.Context())
	if err := f.questions(cmd, q, &asked); !errors.Is(err, terminal.ErrNoAnswer) ||
		!terminal.IsUsage(err) {
		t.Errorf("the end of the input: %v", err)
	}
	if f.network.Source != "florentine" || !strings.Contains(asked.String(), `graph "florentin" is neither a file`) {
		t.Errorf("%s\n%s", f.network.Source, &asked)
	}
}
