package house

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A library says what is wrong in its own words; the floors of the command line know what their flags can do about it.
func TestLibrariesNameNoFlags(t *testing.T) {
	flag := regexp.MustCompile(`(^|[^-\w])--[a-z]`)
	for _, f := range sources(t) {
		others := f.pkg == "internal/cluster" // flags of the programs that take jobs
		if f.test || others || strings.HasPrefix(f.pkg, "cmd/") {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			if !ok || text.Kind != token.STRING {
				return true
			}
			if s, err := strconv.Unquote(text.Value); err == nil && flag.MatchString(s) {
				t.Errorf("%s:%d names a flag: %q", f.path, f.set.Position(text.Pos()).Line, s)
			}
			return true
		})
	}
}
