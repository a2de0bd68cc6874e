package house

import (
	"slices"
	"strings"
	"testing"
)

// rooms from the top of the house to its ground: a room imports only rooms below its own line. What stands on one
// line does not know each other. Packages inside a room's folder belong to the room, but for those with a line of
// their own.
var rooms = [][]string{
	{"cmd/mafalda", "examples"},
	{"cmd/internal/commands"},
	{"cmd/internal/grids", "cmd/internal/report"},
	{"cmd/internal/results"},
	{"cmd/internal/flags"},
	{"cmd/internal/document"},
	{"cmd/internal/figures", "cmd/internal/terminal"},
	{"benchmarks", "simulate"},
	{"plan", "verify"},
	{"measure"},
	{"protocols"},
	{"threat/sampled"},
	{"threat"},
	{"noise", "accounting/spent"},
	{"export"},
	{"factorize"},
	{"strategy"},
	{"accounting/sampling", "accounting/bins"},
	{"accounting/allocation", "accounting/pld"},
	{"accounting"},
	{"optim"},
	{"participation", "secrets"},
	{"workload"},
	{"graph"},
	{"study", "simulated"},
	{"internal/cluster", "internal/dense", "internal/enum", "internal/npy"},
	{"internal/files", "internal/gemm", "internal/version"},
	{"internal/exact", "internal/fault", "internal/limits", "internal/lists", "internal/parallel", "internal/rounding", "internal/rows", "internal/series",
		"internal/strictjson", "internal/text", "internal/house"},
	{"internal/seeded"},
}

// floor returns the line of a package of this module, counted from the top; -1 if it has none.
func floor(pkg string) int {
	return slices.IndexFunc(rooms, func(line []string) bool {
		return slices.ContainsFunc(line, func(room string) bool { return pkg == room || strings.HasPrefix(pkg, room+"/") })
	})
}

// sameRoom reports whether two packages are of one room.
func sameRoom(a, b string) bool {
	f := floor(a)
	return f >= 0 && f == floor(b) && slices.ContainsFunc(rooms[f], func(room string) bool {
		of := func(pkg string) bool { return pkg == room || strings.HasPrefix(pkg, room+"/") }
		return of(a) && of(b)
	})
}

// Imports point downwards, from a room to rooms below it, and no room is without a place.
func TestImportsPointDown(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range sources(t) {
		from := f.pkg
		if floor(from) < 0 && from != "." {
			t.Errorf("%s: package %s has no place in the house", f.path, from)
			continue
		}
		for _, spec := range f.syntax.Imports {
			to, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "mafalda/")
			if !ours || f.test && strings.HasSuffix(f.syntax.Name.Name, "_test") {
				continue // an example or a test from outside may show how rooms are used together
			}
			seen[to] = true
			if floor(to) <= floor(from) && !sameRoom(from, to) {
				t.Errorf("%s: %s imports %s, which is not below it", f.path, from, to)
			}
		}
	}
	for _, line := range rooms {
		for _, room := range line {
			if room == "cmd/mafalda" || room == "examples" || room == "internal/house" {
				continue
			}
			of := func(pkg string) bool { return pkg == room || strings.HasPrefix(pkg, room+"/") }
			found := false
			for pkg := range seen {
				found = found || of(pkg)
			}
			if !found {
				t.Errorf("nobody imports %s: is it still a room?", room)
			}
		}
	}
}
