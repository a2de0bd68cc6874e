package study

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A cell is, to the byte, what encode writes, or damaged.
func FuzzCell(f *testing.F) {
	var k Key
	cell, result := []byte(`{"a":1}`), []byte(`[1,2.5]`)
	name, whole := k.cellFile(cell), k.encode(cell, result)
	f.Add(name, whole)
	f.Add(name, whole[:len(whole)-2])
	f.Add(name, []byte(strings.Replace(string(whole), "2.5", "2.6", 1)))
	f.Add(name, []byte(strings.Replace(string(whole), `"result"`, `"result":[],"Result"`, 1)))
	f.Add("", []byte("null"))
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		cell, result, err := k.decode(name, content)
		if err == nil && (name != k.cellFile(cell) || string(k.encode(cell, result)) != string(content)) {
			t.Fatalf("%q holds %q and %q", content, cell, result)
		}
	})
}

// Whatever study.json holds: it is the record of a study whose inputs make its key and whose files are in the folder,
// or damaged.
func FuzzRecord(f *testing.F) {
	for _, text := range []string{`{}`, `null`, `[]`, `{"study":"a","key":"0","files":["../x"]}`, "{\"study\":1}",
		"\x00"} {
		f.Add([]byte(text))
	}
	made := &folder{dir: f.TempDir(), spec: Spec{Study: "account"}}
	made.spec.Inputs.Add("graph", "florentine")
	r := &record{Study: "account", Key: made.spec.Inputs.Key("account").String(), Inputs: made.spec.Inputs,
		Files: []string{"pairs.csv"}}
	if err := made.write(r); err != nil {
		f.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(made.dir, recordName))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, content []byte) {
		here := &folder{dir: t.TempDir()}
		if err := os.WriteFile(filepath.Join(here.dir, recordName), content, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := here.read()
		switch {
		case err != nil && strings.Contains(err.Error(), "\n"):
			t.Fatalf("error %q", err)
		case err == nil && r == nil:
			t.Fatal("there is no record")
		case err != nil:
			return
		}
		for _, name := range r.Files {
			if filepath.Dir(filepath.Join(here.dir, name)) != here.dir {
				t.Fatalf("a file %q of the folder", name)
			}
		}
	})
}
