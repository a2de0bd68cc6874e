package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// smallExports makes an export of every class, and of everything else that changes what a manifest says. It returns
// the arguments that verify needs beside the folder.
func smallExports(t testing.TB) map[string][]string {
	t.Helper()
	base := t.TempDir()
	patterns := writeFile(t, "pat", "0 2\n1 3\n2 5\n4 5\n")
	edges := writeFile(t, "g.edges", "a b\nb c\nc d\nx y\n")
	w := writeFile(t, "w.csv", "0.5,0.5,0\n0.25,0.5,0.25\n0,0.5,0.5\n")
	cases := map[string]struct{ optimize, verify []string }{
		"dense":          {[]string{"--epsilon", "8", "--delta", "1e-6", "--adjacency", "replace-one"}, nil},
		"banded":         {[]string{"--strategy", "banded", "--bandwidth", "2", "--mu", "1", "--clip", "2"}, nil},
		"toeplitz":       {[]string{"--strategy", "toeplitz", "--workload", "message"}, nil},
		"scaled":         {[]string{"--strategy", "toeplitz", "--scale-columns", "--format", "both"}, nil},
		"blt":            {[]string{"--strategy", "blt", "--buffers", "3", "--mu", "1", "--delta", "1e-5"}, nil},
		"parameters":     {[]string{"--strategy", "blt", "--buffers", "2", "--no-dense"}, nil},
		"banded-inverse": {[]string{"--strategy", "banded-inverse", "--bandwidth", "3"}, nil},
		"per node":       {[]string{"--per-node"}, nil},
		"groups":         {[]string{"--groups", "2"}, nil},
		"min-sep":        {[]string{"--schema", "min-sep", "-b", "2"}, nil},
		"patterns":       {[]string{"--schema", patterns}, nil},
		"longer cyclic":  {[]string{"--T", "7", "-b", "2"}, nil},
		"single":         {[]string{"--schema", "single"}, nil},
		"worst step":     {[]string{"--objective", "max"}, nil},
		"last step":      {[]string{"--objective", "last"}, nil},
		"estimate": {[]string{"--graph", "barabasi:20,2", "--seed", "5", "--gram", "lanczos", "--probes", "3",
			"--lanczos-steps", "4"}, nil},
		"prefix":      {[]string{"--workload", "prefix"}, nil},
		"graph file":  {[]string{"--graph", edges}, []string{"--graph", edges}},
		"without it":  {[]string{"--graph", edges}, nil},
		"directed":    {[]string{"--graph", edges, "--directed"}, []string{"--graph", edges}},
		"gossip file": {[]string{"--gossip-matrix", w}, []string{"--gossip-matrix", w}},
		"both files":  {[]string{"--gossip-matrix", w, "--graph", "path:3"}, []string{"--gossip-matrix", w}},
	}
	verify := map[string][]string{}
	for name, tc := range cases {
		dir := filepath.Join(base, name)
		args := []string{"optimize", "-q", "-o", dir}
		if !slices.Contains([]string{"dense", "groups", "worst step", "prefix"}, name) {
			args = append(args, "--no-baselines")
		}
		has := func(flag string) bool { return slices.Contains(tc.optimize, flag) }
		if !has("--T") {
			args = append(args, "--T", "6")
		}
		if !has("--schema") || has("min-sep") {
			args = append(args, "-k", "2")
		}
		if !has("--graph") && !has("prefix") && !has("--gossip-matrix") {
			args = append(args, "--graph", "path:4")
		}
		if code, _, errs := mafalda(append(args, tc.optimize...)...); code != 0 {
			t.Fatalf("%s: %s", name, errs)
		}
		verify[dir] = append([]string{"verify", "--json", dir}, tc.verify...)
	}
	return verify
}

// change is one way to change a manifest.
type change struct {
	path  string
	about string
	apply func()
	undo  func()
	set   func(any) // to something else
}

