package strictjson

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

type inner struct {
	Std  float64    `json:"noise_std"`
	Pair [2]float64 `json:"pair"`
}

type shared struct {
	Level *float64 `json:"level,omitempty"`
}

type outer struct {
	shared
	Name  string            `json:"name"`
	Count int               `json:"count"`
	Seed  *uint64           `json:"seed,omitempty"`
	On    bool              `json:"on"`
	Inner *inner            `json:"inner,omitempty"`
	List  []inner           `json:"list"`
	Files map[string]string `json:"files"`
}

// made is a type whose JSON has another type's shape.
type made struct{ name, numbers string }

type madeOf struct {
	Name    string          `json:"name"`
	Numbers json.RawMessage `json:"numbers,omitempty"`
}

func (m *made) JSONShape() (any, func() error) {
	in := new(madeOf)
	return in, func() error {
		m.name, m.numbers = in.Name, string(in.Numbers)
		return nil
	}
}

// Types with a JSON of their own are read as strictly, at every depth; raw parts are strings or arrays of numbers.
func TestShaped(t *testing.T) {
	type holder struct {
		Made *made `json:"made,omitempty"`
	}
	var h holder
	if err := Decode([]byte(`{"made":{"name":"a","numbers":[1,2.5]}}`), &h); err != nil || h.Made.name != "a" ||
		h.Made.numbers != "[1,2.5]" {
		t.Errorf("%+v, %v", h.Made, err)
	}
	for text, say := range map[string]string{
		`{"made":{"Name":"a"}}`:            `unknown key "made.Name"`,
		`{"made":{"name":"a","name":"b"}}`: `"made.name" is there twice`,
		`{"made":{"numbers":{"a":1}}}`:     "made.numbers: it must be a string or an array",
		`{"made":{"numbers":[1,"a"]}}`:     "made.numbers.1 must be a number",
		`{"made":{"numbers":[1e999]}}`:     "made.numbers.0 is 1e999: must be",
		`{"made":{"numbers":null}}`:        "made.numbers",
		`{"made":{"numbers":3}}`:           "made.numbers: it must be a string or an array",
		`{"made":[]}`:                      "made must be an object",
	} {
		if err := Decode([]byte(text), new(holder)); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v, want %q", text, err, say)
		}
	}
}

// What readers of JSON read differently is refused, at every depth, in one line that names the place.
func TestAmbiguousJSON(t *testing.T) {
	for name, tc := range map[string]struct{ text, say string }{
		"of an embedded struct, twice":   {`{"level":1,"level":2}`, `"level" is there twice`},
		"of an embedded struct, by case": {`{"Level":1}`, `unknown key "Level"`},
		"an embedded struct":             {`{"shared":{"level":1}}`, `unknown key "shared"`},
		"a key twice":                    {`{"count":1,"count":1}`, `"count" is there twice`},
		"twice in another case": {`{"inner":{"noise_std":0.001,"NOISE_STD":2}}`,
			`unknown key "inner.NOISE_STD"`},
		"in another case first": {`{"inner":{"NOISE_STD":2,"noise_std":0.001}}`, `unknown key "inner.NOISE_STD"`},
		"another case alone":    {`{"Count":1}`, `unknown key "Count"`},
		"a long s":              {`{"inner":{"noiſe_ſtd":1}}`, `unknown key "inner.noiſe_ſtd"`},
		"escaped, twice":        {`{"count":1,"\u0063ount":2}`, `"count" is there twice`},
		"twice in a list": {`{"list":[{"noise_std":1},{"noise_std":1,"noise_std":1}]}`,
			`"list.1.noise_std" is there twice`},
		"twice in a map":          {`{"files":{"C.npy":"a","C.npy":"b"}}`, `"files.C.npy" is there twice`},
		"twice in a map, by case": {`{"files":{"C.npy":"a","c.npy":"b"}}`, `files.c.npy: it differs in case only from the key "files.C.npy"`},
		"an object twice":         {`{"inner":{},"inner":{}}`, `"inner" is there twice`},
		"unknown": {`{"inner":{"noise_sd":1}}`,
			`unknown key "inner.noise_sd": mistyped, or of a later version`},
		"unknown, deep": {`{"x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`,
			`unknown key "x"`},
		"deeper than any reader":    {strings.Repeat("[", 1e5), "must be an object"},
		"null":                      {`{"inner":null}`, "inner: it is null"},
		"null alone":                {`null`, "the JSON value: it is null"},
		"something after":           {`{} {}`, "after top-level value"},
		"rubbish after":             {`{}x`, "after top-level value"},
		"empty":                     {``, "ends too early"},
		"cut":                       {`{"count":`, "ends too early"},
		"not JSON":                  {"{\n\n\"count\":NaN}", "line 3: invalid character"},
		"a comment":                 {`{/**/}`, "invalid character"},
		"too large":                 {`{"inner":{"noise_std":1e400}}`, "inner.noise_std is 1e400"},
		"1.0 for a whole number":    {`{"count":1.0}`, "count is 1.0: must be a whole number"},
		"1e3 for a whole number":    {`{"count":1e3}`, "must be a whole number"},
		"-0 for a whole number":     {`{"count":-0}`, "count: it is -0: it must be a whole number"},
		"too large, whole":          {`{"count":9223372036854775808}`, "must be a whole number"},
		"negative":                  {`{"seed":-1}`, "must be a whole number"},
		"a string for a number":     {`{"count":"1"}`, "count must be a whole number"},
		"a number for a string":     {`{"name":1}`, "name must be a string"},
		"an object for an array":    {`{"list":{}}`, "list must be an array"},
		"an array for an object":    {`[]`, "the JSON value must be an object"},
		"true for a number":         {`{"count":true}`, "count must be a whole number"},
		"a number for a boolean":    {`{"on":1}`, "on must be true or false"},
		"an array too short":        {`{"inner":{"pair":[1]}}`, "inner.pair: too few array elements"},
		"an array too long":         {`{"inner":{"pair":[1,2,3]}}`, "inner.pair: too many array elements"},
		"not UTF-8":                 {"{\"name\":\"\xff\"}", "invalid UTF-8"},
		"a byte order mark":         {"\ufeff{}", "byte order mark"},
		"half a pair":               {`{"name":"\ud800"}`, "surrogate"},
		"half a pair and a letter":  {`{"name":"\ud800\u0041"}`, "surrogate"},
		"the second half":           {`{"name":"\\\udc00"}`, "surrogate"},
		"halves in the wrong order": {`{"name":"\udc00\ud800"}`, "surrogate"},
	} {
		var v outer
		err := Decode([]byte(tc.text), &v)
		if err == nil || !strings.Contains(err.Error(), tc.say) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one with %q", name, err, tc.say)
		}
	}
}

// What is read is what encoding/json reads.
func TestPlainJSON(t *testing.T) {
	for _, text := range []string{`{}`,
		` {"name" : "\ud83d\ude00 \\ud800 \" \ufffd", "count":-3,"seed":18446744073709551615,"on":true}` + "\n",
		`{"inner":{"noise_std":1E-400,"pair":[-0,1]},"list":[],"files":{"a":"b","c":"d"}}`,
		`{"list":[{},{"noise_std":3}]}`, `{"count":1,"level":2.5}`} {
		var got, want outer
		if err := Decode([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if err := json.Unmarshal([]byte(text), &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v, %v", text, got, want, err)
		}
	}
}
