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
