package house

import (
	"go/ast"
	"go/token"
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
					if name.IsExported() && !(i < len(s.Values) && makesError(s.Values[i])) {
						t.Errorf("%s: %s is a variable that others can change", f.path, name.Name)
					}
				}
			}
		}
	}
}

// makesError reports whether a value is errors.New(…) or fmt.Errorf(…).
func makesError(value ast.Expr) bool {
	call, ok := value.(*ast.CallExpr)
	if !ok {
		return false
	}
	function, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from, ok := function.X.(*ast.Ident)
	return ok && (from.Name == "errors" && function.Sel.Name == "New" || from.Name == "fmt" && function.Sel.Name == "Errorf")
}
