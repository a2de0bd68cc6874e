package fault

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Argument is the error about a bad argument.
type Argument struct {
	Field  string // name of a field of the options struct that was passed, or of a parameter
	Value  any    // value of the field; nil if it says nothing, as of a missing one
	Reason string // what is wrong with the value; other fields are named in brackets: "[Resume] needs [Checkpoint]"
	Err    error  // error that says what is wrong, if one does: then its text is the whole text
}

// Error returns "Field Value: Reason", or "Field: Reason" if there is no value, with a space for the colon where the
// Reason begins with "is". A Reason that names its own field is a sentence of its own.
func (a *Argument) Error() string { return a.Text(func(field string) string { return field }) }

// Unwrap returns the error that says what is wrong, if there is one.
func (a *Argument) Unwrap() error { return a.Err }

var bracketed = regexp.MustCompile(`\[[A-Z]\w*\]`)

// Text returns what Error does, with other names for the fields.
func (a *Argument) Text(name func(field string) string) string {
	if a.Err != nil {
		return a.Err.Error()
	}
	reason := bracketed.ReplaceAllStringFunc(a.Reason,
		func(field string) string { return name(field[1 : len(field)-1]) })
	if strings.Contains(a.Reason, "["+a.Field+"]") {
		return reason
	}
	subject := name(a.Field)
	if a.Value != nil {
		subject += fmt.Sprint(" ", a.Value)
	}
	if strings.HasPrefix(reason, "is ") {
		return subject + " " + reason
	}
	return subject + ": " + reason
}

// Key returns the key that a field has in JSON: in lower case, words joined by underscores, but for two.
func Key(field string) string {
	switch field {
	case "Failure":
		return "failure_probability"
	case "AverageLast":
		return "weights"
	}
	var key strings.Builder
	for i, r := range field {
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(field[i-1])) {
			key.WriteByte('_')
		}
		key.WriteRune(unicode.ToLower(r))
	}
	return key.String()
}

// Keyed returns the text of an error about what stands in JSON: with keys in the place of fields, if it is one of a bad
// argument.
func Keyed(err error) string {
	a, is := errors.AsType[*Argument](err)
	if !is {
		return err.Error()
	}
	return strings.Replace(err.Error(), a.Error(), a.Text(Key), 1)
}

// New returns an [Argument] whose reason is formatted as by fmt.Sprintf.
func New(field string, value any, format string, args ...any) error {
	return &Argument{Field: field, Value: value, Reason: fmt.Sprintf(format, args...)}
}

// Because returns an [Argument] that an error says all about; nil for a nil error.
func Because(field string, err error) error {
	if err == nil {
		return nil
	}
	return &Argument{Field: field, Err: err}
}

// Positive refuses a number that is not positive and finite.
func Positive(field string, value float64) error { return CheckRange(field, value, "(0,)") }

// Inside reports whether a number is in an interval, such as (0,1] or [1,), which has no infinite number.
func Inside(x float64, interval string) bool {
	low, high, _ := strings.Cut(strings.Trim(interval, "[]()"), ",")
	least, _ := strconv.ParseFloat(low, 64)
	most, _ := strconv.ParseFloat(cmp.Or(high, "Inf"), 64)
	return (x > least || x == least && interval[0] == '[') && (x < most || x == most && strings.HasSuffix(interval, "]"))
}

// CheckRange refuses a number that is not Inside an interval.
func CheckRange(field string, value any, interval string) error {
	x := reflect.ValueOf(value)
	if Inside(x.Convert(reflect.TypeFor[float64]()).Float(), interval) {
		return nil
	}
	low, high, _ := strings.Cut(strings.Trim(interval, "[]()"), ",")
	begin, end := "above "+low, "and below "+high
	if interval[0] == '[' {
		begin = "at least " + low
	}
	switch {
	case high == "" && x.CanInt():
		end = ""
	case high == "":
		end = "and finite"
	case strings.HasSuffix(interval, "]"):
		end = "and at most " + high
	}
	if interval == "(0,)" {
		begin, end = "positive", "and finite"
	}
	return New(field, value, "must be %s", strings.TrimSpace(begin+" "+end))
}

// Ranges refuses the first number of a struct's fields that is not Inside the interval of the field's tag in, which is for
// every number of a list.
func Ranges(options any) error {
	v := reflect.ValueOf(options)
	for i := range v.NumField() {
		f, of := v.Type().Field(i), v.Field(i)
		in := f.Tag.Get("in")
		switch {
		case in == "":
			continue
		case of.Kind() != reflect.Slice:
			of = reflect.Append(reflect.MakeSlice(reflect.SliceOf(f.Type), 0, 1), of)
		}
		for _, number := range of.Seq2() {
			if err := CheckRange(f.Name, number.Interface(), in); err != nil {
				return err
			}
		}
	}
	return nil
}
