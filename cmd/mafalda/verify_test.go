package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mafalda/export"
	"mafalda/internal/cli"
	"mafalda/plan"
)

// smallExports makes an export of every class, and of everything else that changes what a manifest says. It returns their
// folders, and the flags that verify needs beside them.
func smallExports(t testing.TB) map[string]cli.ExportNetworkFlags {
	t.Helper()
	base := t.TempDir()
	patterns := writeFile(t, "pat", "0 2\n1 3\n2 5\n4 5\n")
	edges := writeFile(t, "g.edges", "a b\nb c\nc d\nx y\n")
	w := writeFile(t, "w.csv", "0.5,0.5,0\n0.25,0.5,0.25\n0,0.5,0.5\n")
	const six, path = "--T 6 -k 2 ", "--graph path:4 --T 6 -k 2 --no-baselines "
	flags := map[string]cli.ExportNetworkFlags{}
	for name, tc := range map[string]struct {
		optimize string
		verify   cli.ExportNetworkFlags
	}{
		"dense":          {optimize: six + "--graph path:4 --epsilon 8 --delta 1e-6 --adjacency replace-one"},
		"banded":         {optimize: path + "--strategy banded --bandwidth 2 --mu 1 --clip 2"},
		"toeplitz":       {optimize: path + "--strategy toeplitz --workload message"},
		"scaled":         {optimize: path + "--strategy toeplitz --scale-columns --format both"},
		"blt":            {optimize: path + "--strategy blt --buffers 3 --mu 1 --delta 1e-5"},
		"parameters":     {optimize: path + "--strategy blt --buffers 2 --no-dense"},
		"banded-inverse": {optimize: path + "--strategy banded-inverse --bandwidth 3"},
		"per node":       {optimize: path + "--per-node"},
		"groups":         {optimize: six + "--graph path:4 --groups 2"},
		"min-sep":        {optimize: path + "--schema min-sep -b 2"},
		"patterns":       {optimize: "--graph path:4 --T 6 --no-baselines --schema " + patterns},
		"longer cyclic":  {optimize: path + "--T 7 -b 2"},
		"single":         {optimize: "--graph path:4 --T 6 --no-baselines --schema single"},
		"worst step":     {optimize: six + "--graph path:4 --objective max"},
		"last step":      {optimize: path + "--objective last"},
		"estimate":       {optimize: six + "--graph barabasi:300,2 --seed 5 --gram lanczos --probes 30 --lanczos-steps 5"},
		"unit vectors":   {optimize: six + "--graph barabasi:20,2 --seed 5 --gram lanczos --probes 4 --lanczos-steps 4"},
		"prefix":         {optimize: six + "--workload prefix"},
		"graph file":     {six + "--no-baselines --graph " + edges, cli.ExportNetworkFlags{Graph: edges}},
		"without it":     {optimize: six + "--graph " + edges},
		"directed":       {six + "--no-baselines --directed --graph " + edges, cli.ExportNetworkFlags{Graph: edges}},
		"gossip file":    {six + "--no-baselines --gossip-matrix " + w, cli.ExportNetworkFlags{GossipMatrix: w}},
		"both files":     {path + "--graph path:3 --gossip-matrix " + w, cli.ExportNetworkFlags{GossipMatrix: w}},
	} {
		dir := filepath.Join(base, name)
		args := append([]string{"optimize", "-q", "-o", dir}, strings.Fields(tc.optimize)...)
		if code, _, errs := mafalda(args...); code != 0 {
			t.Fatalf("%s: %s", name, errs)
		}
		flags[dir] = tc.verify
	}
	return flags
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

// verified verifies an export, with the files of its network.
func verified(ctx context.Context, dir string, f cli.ExportNetworkFlags) (plan.Report, error) {
	e, err := export.Load(dir)
	if err != nil {
		return plan.Report{}, err
	}
	n, err := f.Load(ctx, e)
	if err != nil {
		return plan.Report{}, err
	}
	return plan.Verify(ctx, e, n)
}

// noticed reports whether verify fails, or lists the key as not checked.
func noticed(r plan.Report, err error, path string) bool {
	return err != nil || !r.OK() || slices.ContainsFunc(r.NotChecked, func(key string) bool {
		rest, ok := strings.CutPrefix(path, key)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// Nothing in a manifest can be changed, however little, that verify does not notice or list as not checked: baselines,
// ratios, bounds of classes, costs, bandwidths and buffers, poles, what single nodes lose, removed blocks, ...
func TestVerifyNoticesEveryLeaf(t *testing.T) {
	count := 0
	for dir, f := range smallExports(t) {
		if r, err := verified(t.Context(), dir, f); err != nil || !r.OK() {
			t.Errorf("%s does not verify: %v, %+v", filepath.Base(dir), err, r)
			continue
		}
		_, manifest := readGeneric(t, dir)
		for _, c := range changes("", manifest, nil) {
			if count++; testing.Short() && count%10 != 0 {
				continue
			}
			c.apply()
			writeGeneric(t, dir, manifest)
			c.undo()
			if filepath.Base(dir) == "min-sep" && c.path == "participation.b" && c.about == "+1" {
				continue // true, but weaker: who takes part less often learns no more, and every number holds for them, too
			}
			if r, err := verified(t.Context(), dir, f); !noticed(r, err, c.path) {
				t.Errorf("%s: %s %s is not noticed", filepath.Base(dir), c.path, c.about)
			} else if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %s %s: several lines: %v", filepath.Base(dir), c.path, c.about, err)
			}
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