// changes lists what can be done to every leaf of a JSON value: of arrays, to the first and the last entry.
func changes(path string, value any, set func(any)) []change {
	to := func(about string, v any) change {
		return change{path, about, func() { set(v) }, func() { set(value) }, set}
	}
	var list []change
	switch v := value.(type) {
	case map[string]any:
		for key, child := range v {
			at := strings.TrimPrefix(path+"."+key, ".")
			list = append(list, change{at, "removed", func() { delete(v, key) }, func() { v[key] = child }, nil})
			list = append(list, changes(at, child, func(x any) { v[key] = x })...)
		}
	case []any:
		for _, i := range slices.Compact([]int{0, len(v) - 1}) {
			list = append(list, changes(fmt.Sprintf("%s[%d]", path, i), v[i], func(x any) { v[i] = x })...)
		}
		list = append(list, to("shorter", v[:len(v)-1]), to("longer", append(slices.Clone(v), v[0])))
	case json.Number:
		little := 1e-6
		if path == "per_node.group_bound" { // up to the tolerance of 1e-6, a smaller bound is one as well
			little = 3e-6
		}
		for about, by := range map[string]float64{"+1": 1, "little more": little, "little less": -little} {
			x, _ := new(big.Rat).SetString(string(v))
			d := new(big.Rat).SetFloat64(by)
			if by != 1 && x.Sign() != 0 {
				d.Mul(d, x)
			}
			f, _ := x.Add(x, d).Float64()
			text := json.Number(fmt.Sprint(f))
			if x.IsInt() {
				text = json.Number(x.Num().String())
			}
			if by > 0 || path[len(path)-1] != ']' {
				list = append(list, to(about, text))
			}
		}
	case string:
		list = append(list, to("longer", v+"x"))
	case bool:
		list = append(list, to("negated", !v))
	}
	return list
}

// noticed reports whether verify fails, or lists the key as not checked.
func noticed(code int, out, path string) (bool, error) {
	if code != 0 {
		return true, nil
	}
	var verdict struct {
		NotChecked []string `json:"not_checked"`
	}
	if err := json.Unmarshal([]byte(out), &verdict); err != nil {
		return false, err
	}
	return slices.ContainsFunc(verdict.NotChecked, func(key string) bool {
		rest, ok := strings.CutPrefix(path, key)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	}), nil
}

// Nothing in a manifest can be changed, however little, that verify does not notice or list as not checked:
// baselines, ratios, bounds of classes, costs, bandwidths and buffers, poles, what single nodes lose, removed blocks,
// ...
func TestVerifyNoticesEveryLeaf(t *testing.T) {
	count := 0
	for dir, args := range smallExports(t) {
		code, out, errs := mafalda(args...)
		if code != 0 {
			t.Errorf("%s does not verify: %s%s", filepath.Base(dir), out, errs)
			continue
		}
		text, manifest := readGeneric(t, dir)
		for _, c := range changes("", manifest, nil) {
			c.apply()
			writeGeneric(t, dir, manifest)
			c.undo()
			count++
			code, out, errs := mafalda(args...)
			if ok, err := noticed(code, out, c.path); err != nil || !ok {
				t.Errorf("%s: %s %s is not noticed, %v", filepath.Base(dir), c.path, c.about, err)
			}
			if n := strings.Count(errs, "\n"); code != 0 && n != 1 || code > 2 {
				t.Errorf("%s: %s %s: code %d, %d lines: %s", filepath.Base(dir), c.path, c.about, code, n, errs)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d changes", count)
}

// readGeneric returns the bytes of a manifest, and what they hold, numbers as they are written.
func readGeneric(t testing.TB, dir string) ([]byte, map[string]any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&manifest); err != nil {
		t.Fatal(err)
	}
	return text, manifest
}

func writeGeneric(t testing.TB, dir string, manifest map[string]any) {
	t.Helper()
	text, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}
