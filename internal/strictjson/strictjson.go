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
package strictjson

import (
	"bytes"
	"cmp"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Shaped is a type whose JSON is made of another type than its own fields.
type Shaped interface {
	// JSONShape returns what to read the JSON into, and what then takes it over.
	JSONShape() (shape any, take func() error)
}

// Decode reads content into the struct that into points to, which must be made of structs with json tags, Shaped
// types, maps with string keys, slices, arrays, pointers, strings, booleans, integers and floats; a RawMessage takes a
// string or an array of numbers. The error names the place and the key.
func Decode(content []byte, into any) error {
	if bytes.HasPrefix(content, []byte("\ufeff")) {
		return errors.New("it starts with a byte order mark")
	}
	err := json.Unmarshal(content, into, json.RejectUnknownMembers(true),
		json.WithUnmarshalers(json.UnmarshalFromFunc(reader{}.read)))
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Errorf("the key %q is there twice", place(syntax.JSONPointer))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON ends too early")
	case errors.As(err, &syntax):
		before := content[:min(syntax.ByteOffset, int64(len(content)))]
		return fmt.Errorf("line %d: %w", 1+bytes.Count(before, []byte("\n")), syntax.Err)
	case errors.As(err, &semantic) && errors.Is(err, json.ErrUnknownName):
		return fmt.Errorf("unknown key %q: mistyped, or of a later version", place(semantic.JSONPointer))
	case errors.As(err, &semantic) && semantic.JSONValue.Kind() == '0':
		return fmt.Errorf("%s is %.40s: must be %s", place(semantic.JSONPointer), semantic.JSONValue, words(semantic.GoType))
	case errors.As(err, &semantic) && semantic.Err != nil:
		return fmt.Errorf("%s: %w", place(semantic.JSONPointer), semantic.Err)
	case errors.As(err, &semantic):
		return fmt.Errorf("%s must be %s", place(semantic.JSONPointer), words(semantic.GoType))
	}
	return err
}

// reader sees every value before it is read. It holds where the values of objects stand, by the same in one case.
type reader map[string]string

// read reads what package json reads less strictly, and leaves the rest to it.
func (r reader) read(d *jsontext.Decoder, into any) error {
	if container, _ := d.StackIndex(d.StackDepth()); container == '{' {
		at := string(d.StackPointer())
		folded := strings.ToLower(strings.ToUpper(at)) // as simple folding has it: ſ is s
		if other, there := r[folded]; there && other != at {
			return fmt.Errorf("it differs in case only from the key %q", place(jsontext.Pointer(other)))
		}
		r[folded] = at
	}
	kind, value := d.PeekKind(), reflect.ValueOf(into).Elem()
	if kind == 'n' {
		return errors.New("it is null: what does not apply must be absent")
	}
	switch v := into.(type) {
	case Shaped:
		shape, take := v.JSONShape()
		if err := json.UnmarshalDecode(d, shape); err != nil {
			return err
		}
		return take()
	case *stdjson.RawMessage:
		var part any = new(string)
		switch kind {
		case '[':
			part = new([]float64)
		case '"':
		default:
			return errors.New("it must be a string or an array")
		}
		if err := json.UnmarshalDecode(d, part); err != nil {
			return err
		}
		text, err := json.Marshal(part)
		*v = text
		return err
	}
	if kind != '0' || !value.CanInt() {
		return errors.ErrUnsupported
	}
	text, err := d.ReadValue()
	if string(text) == "-0" {
		return errors.New("it is -0: it must be a whole number")
	}
	return cmp.Or(err, json.Unmarshal(text, into))
}

// place names a place as a program would: list.0.noise_std.
func place(p jsontext.Pointer) string {
	if p == "" {
		return "the JSON value"
	}
	return strings.Join(slices.Collect(p.Tokens()), ".")
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
		return "a number in the range of float64"
	}
	return "a whole number"
}
