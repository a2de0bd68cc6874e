package commands

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
)

// The JSON has the choice under strategy, and the numbers that it keeps fit the memory.
func TestOptimizeForMemory(t *testing.T) {
	for name, tc := range map[string]struct {
		memory, number string
		numbers        int
	}{
		"nothing":       {"0", "", 0},
		"a MB":          {"3MB", "", 3},
		"a MiB":         {"3MiB", "", 3},
		"single":        {"12 MB", "--float32", 3},
		"everything":    {"4GB", "", 500},
		"a number less": {"23999999", "", 2},
	} {
		dim := map[bool]string{true: "1e6", false: "125000"}[name == "single" || name == "a number less" || name == "everything"]
		args := []string{"optimize", "--graph", "cycle:5", "--T", "8", "-k", "2", "--memory", tc.memory, "--dim", dim, "--json",
			"--no-baselines"}
		if tc.number != "" {
			args = append(args, tc.number)
		}
		code, out, errs := mafalda(args...)
		var m struct {
			Strategy struct {
				Class        string
				MemoryFloats *int `json:"memory_floats"`
			}
		}
		if err := json.Unmarshal([]byte(out), &m); code != 0 || err != nil || m.Strategy.MemoryFloats == nil ||
			m.Strategy.Class == "" {
			t.Fatalf("%s: code %d, %v, %s%s", name, code, err, out, errs)
		}
		if kept := *m.Strategy.MemoryFloats; kept > tc.numbers || tc.numbers > 8 && kept != 8 {
			t.Errorf("%s: keeps %d numbers, %d fit", name, kept, tc.numbers)
		}
	}
	_, out, _ := mafalda("optimize", "--graph", "cycle:5", "--T", "8", "-k", "2", "--memory", "3MB", "--dim", "125000")
	for _, want := range []string{"3 MB are 3 numbers of 8 bytes for each of 125,000 parameters; dense needs 8, 8 MB", "chosen "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestMemoryThatIsNone(t *testing.T) {
	base := []string{"optimize", "--graph", "cycle:5", "--T", "8", "-k", "2"}
	for want, args := range map[string][]string{
		"--memory needs --dim":                  {"--memory", "3MB"},
		"must be an amount of memory":           {"--memory", "3QB", "--dim", "5"},
		"such as 4GB":                           {"--memory", "-3MB", "--dim", "5"},
		"--dim 0: must be at least 1":           {"--memory", "3MB", "--dim", "0"},
		"--dim and --float32 are for --memory":  {"--dim", "5"},
		"leave out --strategy":                  {"--memory", "3MB", "--dim", "5", "--strategy", "blt"},
		"--memory is not for --sampling bins":   {"--memory", "3MB", "--dim", "5", "--sampling", "bins", "--epsilon", "1", "--delta", "1e-5"},
		"strategies of nodes are dense, which ": {"--memory", "1", "--dim", "5", "--groups", "2"},
	} {
		if code, _, errs := mafalda(append(base, args...)...); code != 2 || !strings.Contains(errs, want) ||
			strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: code %d, %q is not in %s", args, code, want, errs)
		}
	}
}

func TestByteSizes(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "12": 12, "2e9": 2e9, "1.5kB": 1500, "4GB": 4e9, "512MiB": 512 << 20,
		"1 TiB": 1 << 40, "3m": 3e6, "7B": 7, "-1": -1, "": -1, "GB": -1, "1 2MB": -1, "nan": -1, "inf": -1, "1e400": -1,
		"0x10": -1, "3 Bi": -1} {
		var b terminal.ByteSize
		if err := b.Set(text); (err == nil) != (want >= 0) || err == nil && float64(b) != want {
			t.Errorf("%q: %v, %v; want %v", text, float64(b), err, want)
		}
	}
}

