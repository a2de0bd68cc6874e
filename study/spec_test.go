package study

import (
	"bytes"
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
