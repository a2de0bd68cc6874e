package export

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"mafalda/graph"
)

// The Python package refuses keys that it does not know, so it must know all of them.
func TestPythonKnowsAllKeys(t *testing.T) {
	text, err := os.ReadFile("../python/mafalda/checks.py")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(at reflect.Type) {
		for at.Kind() == reflect.Pointer || at.Kind() == reflect.Slice {
			at = at.Elem()
		}
		if at.Kind() != reflect.Struct || seen[at] || at == reflect.TypeFor[Gram]() || at == reflect.TypeFor[Point]() ||
			at.Implements(reflect.TypeFor[json.Marshaler]()) { // free in the table, or not in files
			return
		}
		seen[at] = true
		for i := range at.NumField() {
			f := at.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			printed := at == reflect.TypeFor[Space]() && (f.Name == "Own" || f.Name == "Pairs") // not in files
			if name != "" && name != "-" && !printed && !strings.Contains(string(text), `"`+name+`"`) {
				t.Errorf("python/mafalda/checks.py does not know %q of %v", name, at)
			}
			walk(f.Type)
		}
	}
	walk(reflect.TypeFor[Manifest]())
	walk(reflect.TypeFor[graph.Origin]())
	spec, err := os.ReadFile("../workload/specjson.go") // its types are not exported
	if err != nil {
		t.Fatal(err)
	}
	tags := regexp.MustCompile(`json:"(\w+)`).FindAllStringSubmatch(string(spec), -1)
	if len(tags) < 15 {
		t.Fatalf("only %d keys of workload_spec", len(tags))
	}
	for _, tag := range tags {
		if !strings.Contains(string(text), `"`+tag[1]+`"`) {
			t.Errorf("python/mafalda/checks.py does not know %q of workload_spec", tag[1])
		}
	}
}
