// Package strictjson reads JSON that all readers read alike, and refuses the rest.
//
// Readers of JSON disagree: of two equal keys encoding/json takes the last, others the first; encoding/json takes a
// key in another case for the one it looks for, Python does not; keys that nobody asked for pass in silence; null is
// nothing to one and a value to the other; an array of the wrong length is cut or filled up; a string with half a
// surrogate pair becomes another string. A file that two programs read differently can say one thing to the one that
// checks it and another to the one that uses it.
//
// What Decode accepts is UTF-8 without a byte order mark, one value with nothing after it, and exactly the keys of
// the struct it is read into. Numbers must fit: 1e400 is no float64, 1.0 no int. A missing key leaves its field as it
// is.
//
// encoding/json/v2 would do most of this, but exists under an experiment only.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Decode reads content into the struct that into points to, which must be made of structs with json tags (those that
// are embedded have none, and no key is theirs and of the struct around them), maps with string keys, slices, arrays,
// pointers, strings, booleans, integers and floats. The error names the place and the key.
func Decode(content []byte, into any) error {
	switch {
	case !utf8.Valid(content):
		return errors.New("it is not UTF-8")
	case bytes.HasPrefix(content, []byte("\ufeff")):
		return errors.New("it starts with a byte order mark")
	case !json.Valid(content):
		return syntaxError(content)
	case loneSurrogate(content):
		return errors.New("a string has half of a surrogate pair")
	}
	w := walker{json.NewDecoder(bytes.NewReader(content))}
	w.d.UseNumber()
	if err := w.value(reflect.TypeOf(into).Elem(), ""); err != nil {
		return err
	}
	return json.Unmarshal(content, into)
}

// syntaxError says where JSON ends to be JSON.
func syntaxError(content []byte) error {
	var v json.RawMessage
	d := json.NewDecoder(bytes.NewReader(content))
	err := d.Decode(&v)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return errors.New("something follows the JSON value")
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: %w", 1+bytes.Count(content[:min(max(syntax.Offset-1, 0), int64(len(content)))],
			[]byte("\n")), err)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON ends too early")
	}
	return err
}

// loneSurrogate reports whether valid JSON has an escape \ud800 to \udfff that is not half of a pair.
func loneSurrogate(content []byte) bool {
	for i := bytes.IndexByte(content, '\\'); i >= 0 && i+1 < len(content); {
		step := 2
		if content[i+1] == 'u' {
			step = 6
			switch c := codeUnit(content[i:]); {
			case c >= 0xdc00 && c < 0xe000:
				return true
			case c >= 0xd800 && c < 0xdc00:
				if low := codeUnit(content[i+6:]); low < 0xdc00 || low >= 0xe000 {
					return true
				}
				step = 12
			}
		}
		next := bytes.IndexByte(content[i+step:], '\\')
		if next < 0 {
			return false
		}
		i += step + next
	}
	return false
}

// codeUnit returns the number of an escape \uXXXX at the start of b, or -1.
func codeUnit(b []byte) int {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	v, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return int(v)
}

// Shaped is a type whose JSON is not made of its own fields, but by its methods MarshalJSON and UnmarshalJSON.
type Shaped interface {
	JSONShape() any // a value of what it is made of, a struct as Decode takes it
}

// shapeOf returns what the JSON of a type is made of.
func shapeOf(t reflect.Type) reflect.Type {
	if s, ok := reflect.Zero(t).Interface().(Shaped); ok {
		return reflect.TypeOf(s.JSONShape())
	}
	return t
}

// walker compares valid JSON, token by token, with a type. Its depth is the type's.
type walker struct{ d *json.Decoder }

func (w walker) value(t reflect.Type, path string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	t = shapeOf(t)
	token, err := w.d.Token()
	if err != nil {
		return err
	}
	if t == reflect.TypeFor[json.RawMessage]() {
		return w.raw(token, path)
	}
	switch v := token.(type) {
	case nil:
		return fmt.Errorf("%s is null: what does not apply must be absent", name(path))
	case json.Delim:
		switch {
		case v == '{' && t.Kind() == reflect.Struct:
			return w.object(path, fieldsOf(t))
		case v == '{' && t.Kind() == reflect.Map:
			return w.object(path, func(string) (reflect.Type, string) { return t.Elem(), "" })
		case v == '[' && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
			return w.array(t, path)
		}
	case string:
		if t.Kind() == reflect.String {
			return nil
		}
	case bool:
		if t.Kind() == reflect.Bool {
			return nil
		}
	case json.Number:
		return number(string(v), t, path)
	}
	return fmt.Errorf("%s must be %s", name(path), words(t))
}

