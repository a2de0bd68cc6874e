package commands

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An export for Poisson sampling is audited as it says; fixed batches in its place, half the noise and an epsilon that
// is too small fail.
func TestAuditSampled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if code, _, errs := mafalda("optimize", "--graph", "florentine", "--T", "40", "-k", "10", "--sampling", "poisson",
		"--epsilon", "4", "--delta", "1e-4", "--strategy", "bandwidth=2", "--no-baselines", "-o", dir); code != 0 {
		t.Fatal(errs)
	}
	exported := []string{"--sampling", "poisson", "--export", dir}
	replaced := filepath.Join(t.TempDir(), "replaced")
	optimizeJSON(t, "--graph", "cycle:4", "--T", "12", "-k", "3", "--sampling", "poisson", "--epsilon", "4", "--delta", "1e-4",
		"--adjacency", "replace-one", "--strategy", "bandwidth=1", "--no-baselines", "-o", replaced)
	another := []string{"--sampling", "poisson", "--export", replaced}
	independent := strings.Fields("--sampling poisson:probability=0.1 --T 40 --noise-multiplier 0.8 --delta 1e-4")
	allocation := strings.Fields("--sampling allocation --T 20 -b 10 --noise-multiplier 0.8 --delta 1e-4")
	truncated := strings.Fields("--sampling truncated --T 20 -b 10 --noise-multiplier 0.8 --delta 1e-4 --sampling max=40 " +
		"--sampling records=100")
	inTurn := strings.Fields("--sampling cyclic --T 20 -b 20 --noise-multiplier 1 --delta 1e-3")
	bins := strings.Fields("--sampling bins --T 40 -b 10 --noise-multiplier 1.5 --delta 1e-2 --epsilon 1.43")
	for name, tc := range map[string]struct {
		flags []string
		more  string
		code  int
	}{
		"an export":             {exported, "", 0},
		"fixed batches":         {exported, "--actual cyclic", 1},
		"half the noise":        {exported, "--noise-scale 0.5", 1},
		"a small epsilon":       {exported, "--epsilon 0.5", 1},
		"dp-d-sgd":              {independent, "", 0},
		"dp-d-sgd, ten batches": {independent, "--actual cyclic", 1},
		"replaced":              {another, "", 0},
		"replaced, half noise":  {another, "--noise-scale 0.5", 1},
		"there or not":          {another, "--adjacency zero-out", 0},
		"replaced, shuffled":    {independent, "--adjacency replace-one --actual shuffle", 1},
		"replaced, cut once":    {independent, "--adjacency replace-one --actual permutation", 1},
		"bins":                  {bins, "", 0},
		"bins that are known":   {bins, "--actual cyclic", 1},
		"bins, cut once": {strings.Fields("--sampling bins --T 100 -b 10 --noise-multiplier 1 --delta 0.492 --epsilon 1.945"),
			"--actual permutation", 1},
		"bins with little noise": {bins, "--noise-scale 0.5", 1},
		"allocation":             {allocation, "", 0},
		"allocation, shuffled":   {allocation, "--actual shuffle", 1},
		"allocation, cut once":   {allocation, "--actual permutation", 1},
		"allocation, known":      {allocation, "--sampling known-seed", 1},
		"truncated":              {truncated, "", 0},
		"truncated, in turn":     {truncated, "--actual cyclic", 1},
		"truncated, shuffled":    {truncated, "--actual shuffle", 1},
		"truncated, known":       {truncated, "--sampling known-seed", 1},
		"in turn, cut once":      {inTurn, "--actual permutation", 0},
		"no secret":              {strings.Fields("--sampling cyclic --T 20 -b 5 --noise-multiplier 2 --delta 1e-3"), "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			args := slices.Concat([]string{"audit", "--runs", "12000"}, tc.flags, strings.Fields(tc.more))
			code, out, errs := mafalda(args...)
			verdict := map[int]string{0: "verdict        passed", 1: "verdict        FAILED"}[tc.code]
			replaces := strings.HasPrefix(name, "replaced")
			if code != tc.code || !strings.Contains(out, verdict) || strings.Count(errs, "\n") != tc.code ||
				strings.Contains(out, "another one in its place") != replaces {
				t.Errorf("code %d, want %d\n%s%s", code, tc.code, out, errs)
			}
		})
	}
	code, out, errs := mafalda(slices.Concat([]string{"audit", "--json", "--runs", "12000", "--actual", "cyclic"}, exported)...)
	var r struct {
		Epsilon    float64 `json:"claimed_epsilon"`
		EpsilonLow float64 `json:"epsilon_low"`
		Passed     bool    `json:"passed"`
		Points     []any   `json:"points"`
	}
	if err := json.Unmarshal([]byte(out), &r); code != 1 || err != nil || r.Passed || !(r.EpsilonLow > 0) || r.Epsilon > 4 ||
		len(r.Points) != 12 {
		t.Errorf("code %d, %+v, %v, %s", code, r, err, errs)
	}
}
