package terminal

import (
	"path/filepath"
	"strings"
)

// Operand returns the name of a folder as an argument of a command, which is no flag.
func Operand(dir string) string {
	if strings.HasPrefix(dir, "-") {
		return "." + string(filepath.Separator) + dir
	}
	return dir
}

// Shown returns the same as a POSIX shell takes it, for a command to copy.
func Shown(dir string) string { return ShellQuoted(Operand(dir)) }

// ShellQuoted is a word as a POSIX shell takes it.
func ShellQuoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:,=+@%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// CommandLine is a command of several words as a POSIX shell takes it.
func CommandLine(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = ShellQuoted(w)
	}
	return strings.Join(quoted, " ")
}
