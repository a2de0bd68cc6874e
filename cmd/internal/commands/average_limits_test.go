package commands

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"mafalda/cmd/internal/terminal"
)

// average --graph cycle:1000000 went on for minutes after SIGTERM; dpps ran out of memory.
func TestAverageEndsWhenInterrupted(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--protocol", "ppac", "--observer", "0"}, {"--protocol", "ppac", "--observer", "0", "--rounds", "40"},
		{"--protocol", "gossip", "--observer", "0"},
		{"--protocol", "dpps", "--push-sum", "estimate:real", "--rounds", "500"}, {"--compare", "--observer", "0"},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(30*time.Millisecond, cancel)
		dir := filepath.Join(t.TempDir(), "out")
		var out, errs bytes.Buffer
		before := time.Now()
		code := run(ctx, append([]string{"average", "--graph", "cycle:100000", "-o", dir}, args...), &out, &errs)
		if code != terminal.ExitInterrupted || !strings.Contains(errs.String(), "interrupted") ||
			time.Since(before) > time.Minute {
			t.Errorf("%v: code %d after %v: %s", args, code, time.Since(before), errs.String())
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%v: %s is left behind", args, dir)
		}
		cancel()
	}
}

func TestPartPSPEndsWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	var out, errs bytes.Buffer
	before := time.Now()
	if code := run(ctx, []string{"partpsp"}, &out, &errs); code != terminal.ExitInterrupted ||
		time.Since(before) > time.Minute {
		t.Errorf("code %d after %v: %s", code, time.Since(before), errs.String())
	}
}

// What would take days or more memory than there is is refused before it begins.
func TestAverageRefusesWhatIsTooLarge(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30))
	for name, tc := range map[string]struct {
		args []string
		say  string
	}{
		"pairs":       {[]string{"--protocol", "gossip", "--graph", "cycle:5000"}, "--observer and --victim"},
		"calibration": {[]string{"--protocol", "dpps", "--graph", "cycle:10100"}, "--push-sum c-prime"},
		"values": {[]string{"--graph", "path:3", "--values", writeFile(t, "huge",
			"0 1e308\n1 1e308\n2 1e308\n")}, "1e+150"},
		"deviation": {[]string{"--graph", "path:3", "--values", "std:1e308"}, "at most 1e+150"},
		"mu": {[]string{"--graph", "path:3", "--protocol", "gossip", "--noise-std", "1e-308"},
			"beyond all numbers"},
		"epsilon": {[]string{"--graph", "path:3", "--protocol", "dpps", "--push-sum", "laplace-b:1e200", "--push-sum", "gamma-n:1e-200"},
			"beyond all numbers"},
		"rounds":   {[]string{"--graph", "path:3", "--protocol", "dpps", "--rounds", "1000000000000"}, "GB"},
		"an empty": {[]string{"--graph", "path:3", "--values", writeFile(t, "empty", "")}, "nothing for node 0"},
		"a long line": {[]string{"--graph", "path:3", "--values", writeFile(t, "long", strings.Repeat("x", 1<<21))},
			"a line of more than a megabyte"},
		"a long label": {[]string{"--graph", "path:3", "--values", writeFile(t, "label", strings.Repeat("x", 1<<17)+" 1")},
			"and 130944 more bytes"},
		"labels apart": {[]string{"--graph", writeFile(t, "q", "a\"x b\nb c\n"), "--values", writeFile(t, "v",
			"\"a\" 1\n")}, "not in the graph"},
	} {
		code, out, errs := mafalda(append([]string{"average"}, tc.args...)...)
		if code != 2 || out != "" || !strings.Contains(errs, tc.say) || strings.Count(strings.TrimPrefix(errs, "note"),
			"\n") > 2 {
			t.Errorf("%s: code %d, want %q: %s%s", name, code, tc.say, out, errs)
		}
	}
}

// partpsp drew b = 5 whatever --b said.
func TestPartPSPDrawsWhatWasRun(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "part")
	code, _, errs := mafalda("partpsp", "--task", "records=600", "--task", "features=6", "--nodes", "4", "--networks", "exp",
		"--shared", "1,3", "--laplace-b", "1,3", "--epochs", "2",
		"--batch", "30", "--seeds", "1", "-q", "-o", dir)
	if code != 0 {
		t.Fatalf("code %d, %s", code, errs)
	}
	for b, name := range map[string]string{"b = 1,": "sensitivity-exp-b-1.svg", "b = 3,": "sensitivity-exp-b-3.svg"} {
		drawn, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{b, "PartPSP-1", "SGPDP"} {
			if !strings.Contains(string(drawn), text) {
				t.Errorf("%s does not say %q", name, text)
			}
		}
	}
}
