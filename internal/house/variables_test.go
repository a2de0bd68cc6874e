package house

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// What a package exports cannot be changed by who imports it: its variables are errors, tables are functions.
func TestExportedVariablesAreErrors(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || f.syntax.Name.Name == "main" {
			continue
		}
		for _, d := range f.syntax.Decls {
			declared, ok := d.(*ast.GenDecl)
			if !ok || declared.Tok != token.VAR {
				continue
			}
			for _, s := range declared.Specs {
				s := s.(*ast.ValueSpec)
				for i, name := range s.Names {
					if name.IsExported() && !(i < len(s.Values) && isError(s.Values[i])) {
						t.Errorf("%s: %s is a variable that others can change", f.path, name.Name)
					}
				}
			}
		}
	}
}

// isError reports whether a value is errors.New(…), fmt.Errorf(…), or the error of another package, ….Err….
func isError(value ast.Expr) bool {
	call, made := value.(*ast.CallExpr)
	if made {
		value = call.Fun
	}
	selected, ok := value.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from, ok := selected.X.(*ast.Ident)
	switch {
	case !ok:
		return false
	case made:
		return from.Name == "errors" && selected.Sel.Name == "New" || from.Name == "fmt" && selected.Sel.Name == "Errorf"
	}
	return strings.HasPrefix(selected.Sel.Name, "Err")
}