// Table, JSON, CSV and pictures have the same choices, and the commands make what they say.
func TestAdviseCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "advice")
	args := []string{"advise", "--graph", "cycle:5", "--T", "8", "-k", "2", "--epsilon", "8", "--delta", "1e-5", "--dim", "1e6"}
	code, out, errs := mafalda(append(args, "-o", dir, "--json")...)
	var r results.AdviceResult
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || len(r.Choices) < 4 || r.Dim != 1e6 {
		t.Fatalf("code %d, %v: %s%s", code, err, out, errs)
	}
	for _, c := range []results.AdviceRow{r.Best, r.BestInTurn} {
		words := strings.Fields(strings.Replace(c.Command, " -o out", "", 1))
		code, out, errs := mafalda(append(words[1:], "--json")...)
		var m struct {
			Error    float64 `json:"error_at_privacy"`
			Strategy struct {
				MemoryFloats int `json:"memory_floats"`
			}
		}
		if err := json.Unmarshal([]byte(out), &m); code != 0 || err != nil || m.Strategy.MemoryFloats != c.MemoryFloats ||
			math.Abs(m.Error-c.ErrorAtPrivacy) > 1e-4*m.Error {
			t.Errorf("%s: code %d, %v, %+v %s; want %+v", c.Command, code, err, m, errs, c)
		}
	}
	for _, ending := range []string{".png", ".svg", ".json", ".csv"} {
		if info, err := os.Stat(filepath.Join(dir, "advice"+ending)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", ending, err)
		}
	}
	f, err := os.Open(filepath.Join(dir, "advice.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil || len(lines) != len(r.Choices)+1 {
		t.Fatalf("%v: %d lines for %d choices", err, len(lines), len(r.Choices))
	}
	for i, c := range r.Choices {
		if v, err := strconv.ParseFloat(lines[i+1][9], 64); err != nil || v != c.ErrorAtPrivacy {
			t.Errorf("line %d: %v, want %+v", i+1, lines[i+1], c)
		}
	}
	if code, _, errs := mafalda(append(args, "-o", dir)...); code != 2 || !strings.Contains(errs, "--force") {
		t.Errorf("over files: code %d, %s", code, errs)
	}
	code, out, _ = mafalda(append(args, "--memory", "24MB", "--adjacency", "replace-one")...)
	for _, want := range []string{"at most 24 MB", "in secret      not looked at: --adjacency", "take  ", "mafalda optimize"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("code %d, no %q in\n%s", code, want, out)
		}
	}
}

func TestAdviseRefuses(t *testing.T) {
	base := []string{"advise", "--graph", "cycle:5", "--T", "8", "-k", "2"}
	for want, args := range map[string][]string{
		"Use --dim":                    {"--epsilon", "8", "--delta", "1e-5"},
		"--epsilon and --delta are ne": {"--dim", "5"},
		"--dim 0: must be at least 1":  {"--dim", "0", "--epsilon", "8", "--delta", "1e-5"},
	} {
		if code, _, errs := mafalda(append(base, args...)...); code != 2 || !strings.Contains(errs, want) ||
			strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: code %d, %q is not in %s", args, code, want, errs)
		}
	}
}

// Where there is no terminal, advise says what it computes, a line a stage, and nothing with --quiet.
func TestAdviseSaysItsStages(t *testing.T) {
	t.Parallel()
	args := []string{"advise", "--graph", "cycle:5", "--T", "8", "-k", "2", "--epsilon", "2", "--delta", "1e-6", "--dim", "1e6"}
	_, _, errs := mafalda(args...)
	lines := strings.Split(strings.TrimPrefix(strings.TrimSuffix(errs, "\n"), "computing: Gram matrix\n"), "\n")
	for i, want := range []string{"optimum in turn", "strategies by memory", "optimum in secret",
		"numbers of bands, in secret", "fewer bands, in secret"} {
		if i >= len(lines) || lines[i] != "computing: "+want {
			t.Fatalf("line %d is not %q: %q", i, want, lines)
		}
	}
	if code, out, errs := mafalda(append(args, "--quiet")...); code != 0 || out+errs != "" {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
}
