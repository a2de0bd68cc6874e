package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"mafalda/internal/fault"
	"mafalda/internal/strictjson"
	"mafalda/participation"
)

// Key is a key of a manifest, as the tags of its field have it. This is the one table of all keys: package verify compares
// by it, the Python package reads by it (python/mafalda/schema.json), and docs/formats.md is compared with it.
type Key struct {
	Name   string `json:"key"`              // graph.nodes; * stands for any name of an object, [] for any entry of a list
	Kind   string `json:"kind"`             // object, list, string, bool, int, float; any is a string or a list of numbers
	In     string `json:"in,omitempty"`     // an interval of numbers, as (0,1] or [0,); or the words that are allowed
	Needed bool   `json:"needed,omitempty"` // the object around it has it, if zero is not in In
	Rules  string `json:"-"`                // how verify compares it
	Of     string `json:"of,omitempty"`     // schemes of sampling that may have it, those with ! that do; empty: all
}

// Keys lists the keys of manifests, objects before what is in them.
func Keys() []Key { return allKeys() }

var allKeys = sync.OnceValue(func() []Key {
	var all []Key
	addKeys(&all, reflect.TypeFor[Manifest](), Key{})
	return all[1:] // without the manifest itself
})

// addKeys adds a key of this type, and all keys in it.
func addKeys(all *[]Key, of reflect.Type, k Key) {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if s, is := reflect.New(of).Interface().(strictjson.Shaped); is {
		shape, _ := s.JSONShape()
		of = reflect.TypeOf(shape).Elem()
	}
	entry := Key{Name: k.Name + "[]", In: k.In}
	switch k.Kind = kindOf(of); k.Kind {
	case "list", "object":
		k.In = ""
	}
	*all = append(*all, k)
	switch {
	case of.Kind() == reflect.Map:
		entry.Name = k.Name + ".*"
		addKeys(all, of.Elem(), entry)
	case k.Kind == "any":
		entry.Kind = "float"
		*all = append(*all, entry)
	case k.Kind == "list" && of.Kind() != reflect.Struct:
		addKeys(all, of.Elem(), entry)
	case k.Kind == "object":
		addFields(all, of, k.Name)
	}
}

// addFields adds the keys of a struct, those of embedded structs in their place.
func addFields(all *[]Key, of reflect.Type, in string) {
	for i := range of.NumField() {
		f := of.Field(i)
		switch name, options, _ := strings.Cut(f.Tag.Get("json"), ","); name {
		case "-":
		case "":
			addFields(all, f.Type, in)
		default:
			allowed := strings.ReplaceAll(f.Tag.Get("in"), "{schemes}", strings.Join(participation.Schemes(), " "))
			addKeys(all, f.Type, Key{Name: strings.TrimPrefix(in+"."+name, "."), In: allowed, Rules: f.Tag.Get("verify"),
				Of: f.Tag.Get("of"), Needed: options == ""})
		}
	}
}

func kindOf(of reflect.Type) string {
	switch {
	case of == reflect.TypeFor[json.RawMessage]():
		return "any"
	case of.Implements(reflect.TypeFor[json.Marshaler]()) || of.Kind() == reflect.Slice || of.Kind() == reflect.Array:
		return "list"
	case of.Kind() == reflect.Struct || of.Kind() == reflect.Map:
		return "object"
	case of.Kind() == reflect.Float64:
		return "float"
	case of.Kind() == reflect.String || of.Kind() == reflect.Bool:
		return of.Kind().String()
	}
	return "int"
}

// Values yields what the manifest has under the keys that a pattern stands for, as Key.Name has them, with the keys. What JSON
// would leave out, because it is empty, is not there.
func (m *Manifest) Values(pattern string) iter.Seq2[string, reflect.Value] {
	names := strings.Split(strings.ReplaceAll(pattern, "[]", ".[]"), ".")
	return func(yield func(string, reflect.Value) bool) { visit(reflect.ValueOf(m), "", names, yield) }
}

// visit yields the values under the names in v, and reports whether yield wants more.
func visit(v reflect.Value, path string, names []string, yield func(string, reflect.Value) bool) bool {
	if v.Kind() == reflect.Pointer {
		return v.IsNil() || visit(v.Elem(), path, names, yield)
	}
	if len(names) == 0 {
		return yield(path, v)
	}
	name, rest := names[0], names[1:]
	switch v.Kind() {
	case reflect.Map:
		for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()), compareText) {
			if !visit(v.MapIndex(key), path+"."+key.String(), rest, yield) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !visit(v.Index(i), fmt.Sprintf("%s[%d]", path, i), rest, yield) {
				return false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if key == "" && !visit(v.Field(i), path, names, yield) {
				return false
			}
			if key == name && (options == "" || !isEmpty(v.Field(i))) {
				return visit(v.Field(i), strings.TrimPrefix(path+"."+name, "."), rest, yield)
			}
		}
	}
	return true
}

func compareText(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) }

// isEmpty reports whether omitempty leaves a value out.
func isEmpty(v reflect.Value) bool {
	if k := v.Kind(); k == reflect.Slice || k == reflect.Map {
		return v.Len() == 0
	}
	return v.IsZero()
}

// checkNumbers rejects numbers that JSON does not have.
func (m *Manifest) checkNumbers() error {
	for _, k := range Keys() {
		for path, v := range m.Values(k.Name) {
			if k.Kind == "float" && !(math.Abs(v.Float()) <= math.MaxFloat64) {
				return fmt.Errorf("%w: %s is %v", ErrManifest, path, v)
			}
		}
	}
	return nil
}

// checkRanges rejects values of keys in a block, all of them for "", that are not in the ranges of their keys, keys of sampling
// that its scheme does not have, and those that it lacks.
func (m *Manifest) checkRanges(block string) error {
	for _, k := range Keys() {
		if !strings.HasPrefix(k.Name, block) {
			continue
		}
		there, of := false, strings.Fields(k.Of)
		for path, v := range m.Values(k.Name) {
			if there = true; k.In != "" && !k.allows(v) {
				return fmt.Errorf("%s is %v: must be %s", path, v, k.allowed())
			}
		}
		if len(of) == 0 || m.Sampling == nil {
			continue
		}
		scheme := m.Sampling.Scheme
		if slices.Contains(of, scheme+"!") != there && !(there && slices.Contains(of, scheme)) {
			return fmt.Errorf("%s is of sampling %s; the scheme is %s", k.Name, strings.ReplaceAll(k.Of, "!", ""), scheme)
		}
	}
	return nil
}

// allows reports whether a value is in the range of its key.
func (k Key) allows(v reflect.Value) bool {
	if k.Kind == "string" {
		return slices.Contains(strings.Fields(k.In), v.String())
	}
	return fault.Inside(v.Convert(reflect.TypeFor[float64]()).Float(), k.In)
}

// allowed says what a key may be.
func (k Key) allowed() string {
	if k.Kind == "string" {
		return strings.ReplaceAll(k.In, " ", " or ")
	}
	return "in " + strings.Replace(k.In, ",)", ", ∞)", 1)
}
