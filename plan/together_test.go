package plan

import (
	"testing"

	"mafalda/participation"
)

// The table has a row for every request, and says of no two requests twice that they do not go together.
func TestRequestsAreInOneRow(t *testing.T) {
	schema, err := participation.NewCyclic(4, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	p := Problem{Schema: schema}
	rows := p.requests(Options{}.filled(p))
	seen, pairs := requestSet(0), map[requestSet]bool{}
	for _, r := range rows {
		if seen&r.of != 0 || r.what == "" || r.field == "" {
			t.Errorf("%q", r.what)
		}
		seen |= r.of
		for _, other := range rows {
			if r.without&other.of == 0 {
				continue
			}
			if pairs[r.of|other.of] || r.of == other.of {
				t.Errorf("%q and %q", r.what, other.what)
			}
			pairs[r.of|other.of] = true
		}
	}
	if seen != 1<<len(rows)-1 || len(pairs) == 0 {
		t.Errorf("%b of %d rows", seen, len(rows))
	}
}
