package flags

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mafalda/internal/fault"
)

// fills is the annotation of a flag with the fields of the libraries' options that it fills.
const fills = "fills"

// flagFor returns the first flag of a command that fills a field; nil if it has none.
func flagFor(cmd *cobra.Command, field string) (found *pflag.Flag) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if found == nil && slices.ContainsFunc(f.Annotations[fills], func(name string) bool { return strings.EqualFold(name, field) }) {
			found = f
		}
	})
	return found
}

// withFlags returns the text of an error, with the command's flags in the place of the fields that they fill, if it is
// about a bad argument of a library call.
func withFlags(text string, err error, cmd *cobra.Command) string {
	a, is := errors.AsType[*fault.Argument](err)
	if !is || cmd == nil {
		return text
	}
	said := *a
	if f := flagFor(cmd, a.Field); f != nil && f.Changed && isNumber(a.Value) && !isList(f) {
		said.Value = f.Value.String() // as it was given: what a library takes for its default is a bad value of a flag
	}
	name := func(field string) string {
		if f := flagFor(cmd, field); f != nil {
			return "--" + f.Name
		}
		return strings.ReplaceAll(fault.Key(field), "_", " ")
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

// isList reports whether a flag has several values, one of which is wrong.
func isList(f *pflag.Flag) bool {
	_, list := f.Value.(pflag.SliceValue)
	return list || f.Value.Type() == "ints"
}
