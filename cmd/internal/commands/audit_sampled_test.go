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

func TestBadSampledAudits(t *testing.T) {
	with := func(args string) []string {
		return append(strings.Fields("audit --sampling poisson --T 20 --noise-multiplier 1 --delta 1e-3"),
			strings.Fields(args)...)
	}
	plain := filepath.Join(t.TempDir(), "plain")
	optimizeJSON(t, "--workload", "prefix", "--T", "8", "-k", "2", "--strategy", "banded-inverse", "--strategy", "bandwidth=2",
		"--no-baselines", "-o", plain)
	dense := filepath.Join(t.TempDir(), "dense")
	optimizeJSON(t, "--graph", "florentine", "--T", "24", "-k", "4", "--no-baselines", "-o", dense)
	own := filepath.Join(t.TempDir(), "own")
	optimizeJSON(t, "--graph", "cycle:15", "--T", "8", "-k", "8", "--strategy", "groups=2", "--no-baselines", "-o", own)
	for name, tc := range map[string]struct {
		args []string
		say  string
	}{
		"no such sampling": {strings.Fields("audit --sampling shuffled --T 4 --noise-multiplier 1 --delta 0.1"), "choose one of poisson"},
		"a permutation": {strings.Fields("audit --sampling permutation --T 4 -b 2 --noise-multiplier 1 --delta 0.1"),
			"no more is proved"},
		"no largest batch":    {strings.Fields("audit --sampling truncated --T 4 -b 2 --noise-multiplier 1 --delta 0.1"), "--sampling max"},
		"a batch of any size": {with("--sampling probability=0.1 --sampling max=5"), "--sampling max is for --sampling truncated or --actual truncated"},
		"a small batch": {strings.Fields("audit --sampling truncated:max=5 --T 4 -b 2 --noise-multiplier 1 --delta 0.1 " +
			"--sampling records=20"), "18 or more"},
		"no such batches":  {with("--sampling probability=0.1 --actual shuffled"), "--actual shuffled: choose"},
		"no probability":   {with(""), "--sampling probability"},
		"probability":      {with("--sampling probability=1.5"), "--sampling probability 1.5: must be"},
		"zero probability": {with("--sampling probability=0"), "--sampling probability 0: must be"},
		"groups":           {with("--sampling probability=0.1 --sampling groups=21"), "--sampling groups 21: must be"},
		"batches":          {with("--sampling probability=0.1 --actual cyclic -b 21"), "--separation 21: there must be"},
		"how many batches": {with("--sampling probability=0.3 --actual cyclic"), "Use -b"},
		"no noise":         {strings.Fields("audit --sampling poisson:probability=0.1 --T 9 --delta 0.1"), "--noise-multiplier"},
		"no noise at all":  {with("--sampling probability=0.1 --noise-multiplier 0"), "--noise-multiplier 0: must be"},
		"no delta":         {strings.Fields("audit --sampling poisson:probability=0.1 --T 9 --noise-multiplier 1"), "--delta"},
		"delta":            {with("--sampling probability=0.1 --delta 1"), "--delta 1: must be"},
		"epsilon":          {with("--sampling probability=0.1 --epsilon -1"), "--epsilon -1: must be"},
		"no steps":         {strings.Fields("audit --sampling poisson --noise-multiplier 1 --delta 0.1"), "--T"},
		"many steps":       {with("--T 1e6 --sampling probability=0.1"), "--T 1000000: must be"},
		"a network":        {with("--sampling probability=0.1 --graph florentine"), "--graph is not for --sampling"},
		"an attacker":      {with("--sampling probability=0.1 --attacker Medici"), "--attacker is not for --sampling"},
		"without sampling": {strings.Fields("audit --graph florentine --T 4 --attacker Medici --delta 0.1"), "--delta is for"},
		"no neighbours":    {with("--sampling probability=0.1 --adjacency none"), "--adjacency none: choose"},
		"replaced in bins": {strings.Fields("audit --sampling bins --T 4 -b 2 --noise-multiplier 1 --delta 0.1 --adjacency replace-one"),
			"no accountant under bins"},
		"a replaced record":  {strings.Fields("audit --graph florentine --T 4 --attacker Medici --adjacency replace-one"), "is for --sampling"},
		"few runs":           {with("--sampling probability=0.1 --runs 3"), "--runs 3: must be"},
		"no export":          {with("--sampling probability=0.1 --export " + t.TempDir()), "no export here"},
		"steps of an export": {with("--sampling probability=0.1 --export " + plain), "--T 20: the strategy is for T = 8"},
		"own strategies":     {with("--sampling probability=0.1 --T 8 --export " + own), "strategies of their own"},
		"negative entries": {strings.Fields("audit --sampling bins --noise-multiplier 1 --delta 0.1 --export " + dense),
			"domination is not proved"},
		"overlap": {with("--sampling probability=0.1 --T 8 --sampling groups=1 --export " + plain), "no epsilon is proved"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := mafalda(tc.args...)
			if code != 2 || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, tc.say) {
				t.Errorf("code %d, stdout %q, stderr %q; want 2 and one line with %q", code, out, errs, tc.say)
			}
		})
	}
}
