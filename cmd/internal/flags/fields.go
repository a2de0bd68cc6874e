package flags

import (
	"errors"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"mafalda/internal/fault"
)

// withFlags returns the text of an error, with the command's flags in the place of the fields that they fill, if it is
// about a bad argument of a library call.
func withFlags(text string, err error, cmd *cobra.Command) string {
	var a *fault.Argument
	if !errors.As(err, &a) || cmd == nil {
		return text
	}
	said := *a
	if f := cmd.Flags().Lookup(flagOf(a.Field)); f != nil && f.Changed && isNumber(a.Value) {
		said.Value = f.Value.String() // as it was given: what a library takes for its default is a bad value of a flag
	}
	name := func(field string) string {
		if f := flagOf(field); cmd.Flags().Lookup(f) != nil {
			return "--" + f
		}
		return field
	}
	return strings.Replace(text, a.Error(), said.Text(name), 1)
}

func isNumber(v any) bool {
	switch v.(type) {
	case int, float64:
		return true
	}
	return false
}

// flagOf returns the name of the flag for a field: the field's in lower case, with hyphens, but for these.
func flagOf(field string) string {
	switch field {
	case "Steps":
		return "T"
	case "Class":
		return "strategy"
	case "Method":
		return "gram"
	case "StartFrom":
		return "start"
	case "ParametersOnly":
		return "no-dense"
	case "GossipFile":
		return "gossip-matrix"
	}
	var name strings.Builder
	for i, r := range field {
		if unicode.IsUpper(r) && i > 0 {
			name.WriteByte('-')
		}
		name.WriteRune(unicode.ToLower(r))
	}
	return name.String()
}
