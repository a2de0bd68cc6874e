package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mafalda/study"
)

func TestSubmitRefuses(t *testing.T) {
	t.Parallel()
	here, dir := t.TempDir(), filepath.Join(t.TempDir(), "grid")
	account := []string{"account", "--graph", "cycle:4", "--T", "3", "--attacker", "all", "-o", dir}
	with := func(flags string, command ...string) []string {
		return append(append([]string{"submit"}, strings.Fields(flags)...), append([]string{"--"}, command...)...)
	}
	more := func(words ...string) []string { return append(account[:len(account):len(account)], words...) }
	for name, test := range map[string]struct {
		args []string
		say  string
	}{
		"no engine":          {with("", account...), "needs --engine: local, slurm, kubernetes"},
		"another engine":     {with("--engine pbs", account...), "--engine pbs: choose local"},
		"no command":         {with("--engine local"), "needs a command behind --"},
		"no such command":    {with("--engine local", "acount"), `"acount" is no command`},
		"no grid":            {with("--engine local", "graph", "cycle:4"), `"graph" is no command that computes in shards`},
		"itself":             {with("--engine local", with("--engine local", account...)...), `"submit" is no command`},
		"a part":             {with("--engine local", more("--shard", "1/2")...), "leave out --shard"},
		"no folder":          {with("--engine local", account[:7]...), "--shard needs -o"},
		"force":              {with("--engine local", more("--force")...), "--shard and --force: only one of them"},
		"no shards":          {with("--engine local --shards 0", account...), "--shards 0: must be at least 1"},
		"too many shards":    {with("--engine local --shards 1e18", account...), "--shards 1000000000000000000: must be at least 1 and at most 1000000"},
		"no processors":      {with("--engine local --cpus 0", account...), "--cpus 0: must be at least 1"},
		"negative time":      {with("--engine slurm --time -1h", account...), "--time -1h0m0s: must be positive"},
		"no image":           {with("--engine kubernetes --engine claim=data", account...), "needs --engine image"},
		"no claim":           {with("--engine kubernetes --engine image=me/mafalda", account...), "needs --engine claim"},
		"relative mount":     {with("--engine kubernetes --engine image=a,claim=b,mount=data", account...), "--engine mount data: must be an absolute path"},
		"bad input":          {with("--engine local", "account", "--graph", "nowhere.edges", "--T", "3", "--attacker", "all", "-o", dir), "nowhere.edges"},
		"bad number":         {with("--engine local", more("--sigma", "-1")...), "--sigma"},
		"flag of the other":  {with("--engine local", more("--seeds", "3")...), "unknown flag: --seeds"},
		"unknown attacker":   {with("--engine local", more("--attacker", "x")...), "the graph has no such node"},
		"no memory":          {with("--engine slurm --memory x", account...), "must be an amount of memory"},
		"memory here":        {with("--engine local --memory 4GB", account...), "--memory is for --engine slurm or --engine kubernetes"},
		"another engine's":   {with("--engine slurm --engine image=me/mafalda", account...), "--engine image is for --engine kubernetes"},
		"words without dash": {[]string{"submit", "--engine", "local", "account", "--graph", "cycle:4"}, "unknown flag: --graph"},
	} {
		code, out, errs := mafalda(test.args...)
		if code != 2 || out != "" || !strings.Contains(errs, test.say) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: code %d, %s%s", name, code, out, errs)
		}
	}
	for _, empty := range []string{here, filepath.Dir(dir)} {
		if names, err := os.ReadDir(empty); err != nil || len(names) != 0 {
			t.Errorf("what was refused, or only shown, has made %v, %v", names, err)
		}
	}
}

// What is asked for is what the command needs, or the flags say.
func TestSubmitAsks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		line string
		want []string
	}{
		"small":    {"slurm --shards 5 -- account --graph cycle:4 --T 3 --attacker all", []string{"--array=1-4 ", "--time=30 ", "--cpus-per-task=2 ", `--mem=\d{3}M `}},
		"large":    {"slurm --shards 2 --cpus 4 -- account --graph barabasi:500,3 --T 380 --attacker all", []string{`--time=\d{4} `, `--mem=\d{5}M `}},
		"flags":    {"slurm --shards 2 --memory 2GiB --time 90m --program /opt/m -- account --graph cycle:4 --T 3 --attacker all", []string{"--mem=2048M ", "--time=90 ", "=2 /opt/m account"}},
		"simulate": {"kubernetes:image=i,claim=c -- mafalda simulate --graph cycle:4 --T 8 -k 2 --seeds 3", []string{`"mafalda", "simulate"`, `memory: "\d{3}Mi"\}, limits`}},
		"json":     {"local --shards 2 -- account --graph cycle:4 --T 3 --attacker all --json -q", []string{"--quiet --shard 1/2 &", "/grid --quiet --json\n"}},
		"growth":   {"slurm --shards 2 -- account --graph cycle:4 --attacker 0 --growth 5,10,20", []string{"--array=1-2 "}},
		"bench":    {"slurm --shards 2 -- benchmark --graph cycle:5 --only --T 380 -k 20", []string{"--array=1-2 ", `--mem=\d{3}M `}},
	} {
		before, after, _ := strings.Cut(test.line, " -- ")
		args := append([]string{"submit", "--engine"}, strings.Fields(before)...)
		args = append(append(args, "--"), append(strings.Fields(after), "-o", filepath.Join(t.TempDir(), "grid"))...)
		code, out, errs := mafalda(args...)
		if code != 0 {
			t.Fatalf("%s: code %d, %s", name, code, errs)
		}
		for _, want := range test.want {
			if !regexp.MustCompile(want).MatchString(out) {
				t.Errorf("%s: no %s in\n%s", name, want, out)
			}
		}
	}
}

// A shard, or merge, of another version of the program than the folder's is refused.
func TestShardOfAnotherVersion(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "grid")
	grid := []string{"account", "--graph", "cycle:4", "--T", "3", "--attacker", "all", "-o", dir, "--shard", "1/1"}
	if code, _, errs := mafalda(grid...); code != 0 {
		t.Fatal(errs)
	}
	path := filepath.Join(dir, "study.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var record struct {
		Study  string       `json:"study"`
		Inputs study.Inputs `json:"inputs"`
		Key    string       `json:"key"`
		Files  []string     `json:"files"`
	}
	if err := json.Unmarshal(text, &record); err != nil || record.Inputs[0].Name != "program" {
		t.Fatalf("%+v, %v", record, err)
	}
	record.Inputs[0].Value = "v0.0.1"
	record.Key = record.Inputs.Key(record.Study).String()
	if text, err = json.Marshal(record); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	submit := append([]string{"submit", "--engine", "slurm", "--"}, grid[:9]...)
	for _, args := range [][]string{grid, submit} {
		code, out, errs := mafalda(args...)
		if code != 2 || out != "" || !strings.Contains(errs, "program is v0.0.1 there and ") || !strings.Contains(errs, "of one program") ||
			strings.Contains(errs, "--force") || strings.Count(errs, "\n") != 1 {
			t.Errorf("code %d, %s%s", code, out, errs)
		}
	}
}
