package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every wrong input gets one line on stderr and exit code 2.
func TestBadInput(t *testing.T) {
	file := func(name, content string) string { return writeFile(t, name, content) }
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "thesis.tex"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	good := []string{"optimize", "--graph", "cycle:5", "--T", "40"}
	with := func(args ...string) []string { return append(append([]string(nil), good...), args...) }
	on := func(graph string) []string { return []string{"optimize", "--T", "40", "--graph", graph} }
	for name, tc := range map[string]struct {
		args []string
		say  string
	}{
		"unknown command":        {[]string{"optimise"}, "optimise"},
		"help on nothing":        {[]string{"help", "optimise"}, "did you mean optimize?"},
		"help on an argument":    {[]string{"help", "optimize", "x"}, `unknown argument "x"`},
		"two shells":             {[]string{"completion", "bash", "zsh"}, `unknown argument "zsh"`},
		"unknown shell":          {[]string{"completion", "bsh"}, "did you mean bash?"},
		"unknown flag":           {with("--steps", "3"), "--steps"},
		"stray argument":         {with("ego.edges"), "ego.edges"},
		"no graph":               {[]string{"optimize", "--T", "40"}, "which network"},
		"no T":                   {[]string{"optimize", "--graph", "cycle:5"}, "--T"},
		"T is a fraction":        {[]string{"optimize", "--graph", "cycle:5", "--T", "3.5"}, "3.5"},
		"T is zero":              {[]string{"optimize", "--graph", "cycle:5", "--T", "0"}, "at least 1"},
		"T not a multiple":       {[]string{"optimize", "--graph", "cycle:5", "--T", "30"}, "k may be 1, 2, 3"},
		"T is not k·b":           {with("-k", "3"), "k = 3 does not divide T = 40"},
		"too many far apart":     {with("-k", "5", "-b", "11"), "at most 4 do"},
		"min-sep above T":        {with("--schema", "min-sep", "-b", "41"), "above T = 40"},
		"min-sep undecided":      {[]string{"optimize", "--graph", "cycle:5", "--T", "30", "--schema", "min-sep"}, "k may be 1, 2, 3"},
		"single twice":           {with("--schema", "single", "-k", "2"), "k = 1"},
		"schema":                 {with("--schema", "weekly"), "neither cyclic, min-sep nor single"},
		"patterns with k":        {with("--schema", file("p", "0 1\n"), "-k", "2"), "leave out"},
		"pattern out of range":   {with("--schema", file("p", "0 1\n2 40\n")), "line 2: step 40 is not one of 0..39"},
		"pattern with twins":     {with("--schema", file("p", "0 1 0\n")), "line 1: step 0 is there twice"},
		"step without pattern":   {with("--schema", file("p", "0 1\n")), "step 2 of 0..39 is in no pattern"},
		"objective":              {with("--objective", "median"), "choose mean, max or last"},
		"objective of banded":    {with("--objective", "max", "--strategy", "banded"), " is not for "},
		"objective of groups":    {with("--objective", "last", "--strategy", "groups=2"), " is not for "},
		"per node and groups":    {with("--strategy", "per-node", "--strategy", "groups=2"), "not both"},
		"no groups":              {with("--strategy", "groups=0"), "at least 1"},
		"more groups than nodes": {with("--strategy", "groups=6"), "has 5 nodes"},
		"banded per node":        {with("--strategy", "per-node", "--strategy", "banded"), "a class that is not dense (--strategy banded) is not for"},
		"per node as text":       {with("--strategy", "per-node", "--format", "csv"), "cannot hold"},
		"per node, min-sep":      {with("--strategy", "per-node", "--schema", "min-sep", "--strategy", "dense"), "overlap"},
		"per node of prefix":     {[]string{"optimize", "--T", "40", "--workload", "prefix", "--strategy", "per-node"}, "no nodes"},
		"per node too large":     {[]string{"optimize", "--T", "2000", "--graph", "cycle:100000", "--strategy", "per-node"}, "of memory"},
		"scaled min-sep":         {with("--schema", "min-sep", "--strategy", "toeplitz", "--strategy", "scale-columns"), "patterns overlap"},
		"comb of one pass":       {with("--strategy", "comb", "-k", "1"), "--strategy comb is for records that take part again"},
		"comb, far too large":    {with("--strategy", "comb", "--strategy", "buffers=4999", "--T", "5000", "-k", "100"), "at most 64"},
		"scaled comb, overlap":   {with("--strategy", "comb", "--T", "5000", "-k", "5", "-b", "20", "--strategy", "scale-columns"), "--strategy scale-columns is not for cyclic"},
		"k is zero":              {with("-k", "0"), "--participations 0"},
		"T too large":            {[]string{"optimize", "--graph", "cycle:5", "--T", "1000000", "-k", "1"}, "of memory"},
		"graph too large":        {on("complete:1000000"), "GB"},
		"missing file":           {on("nowhere.edges"), "neither a file"},
		"empty file":             {on(file("g", "")), "empty"},
		"one node":               {on(file("g", "1 1\n")), "no edges"},
		"NaN weight":             {on(file("g", "1 2 NaN\n")), ":1: weight NaN"},
		"negative weight":        {on(file("g", "1 2 1\n2 3 -1\n")), ":2: weight -1"},
		"truncated npy":          {on(file("g.npy", "\x93NUMPY\x01\x00v\x00{'descr'")), "truncated"},
		"truncated mtx":          {on(file("g.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n")), "truncated"},
		"rows do not sum":        {with("--gossip", ""+file("w.csv", strings.Repeat("0.2,0.2,0.2,0.2,0.1\n", 5))), "sums to 0.9"},
		"not the graph's":        {with("--gossip", ""+file("w.csv", strings.Repeat("0.2,0.2,0.2,0.2,0.2\n", 5))), "no such edge"},
		"gossip scheme":          {with("--gossip", "mean"), "mean"},
		"scheme for directed":    {[]string{"optimize", "--T", "40", "--graph", "directed:" + file("g", "1 2\n"), "--gossip", "metropolis"}, "undirected"},
		"directed built-in":      {[]string{"optimize", "--T", "40", "--graph", "directed:cycle:5"}, "directed:"},
		"workload":               {with("--workload", "models"), "models"},
		"prefix with a graph":    {with("--workload", "prefix"), "no network"},
		"tolerance":              {with("--tolerance", "1e-20"), "1e-20"},
		"tolerance is NaN":       {with("--tolerance", "NaN"), "NaN"},
		"format":                 {with("--format", "mat"), "mat"},
		"adjacency":              {with("--adjacency", "none"), "none"},
		"mu and epsilon":         {with("--mu", "1", "--epsilon", "1", "--delta", "1e-6"), "both"},
		"epsilon alone":          {with("--epsilon", "1"), "without a delta"},
		"delta alone":            {with("--delta", "1e-5"), "neither"},
		"negative mu":            {with("--mu", "-1"), "--mu -1"},
		"delta of one":           {with("--mu", "1", "--delta", "1"), "delta = 1"},
		"clip of zero":           {with("--clip", "0"), "--clip 0"},
		"output is foreign":      {with("-o", foreign), "not an export"},
		"output is a file":       {with("-o", file("f", "")), "not a folder"},
		"graph without a graph":  {[]string{"graph"}, "one graph"},
		"verify nothing":         {[]string{"verify", t.TempDir()}, "no export here"},
		"epsilon of one number":  {[]string{"epsilon", "--mu", "1"}, "two of"},
		"epsilon of three":       {[]string{"epsilon", "--mu", "1", "--epsilon", "1", "--delta", "0.1"}, "not three"},
		"epsilon of NaN":         {[]string{"epsilon", "--mu", "NaN", "--delta", "0.1"}, "NaN"},
		"epsilon of rdp alone":   {[]string{"epsilon", "--alpha", "rdp=1", "--delta", "0.1"}, "alpha"},
		"renyi order":            {[]string{"epsilon", "--mu", "1", "--alpha", "1"}, "alpha = 1"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := mafalda(tc.args...)
			if code != 2 || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, tc.say) {
				t.Errorf("code %d, stdout %q, stderr %q; want 2 and one line with %q", code, out, errs, tc.say)
			}
		})
	}
}

