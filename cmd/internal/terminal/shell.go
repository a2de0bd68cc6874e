package terminal

import (
	"path/filepath"
	"strings"

	"mafalda/internal/text"
)

// Operand returns the name of a folder as an argument of a command, which is no flag.
func Operand(dir string) string {
	if strings.HasPrefix(dir, "-") {
		return "." + string(filepath.Separator) + dir
	}
	return dir
}

// Shown returns the same as a POSIX shell takes it, for a command to copy.
func Shown(dir string) string { return text.Quote(Operand(dir)) }
