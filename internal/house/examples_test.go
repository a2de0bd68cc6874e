package house

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// An example can be copied: it is written as others would write it, from outside of its package. Every room has one.
func TestExamplesCanBeCopied(t *testing.T) {
	shown := map[string]bool{}
	for _, f := range sources(t) {
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !f.test || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Example") {
				continue
			}
			shown[f.pkg] = true
			if !strings.HasSuffix(f.syntax.Name.Name, "_test") {
				t.Errorf("%s: %s is inside of its package", f.path, fn.Name.Name)
			}
		}
	}
	for _, line := range rooms {
		for _, room := range line {
			if strings.HasPrefix(room, "internal/") || strings.HasPrefix(room, "cmd/") || room == "examples" {
				continue
			}
			if !slices.ContainsFunc(slices.Collect(maps.Keys(shown)), func(pkg string) bool { return sameRoom(pkg, room) }) {
				t.Errorf("%s has no example", room)
			}
		}
	}
}
