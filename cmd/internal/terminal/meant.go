package terminal

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagMeant asks for the flag that may have been meant, if the error is about one that there is not.
func flagMeant(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) < 2 {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return DidYouMean("--"+unknown.GetSpecifiedName(), names)
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
		d := levenshtein.Distance(text, name, nil)
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
