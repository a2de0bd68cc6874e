package accounting

import (
	"testing"
)

func TestParseAdjacency(t *testing.T) {
	for _, name := range Adjacencies() {
		if a, err := ParseAdjacency(name); err != nil || a.String() != name {
			t.Errorf("%s: %v, %v", name, a, err)
		}
	}
	if _, err := ParseAdjacency("add-remove"); err == nil {
		t.Error("unknown adjacency accepted")
	}
}

func TestContribution(t *testing.T) {
	// what is unknown takes the larger one
	for a, want := range map[Adjacency]float64{ZeroOut: 3, ReplaceOne: 6, 7: 6} {
		if got := a.Contribution(3); got != want {
			t.Errorf("%v: contribution %v, want %v", a, got, want)
		}
	}
	if got := Adjacency(7).String(); got != "Adjacency(7)" {
		t.Error(got)
	}
}