// object reads the rest of an object. Of a key, typeOf returns the type of the value, or nil and the key that may
// have been meant.
func (w walker) object(path string, typeOf func(key string) (reflect.Type, string)) error {
	seen := map[string]string{}
	for w.d.More() {
		token, err := w.d.Token()
		if err != nil {
			return err
		}
		key := token.(string)
		at := strings.TrimPrefix(path+"."+key, ".")
		t, meant := typeOf(key)
		switch earlier, twice := seen[fold(key)]; {
		case twice && earlier == key:
			return fmt.Errorf("the key %q is there twice", at)
		case twice:
			return fmt.Errorf("the keys %q and %q differ in case only", strings.TrimPrefix(path+"."+earlier, "."), at)
		case t == nil && meant != "":
			return fmt.Errorf("unknown key %q: it is written %q", at, meant)
		case t == nil:
			return fmt.Errorf("unknown key %q: mistyped, or of a later version", at)
		}
		seen[fold(key)] = key
		if err := w.value(t, at); err != nil {
			return err
		}
	}
	_, err := w.d.Token()
	return err
}

func (w walker) array(t reflect.Type, path string) error {
	count := 0
	for ; w.d.More(); count++ {
		if err := w.value(t.Elem(), fmt.Sprintf("%s[%d]", path, count)); err != nil {
			return err
		}
	}
	if t.Kind() == reflect.Array && count != t.Len() {
		return fmt.Errorf("%s must have %d entries, not %d", name(path), t.Len(), count)
	}
	_, err := w.d.Token()
	return err
}

// raw reads the rest of what a json.RawMessage takes: a text, or an array of numbers.
func (w walker) raw(token json.Token, path string) error {
	switch v := token.(type) {
	case string:
		return nil
	case json.Delim:
		if v == '[' {
			return w.array(reflect.TypeFor[[]float64](), path)
		}
	}
	return fmt.Errorf("%s must be a string or an array", name(path))
}

// number refuses what does not fit the type.
func number(text string, t reflect.Type, path string) error {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64:
		if f, err := strconv.ParseFloat(text, t.Bits()); err != nil || math.IsInf(f, 0) {
			return fmt.Errorf("%s is %.40s, which is too large for a number", name(path), text)
		}
		return nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if _, err := strconv.ParseInt(text, 10, t.Bits()); err != nil || text == "-0" {
			return fmt.Errorf("%s is %.40s: must be %s", name(path), text, words(t))
		}
		return nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if _, err := strconv.ParseUint(text, 10, t.Bits()); err != nil {
			return fmt.Errorf("%s is %.40s: must be %s", name(path), text, words(t))
		}
		return nil
	}
	return fmt.Errorf("%s must be %s, not a number", name(path), words(t))
}

// fieldsOf returns what object needs to know of the keys of a struct.
func fieldsOf(t reflect.Type) func(key string) (reflect.Type, string) {
	types, exact := map[string]reflect.Type{}, map[string]string{}
	var collect func(t reflect.Type)
	collect = func(t reflect.Type) {
		for i := range t.NumField() {
			f := t.Field(i)
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case key == "" && f.Anonymous && f.Type.Kind() == reflect.Struct:
				collect(f.Type)
			case key != "" && key != "-":
				types[key], exact[fold(key)] = f.Type, key
			}
		}
	}
	collect(t)
	return func(key string) (reflect.Type, string) { return types[key], exact[fold(key)] }
}

// fold returns the same for keys that differ in case only: as simple folding has it, so ſ is s and K (Kelvin) is k.
func fold(key string) string { return strings.ToLower(strings.ToUpper(key)) }

func name(path string) string {
	if path == "" {
		return "the JSON value"
	}
	return path
}

func words(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number"
}
