package terminal

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError says what is wrong with a flag, and which one may have been meant by an unknown name.
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
	return flagText(err) + flagMeant(cmd, unknown.GetSpecifiedName())
}

// RenamedFlag returns what a flag --name=value of an earlier version is now, as --name=value; empty if the command has nothing
// like it. An old name may be followed by what the new value is, with * for the old one; of a part it is that part.
func RenamedFlag(cmd *cobra.Command, word string) (now string) {
	name, value, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		for _, was := range f.Annotations["was"] {
			old, of, _ := strings.Cut(was, " ")
			if old != name {
				continue
			}
			flag, key, _ := strings.Cut(f.Name, " ")
			if of == "" {
				of = key
				switch outer := cmd.Flags().Lookup(flag); {
				case f.NoOptDefVal != "":
				case kindOf(outer) == nil:
					of += ":*"
				default:
					of += "=*"
				}
			}
			if value == "false" && !strings.Contains(of, "*") {
				of += "=false"
			}
			now = "--" + flag + "=" + strings.Replace(of, "*", value, 1)
		}
	})
	return now
}

// flagMeant asks for the flag that may have been meant by an unknown name of more than a letter.
func flagMeant(cmd *cobra.Command, unknown string) (question string) {
	if len(unknown) < 2 {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
		if slices.Contains(f.Annotations["also"], unknown) {
			question = "; did you mean --" + f.Name + "?"
		}
	})
	return cmp.Or(question, DidYouMean("--"+unknown, names))
}

// Words is the annotation of a flag with the values that it may have, where others than these may be meant.
const Words = "words"

// valueMeant asks for the value that may have been meant, if the error is about one that a flag may not have.
func valueMeant(cmd *cobra.Command, text string) (question string) {
	if cmd == nil || strings.Contains(text, "did you mean") {
		return ""
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		words, value := f.Annotations[Words], f.Value.String()
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
