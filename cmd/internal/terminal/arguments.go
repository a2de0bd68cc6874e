package terminal

import (
	"errors"

	"mafalda/internal/fault"
)

// FlagError makes the error about an argument of a library one of usage that names the flag which fills its field;
// other errors come as they are. flags are the names by fields, such as "seeds".
func FlagError(err error, flags map[string]string) error {
	var a *fault.Argument
	if !errors.As(err, &a) || flags[a.Field] == "" {
		return err
	}
	if a.Value == nil {
		return Usagef("--%s %s", flags[a.Field], a.Reason)
	}
	return Usagef("--%s %v: %s", flags[a.Field], a.Value, a.Reason)
}
