package grids

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
	"mafalda/simulate"
	"mafalda/workload"
)

// Flag is a flag of a command as it was typed, of a family one part of it.
type Flag struct {
	Name, Value string
	Paths       []string // of files and folders that the value names, or ends with, which are there
}

const methodsFlag = "methods"

// inputFlags are those whose values may name files or folders, each with what reports that a value is another one.
func inputFlags() map[string]func(value string) bool {
	never := func(string) bool { return false }
	form := func(forms []string) func(string) bool {
		return func(value string) bool { return flags.OfForm(forms, value) }
	}
	number := func(value string) bool { _, err := strconv.Atoi(value); return err == nil }
	return map[string]func(string) bool{"graph": form(graph.BuiltinForms()), "gossip": form(graph.Schemes()),
		"graph-changes sequence": never, "learning-rates": form(workload.ScheduleForms()), "schema": form(flags.SchemaNames()),
		"export": never, "trust coalitions": number, "task data": never, methodsFlag: form(simulate.MethodNames())}
}

// inputsOf returns the path of a command and its flags in the arguments of the program, without the flags about where
// results go, and without the program's own.
func inputsOf(cmd *cobra.Command, arguments []string) (path []string, flags []Flag, err error) {
	inputs := inputFlags()
	err = typed(cmd, arguments, func(fl *pflag.Flag, value string) error {
		if slices.Contains([]string{"output", "json", "force"}, fl.Name) || cmd.InheritedFlags().Lookup(fl.Name) != nil ||
			isOfEngine(fl) {
			return nil
		}
		for _, part := range terminal.Parts(fl, value) {
			one := Flag{Name: fl.Name, Value: part.Before + part.Value}
			if other, may := inputs[part.Name]; may {
				values := []string{strings.TrimPrefix(part.Value, "directed:")}
				if fl.Name == methodsFlag {
					values = strings.Split(value, ",")
				}
				for _, v := range values {
					if v == "" || other(v) {
						continue
					}
					if _, err := os.Stat(v); err == nil {
						one.Paths = append(one.Paths, v)
					} else if !errors.Is(err, fs.ErrNotExist) {
						return err
					}
				}
			}
			flags = append(flags, one)
		}
		return nil
	})
	return strings.Fields(cmd.CommandPath())[1:], flags, err
}

// WordsAt returns the words of a command whose inputs are in other places, by their paths. What a study calls by its
// path keeps it: see Runner.Places.
func WordsAt(command []string, flags []Flag, places map[string]string) []string {
	words := slices.Clone(command)
	for _, f := range flags {
		value := f.Value
		if len(f.Paths) > 0 && f.Name != methodsFlag {
			value = strings.TrimSuffix(value, f.Paths[0]) + places[f.Paths[0]]
		}
		words = append(words, "--"+f.Name+"="+value)
	}
	return words
}
