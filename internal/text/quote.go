// Package text writes words so that a shell reads them back, and says which characters are safe to show.
package text

import (
	"fmt"
	"strconv"
	"strings"
)

// plain are the characters that no shell looks at twice, inside a word that does not begin with one of several.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,@%+="

// Quote returns a word as a POSIX shell reads it back, whatever it holds but NUL, which no argument can hold.
func Quote(word string) string {
	name, _, assigns := strings.Cut(word, "=")
	assigns = assigns && !strings.ContainsAny(name, "-:,")
	if word != "" && !assigns && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Line returns words as a line of a shell.
func Line(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}

// Short returns a text in quotation marks, of a long one the beginning and how much more there is.
func Short(s string) string {
	const most = 128
	if len(s) <= most {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%q and %d more bytes", s[:most], len(s)-most)
}
