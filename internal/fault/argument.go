package fault

import "fmt"

// Argument is the error about a bad argument.
type Argument struct {
	Field  string // of the options struct that was passed, or the name of the parameter
	Value  any    // what was in it; nil if it says nothing, as of a missing one
	Reason string // what is wrong with it
}

// Error returns "Field Value: Reason", or "Field: Reason" if there is no value.
func (a *Argument) Error() string {
	if a.Value == nil {
		return a.Field + ": " + a.Reason
	}
	return fmt.Sprintf("%s %v: %s", a.Field, a.Value, a.Reason)
}

// New returns an [Argument] whose reason is formatted as by fmt.Sprintf.
func New(field string, value any, format string, args ...any) error {
	return &Argument{Field: field, Value: value, Reason: fmt.Sprintf(format, args...)}
}
