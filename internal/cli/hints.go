package cli

import (
	"errors"
	"strings"

	"mafalda/internal/files"
)

// hinted returns the text of an error with what the flags of this program can do about it, right behind the words that
// it is about: the libraries name no flags.
func hinted(err error) string {
	text := err.Error()
	hint := func(about error, what string) { text = strings.Replace(text, about.Error(), about.Error()+what, 1) }
	var exists *files.ExistsError
	if errors.As(err, &exists) {
		hint(exists, " (use --force to replace it)")
	}
	return text
}
