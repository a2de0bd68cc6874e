package fault

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Argument is the error about a bad argument.
type Argument struct {
	Field  string // of the options struct that was passed, or the name of the parameter
	Value  any    // what was in it; nil if it says nothing, as of a missing one
	Reason string // what is wrong with it; other fields are named in brackets: "[Resume] needs [Checkpoint]"
	Err    error  // what is wrong with it, if an error says so: then its text is the whole text
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

// Because returns an [Argument] that an error says all about; nil if there is none.
func Because(field string, err error) error {
	if err == nil {
		return nil
	}
	return &Argument{Field: field, Err: err}
}

// Positive refuses a number that is not positive and finite.
func Positive(field string, value float64) error {
	if value > 0 && value-value == 0 {
		return nil
	}
	return New(field, value, "must be positive and finite")
}
