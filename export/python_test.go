package export

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"mafalda/graph"
	"mafalda/workload"
)

// The Python package refuses keys that it does not know, so it must know all of them.
func TestPythonKnowsAllKeys(t *testing.T) {
	text, err := os.ReadFile("../python/mafalda/checks.py")
	if err != nil {
		t.Fatal(err)
	}
	seen, keys := map[reflect.Type]bool{}, 0
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
			if name != "" && name != "-" {
				keys++
				if !printed && !strings.Contains(string(text), `"`+name+`"`) {
					t.Errorf("python/mafalda/checks.py does not know %q of %v", name, at)
				}
			}
			walk(f.Type)
		}
	}
	walk(reflect.TypeFor[Manifest]())
	walk(reflect.TypeFor[graph.Origin]())
	shape, _ := new(workload.Spec).JSONShape()
	before := keys
	if walk(reflect.TypeOf(shape)); keys < before+15 {
		t.Errorf("only %d keys of workload_spec", keys-before)
	}
}