// A place that cannot be written is found before anything is computed, with exit code 1.
func TestUnwritable(t *testing.T) {
	file := writeFile(t, "file", "")
	code, out, errs := mafalda("optimize", "--graph", "cycle:5", "--T", "40", "-o", filepath.Join(file, "out"))
	if code != 1 || out != "" || strings.Count(errs, "\n") != 1 {
		t.Errorf("code %d, %q, %q", code, out, errs)
	}
}

// A changed number of the manifest, or byte of a matrix, is found out.
func TestVerifyFindsTampering(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(m map[string]any)
		say    string
	}{
		"sens too small": {func(m map[string]any) { m["sens_squared"] = 0.9 }, "FAILED  sensitivity"},
		"loss":           {func(m map[string]any) { m["loss"] = m["loss"].(float64) * 0.99 }, "FAILED  loss"},
		"bound too high": {func(m map[string]any) { m["lower_bound"] = m["loss"]; m["gap"] = 0.0 }, "FAILED  lower bound"},
		"another schema": {func(m map[string]any) { m["participation"] = map[string]any{"schema": "cyclic", "k": 8, "b": 5} }, "FAILED  sensitivity"},
		"too little": {func(m map[string]any) {
			p := m["privacy"].(map[string]any)
			p["noise_std"] = p["noise_std"].(float64) / 2
		}, "FAILED  privacy"},
		"epsilon smaller": {func(m map[string]any) { m["privacy"].(map[string]any)["epsilon"] = 1.0 }, "FAILED  privacy"},
		"adjacency":       {func(m map[string]any) { m["privacy"].(map[string]any)["adjacency"] = "replace-one" }, "FAILED  privacy"},
		"another graph":   {func(m map[string]any) { m["graph"].(map[string]any)["source"] = "cycle:6" }, "FAILED  network"},
		"another gossip":  {func(m map[string]any) { m["graph"].(map[string]any)["gossip"] = "laplacian" }, "FAILED  loss"},
		"a hash":          {func(m map[string]any) { m["files"].(map[string]any)["C.npy"] = "00" }, "FAILED  hashes"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			if code, _, errs := mafalda("optimize", "--graph", "star:5", "--T", "40", "-k", "4", "--mu", "1", "--delta", "1e-5",
				"--no-baselines", "-o", dir); code != 0 {
				t.Fatal(errs)
			}
			path := filepath.Join(dir, "manifest.json")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var m map[string]any
			if err := json.Unmarshal(text, &m); err != nil {
				t.Fatal(err)
			}
			tc.change(m)
			if text, err = json.Marshal(m); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o666); err != nil {
				t.Fatal(err)
			}
			if code, out, errs := mafalda("verify", dir); code != 1 || !strings.Contains(out, tc.say) {
				t.Errorf("code %d, want 1 and %q:\n%s%s", code, tc.say, out, errs)
			}
		})
	}
}

// Of several bad numbers the same one is named every time.
func TestFirstBadNumberIsNamed(t *testing.T) {
	for want, args := range map[string]string{
		"--delta -3:": "optimize --graph path:3 --T 4 -k 2 --delta -3 --epsilon -2 --mu -1",
		"--clip -1:":  "simulate --learning-rate -2 --clip -1",
		"--clip -2:":  "smoothness --model logistic,beta=-1 --rate -1 --clip -2",
	} {
		for range 8 {
			if code, _, errs := mafalda(strings.Fields(args)...); code != 2 || !strings.Contains(errs, want) {
				t.Fatalf("%s: code %d, want %q:\n%s", args, code, want, errs)
			}
		}
	}
}
