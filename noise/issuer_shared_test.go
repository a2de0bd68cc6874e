package noise

import (
	"path/filepath"
	"testing"
)

// TestIssuerShared: what two nodes share cancels to the last bit, also where both have skipped steps, and one of them
// was cut off in between.
func TestIssuerShared(t *testing.T) {
	dir := sharedExport(t, dense(t), couple())
	nodes := met(t, dir)
	announce(t, dir, "check", nodes...)
	var issuers [2]*Issuer
	for k, n := range nodes {
		path := filepath.Join(t.TempDir(), "state")
		open := func(at State) {
			var err error
			at.Path = path
			if issuers[k], err = OpenIssuer(dir, n.label, 3, at, Options{}); err != nil {
				t.Fatal(err)
			}
			i := issuers[k]
			t.Cleanup(func() { i.stream.release() })
		}
		open(State{New: true, Join: &n.join})
		act := func(name string, err error) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		_, err := issuers[k].Row(0)
		act("row", err)
		act("unsent", issuers[k].Unsent(0))
		act("missed", issuers[k].Unsent(1))
		if k == 0 {
			act("crash", issuers[k].stream.release())
			open(State{})
		}
		_, err = issuers[k].Row(2)
		act("row", err)
		if k == 1 {
			act("crash", issuers[k].stream.release())
			open(State{})
		}
	}
	a, err := issuers[0].Row(2)
	b, err2 := issuers[1].Row(2)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for i := range a {
		if a[i] != -b[i] || a[i] == 0 {
			t.Errorf("number %d: %v and %v", i, a[i], b[i])
		}
	}
}
