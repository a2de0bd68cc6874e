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
)

// Flag is a flag of a command as it was typed, of a family one part of it.
type Flag struct {
	Name, Value string
	Paths       []string // files and folders that the value names, or ends with, and that exist
}

const methodsFlag = "methods"

// namesInput reports whether a value of a flag may name a file or folder: it is none of the forms of other ones.
func namesInput(fl *pflag.Flag, value string) bool {
	forms, may := fl.Annotations["input"]
	_, err := strconv.Atoi(value)
	return may && value != "" && !flags.HasForm(forms, value) && !(err == nil && slices.Contains(forms, "number"))
}

// inputsOf returns the path of a command and its flags in the arguments of the program, without the flags about where
// results go, and without the program's own.
func inputsOf(cmd *cobra.Command, arguments []string) (path []string, flags []Flag, err error) {
	err = typed(cmd, arguments, func(fl *pflag.Flag, value string) error {
		if slices.Contains([]string{"output", "json", "force"}, fl.Name) || cmd.InheritedFlags().Lookup(fl.Name) != nil ||
			isOfEngine(fl) {
			return nil
		}
		for _, part := range terminal.Parts(fl, value) {
			one := Flag{Name: fl.Name, Value: part.Before + part.Value}
			values := []string{strings.TrimPrefix(part.Value, "directed:")}
			if fl.Name == methodsFlag {
				values = strings.Split(value, ",")
			}
			for _, v := range values {
				if name, folder, is := strings.Cut(v, "="); is && fl.Name == methodsFlag && !strings.Contains(name, "/") {
					v = folder // as name=folder
				}
				if of := cmd.Flags().Lookup(part.Name); of == nil || !namesInput(of, v) {
					continue
				}
				if _, err := os.Stat(v); err == nil {
					one.Paths = append(one.Paths, v)
				} else if !errors.Is(err, fs.ErrNotExist) {
					return err
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
