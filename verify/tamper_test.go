package verify_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mafalda/verify"
)

// change is one way to change a manifest.
type change struct {
	path  string
	about string
	apply func()
	undo  func()
	set   func(any) // sets another value
}

// changes lists what can be done to every leaf of a JSON value: of arrays, to the first and the last entry.
func changes(path string, value any, set func(any)) []change {
	to := func(about string, v any) change {
		return change{path, about, func() { set(v) }, func() { set(value) }, set}
	}
	var list []change
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			child := v[key]
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
		for _, way := range []struct {
			about string
			by    float64
		}{{"+1", 1}, {"little more", little}, {"little less", -little}} {
			about, by := way.about, way.by
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

// additions lists numbers that can be added to a manifest where it has none.
func additions(manifest map[string]any) []change {
	var list []change
	for _, key := range verify.Keys() {
		block, name := manifest, key
		if outer, inner, ok := strings.Cut(key, "."); ok {
			block, _ = manifest[outer].(map[string]any)
			name = inner
		}
		if _, there := block[name]; block == nil || there || strings.ContainsAny(name, ".[*") {
			continue
		}
		for _, number := range []json.Number{"1", "1000000"} {
			if number == "1" && strings.HasSuffix(name, "_bound") {
				continue // true, but weaker than what can be proven
			}
			list = append(list, change{key, "added: " + string(number), func() { block[name] = number },
				func() { delete(block, name) }, nil})
		}
	}
	return list
}

// extremes are numbers and other values that a manifest may have anywhere.
var extremes = []any{json.Number("0"), json.Number("-1"), json.Number("1e308"), json.Number("5e-324"),
	json.Number("4611686018427387904"),
	json.Number("1048576"), json.Number("1e400"), json.Number("1"), json.Number("2"), json.Number("-1e-9"),
	json.Number("1e17"), "", "x", "exact",
	"lanczos", "cycle:1000", "prefix", "message", "dense", "blt", "banded", "toeplitz", "banded-inverse", "min-sep",
	"patterns", "single", "max", "last",
	true, nil, []any{}, map[string]any{}, []any{json.Number("0"), json.Number("1e300")}}

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
