package house

import "testing"

// Property tests draw the same cases in every run, unless they are told a seed.
func TestDrawsAreSeeded(t *testing.T) {
	draws, seeded := map[string]bool{}, map[string]bool{}
	for _, f := range sources(t) {
		for _, spec := range f.syntax.Imports {
			switch spec.Path.Value {
			case `"pgregory.net/rapid"`:
				draws[f.pkg] = draws[f.pkg] || f.test
			case `"mafalda/internal/seeded"`:
				seeded[f.pkg] = true
			}
		}
	}
	if len(draws) < 10 {
		t.Errorf("only %d packages draw", len(draws))
	}
	for pkg, tests := range draws {
		if tests && !seeded[pkg] {
			t.Errorf("tests of %s draw with rapid: import mafalda/internal/seeded", pkg)
		}
	}
}
