package study

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestOf(t *testing.T) {
	s := Of("benchmark")
	if s.Study != "mafalda benchmark" || len(s.Inputs) != 1 || s.Inputs[0].Name != "program" ||
		s.Inputs[0].Value == "" {
		t.Errorf("%+v", s)
	}
}

func TestJSONFile(t *testing.T) {
	var out bytes.Buffer
	f := JSONFile("a.json", map[string]int{"rows": 2})
	if err := f.Write(&out); err != nil || f.Name != "a.json" || out.String() != "{\n  \"rows\": 2\n}\n" {
		t.Errorf("%s, %v: %q", f.Name, err, out.String())
	}
}

// A former folder has the store with all its keys, and nothing that its program would not have written.
func TestFormerly(t *testing.T) {
	former := Formerly("runs.json", []string{"version", "runs"}, func(name string) bool { return name == "runs.csv" })
	for name, tc := range map[string]struct {
		store string
		names []string
		want  bool
	}{
		"alone":         {`{"version":"v1","runs":[]}`, []string{"runs.json"}, true},
		"with a table":  {`{"version":"v1","runs":[]}`, []string{"runs.csv", "runs.json"}, true},
		"with more":     {`{"version":"v1","runs":[]}`, []string{"notes.txt", "runs.json"}, false},
		"without store": {`{"version":"v1","runs":[]}`, []string{"runs.csv"}, false},
		"without a key": {`{"version":"v1"}`, []string{"runs.json"}, false},
		"no JSON":       {`version`, []string{"runs.json"}, false},
		"no file":       {"", []string{"runs.json"}, false},
	} {
		dir := t.TempDir()
		if tc.store != "" {
			if err := os.WriteFile(filepath.Join(dir, "runs.json"), []byte(tc.store), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := former(dir, tc.names); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
