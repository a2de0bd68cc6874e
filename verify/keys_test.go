package verify

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"mafalda/export"
)

// keysOf lists the keys that a type can have in JSON, as rules name them: * for a name of a map, [] for an entry of a list.
// Types that write themselves have one key.
func keysOf(of reflect.Type, key string) []string {
	if of.Kind() == reflect.Struct && of.Implements(reflect.TypeFor[json.Marshaler]()) {
		return []string{key}
	}
	var all []string
	switch of.Kind() {
	case reflect.Pointer:
		return keysOf(of.Elem(), key)
	case reflect.Map:
		return keysOf(of.Elem(), key+".*")
	case reflect.Slice, reflect.Array:
		return keysOf(of.Elem(), key+"[]")
	case reflect.Struct:
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if name != "" {
				name = "." + name
			}
			all = append(all, keysOf(of.Field(i).Type, strings.TrimPrefix(key+name, "."))...)
		}
		return all
	}
	return []string{key}
}

// No key of a manifest is forgotten: each has a rule, every rule a key, and a number that is compared is compared somewhere.
func TestEveryKeyHasARule(t *testing.T) {
	keys := keysOf(reflect.TypeFor[export.Manifest](), "")
	if len(keys) < 100 {
		t.Fatalf("only %d keys: %v", len(keys), keys)
	}
	used := map[string]bool{}
	for _, key := range keys {
		found := false
		for _, r := range rules() {
			if inside(key, r.key) {
				found, used[r.key] = true, true
			}
		}
		if !found {
			t.Errorf("%s has no rule", key)
		}
	}
	for _, r := range rules() {
		if !used[r.key] {
			t.Errorf("there is no key %s", r.key)
		}
		if r.how != unchecked && r.how != given && r.check == "" {
			t.Errorf("%s is %s by no check", r.key, r.how)
		}
		if (r.how == within) != (r.apart != nil) {
			t.Errorf("%s is compared %s, with a tolerance: %v", r.key, r.how, r.apart != nil)
		}
	}
}
