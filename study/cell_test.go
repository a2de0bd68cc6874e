package study

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
)

// No file among the cells is believed that is not, byte for byte, what was written under its name.
func TestDamage(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, cells, one, other string){
		"cut":   func(t *testing.T, _, one, _ string) { write(t, one, read(t, one)[:40]) },
		"empty": func(t *testing.T, _, one, _ string) { write(t, one, "") },
		"a number": func(t *testing.T, _, one, _ string) {
			write(t, one, strings.Replace(read(t, one), `"half":`, `"half":1`, 1))
		},
		"the cell": func(t *testing.T, _, one, _ string) {
			write(t, one, strings.Replace(read(t, one), `"row":"`, `"row":"z`, 1))
		},
		"a second key": func(t *testing.T, _, one, _ string) {
			write(t, one, strings.Replace(read(t, one), `{`, `{"Cell":0,`, 1))
		},
		"more":         func(t *testing.T, _, one, _ string) { write(t, one, read(t, one)+" ") },
		"another cell": func(t *testing.T, _, one, other string) { write(t, one, read(t, other)) },
		"renamed": func(t *testing.T, cells, one, _ string) {
			rename(t, one, filepath.Join(cells, strings.Repeat("0", 64)+".json"))
		},
		"a copy": func(t *testing.T, cells, one, _ string) {
			write(t, filepath.Join(cells, "copy of a cell.json"), read(t, one))
		},
		"a folder": func(t *testing.T, _, one, _ string) { mkdir(t, one) },
		"another study": func(t *testing.T, _, one, _ string) {
			write(t, one, read(t, cellOf(t, filled(t,
				specOf("y")), 0)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filled(t, specOf("x"))
			damage(t, filepath.Join(dir, "cells"), cellOf(t, dir, 0), cellOf(t, dir, 1))
			if _, err := Open[place, value](dir, specOf("x")); !errors.Is(err, ErrDamaged) {
				t.Errorf("%v, want ErrDamaged", err)
			}
		})
	}
}

// A study.json that was changed is not believed, least of all the names of files that may be replaced.
func TestDamagedRecord(t *testing.T) {
	for name, change := range map[string][2]string{
		"an input":         {`"value": "x"`, `"value": "y"`},
		"a way out":        {`"table.csv"`, `"../table.csv"`},
		"the cells":        {`"table.csv"`, `"cells"`},
		"hidden":           {`"table.csv"`, `".git"`},
		"no JSON any more": {`{`, ``},
	} {
		dir := filled(t, specOf("x"))
		path := filepath.Join(dir, "study.json")
		write(t, path, strings.Replace(read(t, path), change[0], change[1], 1))
		spec := specOf("z")
		spec.Replace = true
		if _, err := Open[place, value](dir, spec); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
	}
}

// Whatever byte of a cell's file is changed, cut or added, it is noticed.
func TestAnyDamage(t *testing.T) {
	key := specOf("x").Inputs.Key("a test")
	cell, result := []byte(`{"row":"a","column":0.5}`), []byte(`{"text":"<"}`)
	name, whole := key.cellFile(cell), key.encode(cell, result)
	if _, _, err := key.decode(name, whole); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, len(whole)-1).Draw(t, "at")
		damaged := append([]byte(nil), whole...)
		switch rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			damaged[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		case 1:
			damaged = damaged[:at]
		case 2:
			damaged = append(damaged[:at:at], append([]byte{rapid.Byte().Draw(t, "byte")}, whole[at:]...)...)
		}
		if _, _, err := key.decode(name, damaged); err == nil && string(damaged) != string(whole) {
			t.Fatalf("%s passes", damaged)
		}
	})
}

// Different inputs have different keys, however they are cut into names and values.
func TestKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringMatching(`[ab"\\:]{0,3}`), 0, 6)
		inputs := func(label string) (string, Inputs) {
			var in Inputs
			for _, text := range texts.Draw(t, label) {
				in.Add(text, rapid.StringMatching(`[ab"\\:]{0,3}`).Draw(t, "value"))
			}
			return rapid.StringMatching(`[ab]{0,2}`).Draw(t, "study"), in
		}
		one, a := inputs("a")
		two, b := inputs("b")
		same := one == two && len(a) == len(b)
		for i := range min(len(a), len(b)) {
			same = same && a[i] == b[i]
		}
		if (a.Key(one) == b.Key(two)) != same {
			t.Fatalf("%s %q and %s %q: %v, %v", one, a, two, b, a.Key(one), b.Key(two))
		}
	})
}

// What a digest is of is told apart by kind and length.
func TestDigest(t *testing.T) {
	sums := map[string]string{}
	for name, add := range map[string]func(d *Digest){
		"nothing":    func(*Digest) {},
		"one":        func(d *Digest) { d.Int(1) },
		"1.0":        func(d *Digest) { d.Float(1) },
		"a, b":       func(d *Digest) { d.String("a"); d.String("b") },
		"ab":         func(d *Digest) { d.String("ab") },
		"ab bytes":   func(d *Digest) { d.Bytes([]byte("ab")) },
		"list":       func(d *Digest) { d.Strings([]string{"a", "b"}) },
		"two lists":  func(d *Digest) { d.Strings([]string{"a"}); d.Strings([]string{"b"}) },
		"minus zero": func(d *Digest) { d.Float(0 * -1.0) },
		"lists":      func(d *Digest) { d.Lists([][]int{{1}, {2, 3}}) },
		"other ones": func(d *Digest) { d.Lists([][]int{{1, 2}, {3}}) },
		"empty":      func(d *Digest) { d.String("") },
	} {
		d := NewDigest()
		add(d)
		if other, taken := sums[d.Sum()]; taken {
			t.Errorf("%s and %s have the same sum", name, other)
		}
		sums[d.Sum()] = name
	}
}

// Results that are no data are refused, not kept empty.
func TestResultsThatAreNoData(t *testing.T) {
	s, err := Open[place, func()](filepath.Join(t.TempDir(), "d"), specOf("x"))
	if err == nil {
		err = s.Put(context.Background(), place{}, func() {})
	}
	if err == nil || !strings.Contains(err.Error(), "unsupported type") {
		t.Errorf("%v", err)
	}
}

func cellOf(t *testing.T, dir string, i int) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "cells", "*"))
	if err != nil || len(names) != 6 {
		t.Fatalf("%v, %v", names, err)
	}
	return names[i]
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
}
