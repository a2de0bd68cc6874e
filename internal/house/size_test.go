package house

import (
	"go/ast"
	"testing"
)

// The limits of the house. Assembly does not count.
const (
	commandShare = 0.12 // of all lines without tests: cmd/mafalda
	roomShare    = 0.15 // any room
	commandFiles = 30
	longest      = 60 // lines of a function
	parameters   = 5  // of a function outside kernels
)

// kernels have the parameters of the BLAS.
const kernels = "internal/gemm"

// The command line is the thinnest floor, and no room is an attic.
func TestRoomsStaySmall(t *testing.T) {
	lines, files := map[string]int{}, map[string]int{}
	total := 0
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		lines[f.pkg] += f.lines
		files[f.pkg]++
		total += f.lines
	}
	for pkg, n := range lines {
		if share := float64(n) / float64(total); share > roomShare {
			t.Errorf("%s has %d of %d lines, %.1f %%: at most %.0f %%", pkg, n, total, 100*share, 100*roomShare)
		}
	}
	const command = "cmd/mafalda"
	if share := float64(lines[command]) / float64(total); share > commandShare {
		t.Errorf("%s has %d of %d lines, %.1f %%: at most %.0f %%", command, lines[command], total, 100*share,
			100*commandShare)
	}
	if files[command] > commandFiles {
		t.Errorf("%s has %d files: at most %d", command, files[command], commandFiles)
	}
}

// A function fits a screen, and what it takes fits a line.
func TestFunctionsStaySmall(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := f.set.Position(fn.End()).Line - f.set.Position(fn.Pos()).Line + 1; n > longest {
				t.Errorf("%s: %s has %d lines: at most %d", f.path, fn.Name.Name, n, longest)
			}
			n := 0
			for _, p := range fn.Type.Params.List {
				n += max(1, len(p.Names))
			}
			if n > parameters && f.pkg != kernels {
				t.Errorf("%s: %s has %d parameters: at most %d", f.path, fn.Name.Name, n, parameters)
			}
		}
	}
}
