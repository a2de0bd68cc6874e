package house

import (
	"go/ast"
	"path"
	"strings"
	"testing"
)

// Other modules can write down every type of an exported function, field or method: none is of an internal package.
func TestNoInternalTypesInTheAPI(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || strings.HasPrefix(f.pkg, "cmd/") || strings.Contains("/"+f.pkg+"/", "/internal/") {
			continue
		}
		hidden := map[string]bool{}
		for _, spec := range f.syntax.Imports {
			if at := strings.Trim(spec.Path.Value, `"`); strings.Contains(at, "/internal/") {
				hidden[path.Base(at)] = true
			}
		}
		check := func(name string, types ast.Node) {
			ast.Inspect(types, func(n ast.Node) bool {
				if field, ok := n.(*ast.Field); ok && field.Names != nil {
					if _, method := field.Type.(*ast.FuncType); !field.Names[0].IsExported() && !method && name != "" {
						return isParameter(types, field)
					}
				}
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && hidden[x.Name] {
						t.Errorf("%s: %s has the type %s.%s, which no other module can name", f.path, name, x.Name, s.Sel.Name)
					}
				}
				return true
			})
		}
		for _, d := range f.syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && (d.Recv == nil || exportedReceiver(d.Recv.List[0].Type)) {
					check(d.Name.Name, d.Type)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() && !s.Assign.IsValid() { // an alias is a name for others
						check(s.Name.Name, s.Type)
					}
				}
			}
		}
	}
}

// isParameter reports whether a field is a parameter or a result of a function, not a field of a struct.
func isParameter(types ast.Node, field *ast.Field) bool {
	of := true
	ast.Inspect(types, func(n ast.Node) bool {
		if s, ok := n.(*ast.StructType); ok {
			for _, g := range s.Fields.List {
				of = of && g != field
			}
		}
		return of
	})
	return of
}

func exportedReceiver(t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.StarExpr:
		return exportedReceiver(t.X)
	case *ast.IndexExpr:
		return exportedReceiver(t.X)
	case *ast.Ident:
		return t.IsExported()
	}
	return false
}
