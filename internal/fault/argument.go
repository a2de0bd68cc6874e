package fault

import "fmt"

// Argument is the error about one argument. It is returned as a value: errors.As finds it with a variable of this type.
type Argument struct {
	Field  string // its name
	Value  any    // what was given
	Reason string // what it must be
}

// Error returns "Field Value: Reason".
func (a Argument) Error() string { return fmt.Sprintf("%s %v: %s", a.Field, a.Value, a.Reason) }

// Positive refuses a number that is not positive and finite.
func Positive(field string, value float64) error {
	if value > 0 && value-value == 0 {
		return nil
	}
	return Argument{field, value, "must be positive and finite"}
}
