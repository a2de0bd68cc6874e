package flags

import (
	"errors"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mafalda/internal/fault"
)

// fieldFlags is the one table of fields of the libraries' options and the flags that fill them, where a flag, or the part of one, is
// not called like its field, in lower case with hyphens. Of several flags it is the first one that the command has.
var fieldFlags = map[string][]string{
	"Attacker":         {"attack", "attacker"},
	"B":                {"push-sum laplace-b", "laplace-b"},
	"Class":            {"strategy"},
	"Decay":            {"weight-decay"},
	"Directed":         {"graph"},
	"GossipRounds":     {"optimizer rounds"},
	"GradientTracking": {"optimizer tracking"},
	"GraphSequence":    {"graph-changes sequence"},
	"Epsilons":         {"epsilon"},
	"GossipFile":       {"gossip"},
	"LanczosSteps":     {"gram steps"},
	"LinkFailures":     {"graph-changes links"},
	"LocalSteps":       {"optimizer local"},
	"MaxBatch":         {"sampling max"},
	"Method":           {"gram"},
	"Mus":              {"mu"},
	"Name":             {"task"},
	"NodeFailures":     {"graph-changes failures"},
	"NoiseRate":        {"push-sum gamma-n"},
	"Norms":            {"norm"},
	"Others":           {"graph"},
	"RandomNeighbours": {"graph-changes neighbours"},
	"StartFrom":        {"start"},
	"Steps":            {"T"},
	"ValueStd":         {"values std"},
	"WeightDecay":      {"optimizer decay", "weight-decay"},
}

// flagFor returns the flag of a command that fills a field; nil if it has none.
func flagFor(cmd *cobra.Command, field string) *pflag.Flag {
	own := hyphenated(field)
	for _, name := range append(fieldFlags[field], own) {
		if f := cmd.Flags().Lookup(name); f != nil {
			return f
		}
	}
	var part *pflag.Flag
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if strings.HasSuffix(f.Name, " "+own) {
			part = f
		}
	})
	return part
}

// hyphenated returns the name of a field in lower case, with hyphens.
func hyphenated(field string) string {
	var name strings.Builder
	for i, r := range field {
		if unicode.IsUpper(r) && i > 0 {
			name.WriteByte('-')
		}
		name.WriteRune(unicode.ToLower(r))
	}
	return name.String()
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

// isList reports whether a flag has several values, one of which is wrong.
func isList(f *pflag.Flag) bool {
	_, list := f.Value.(pflag.SliceValue)
	return list || f.Value.Type() == "ints"
}
