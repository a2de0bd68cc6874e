package terminal

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError says what is wrong with a flag, and which one may have been meant, if there is none of this name.
func flagError(cmd *cobra.Command, err error, args []string) string {
	unknown, is := errors.AsType[*pflag.NotExistError](err)
	if !is {
		return flagText(err)
	}
	old := "--" + unknown.GetSpecifiedName()
	for i, word := range args {
		name, value, valued := strings.Cut(word, "=")
		if name == old && !valued && i+1 < len(args) {
			value = args[i+1]
		}
		if now := RenamedFlag(cmd, name+"="+value); name == old && now != "" {
			flag, of, _ := strings.Cut(now, "=")
			if value != "" && strings.Contains(of, value) {
				old += " " + value
			}
			return old + " is now " + flag + " " + of
		}
	}
	return flagText(err) + flagMeant(cmd, err)
}

// RenamedFlag returns what a flag --name=value of an earlier version is now, as --name=value; empty if the command has nothing
// like it. The annotations of the root command say what flags are called now, with * for the value; of several the first.
func RenamedFlag(cmd *cobra.Command, word string) string {
	name, value, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
	for now := range strings.SplitSeq(cmd.Root().Annotations[name], "|") {
		if flag, of, is := strings.Cut(now, " "); is && cmd.Flags().Lookup(flag) != nil {
			if value == "false" && !strings.Contains(of, "*") {
				of += "=false"
			}
			return "--" + flag + "=" + strings.Replace(of, "*", value, 1)
		}
	}
	return ""
}

// flagMeant asks for the flag that may have been meant, if the error is about one that there is not.
func flagMeant(cmd *cobra.Command, err error) string {
	unknown, is := errors.AsType[*pflag.NotExistError](err)
	if !is || len(unknown.GetSpecifiedName()) < 2 {
		return ""
	}
	var names []string
	var alias string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
		if slices.Contains(f.Annotations[otherNames], unknown.GetSpecifiedName()) {
			alias = "--" + f.Name
		}
	})
	if alias != "" {
		return "; did you mean " + alias + "?"
	}
	return DidYouMean("--"+unknown.GetSpecifiedName(), names)
}

// otherNames holds what else a flag might be called.
const otherNames = "mafalda_other_names"

// AlsoCalled has questions name a flag where one of other names, which no flag has, is given.
func AlsoCalled(cmd *cobra.Command, flag string, names ...string) {
	f := cmd.Flags().Lookup(flag)
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[otherNames] = names
}

// wordsAnnotation holds the values that a flag may have.
const wordsAnnotation = "mafalda_words"

// valueMeant asks for the value that may have been meant, if the error is about one that a flag may not have.
func valueMeant(cmd *cobra.Command, text string) (question string) {
	if cmd == nil || strings.Contains(text, "did you mean") {
		return ""
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		words, value := f.Annotations[wordsAnnotation], f.Value.String()
		switch {
		case question != "" || len(words) == 0 || slices.Contains(words, value):
		case strings.Contains(text, strconv.Quote(value)) || strings.Contains(text, "--"+f.Name+" "+value):
			question = DidYouMean(value, words)
		}
	})
	return question
}

// DidYouMean returns a question for the nearest of the names, with a semicolon before it, if one is near.
func DidYouMean(text string, names []string) string {
	best, least := "", max(2, len(text)/3)+1
	for _, name := range names {
		d := editDistance(text, name)
		if len(text) > 2 && strings.HasPrefix(name, text) {
			d = 1
		}
		if d < least {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// editDistance counts the bytes to insert, to delete, to change or to swap with the next one that make b of a.
func editDistance(a, b string) int {
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			d := row[j]
			if a[i] != b[j] {
				d++
			}
			d = min(d, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}
			next[j+1] = d
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
