package secrets

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
)

// Of everybody whom a coalition allows and every node outside there is a threat that is at least as bad, and no threat is
// within another one that has the same victim.
func TestThreatsCoverAllCoalitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		attackers := drawAttackers(t, n)
		threats := attackers.Threats()
		covered := func(c []int, v int, proper bool) bool {
			return slices.ContainsFunc(threats, func(t Threat) bool {
				larger := !slices.ContainsFunc(c, func(u int) bool { return !slices.Contains(t.Attacker, u) })
				return larger && slices.Contains(t.Victims, v) && !(proper && len(t.Attacker) == len(c))
			})
		}
		for set := range 1 << n { // all that are allowed: parts of coalitions, too, against the rest of these
			var c []int
			for v := range n {
				if set>>v&1 == 1 {
					c = append(c, v)
				}
			}
			for v := range n {
				if attackers.Allow(c) && !slices.Contains(c, v) && !covered(c, v, false) {
					t.Fatalf("nothing covers %v against %d in %v", c, v, threats)
				}
			}
		}
		for _, threat := range threats {
			if len(threat.Victims) == 0 || !slices.IsSorted(threat.Victims) || !slices.IsSorted(threat.Attacker) {
				t.Fatalf("threat %v", threat)
			}
			for _, v := range threat.Victims {
				if slices.Contains(threat.Attacker, v) || covered(threat.Attacker, v, true) {
					t.Fatalf("threat %v against %d is none or less than another", threat, v)
				}
			}
		}
	})
}

func TestColluding(t *testing.T) {
	for _, tc := range []struct{ nodes, size, coalitions, threats, all int }{
		{1, 1, 1, 1, 0},   // nobody but the eavesdropper
		{2, 2, 3, 2, 1},   // never all
		{5, 0, 1, 1, 0},   // the eavesdropper
		{5, 1, 6, 5, 1},   // single nodes: they know more than the eavesdropper
		{5, 2, 16, 10, 2}, // pairs
		{5, 9, 31, 5, 4},
	} {
		a, err := Colluding(tc.nodes, tc.size)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(a.Coalitions()); got != tc.coalitions {
			t.Errorf("%d of %d: %d coalitions, want %d", tc.size, tc.nodes, got, tc.coalitions)
		}
		if got := len(a.Threats()); got != tc.threats {
			t.Errorf("%d of %d: %d threats, want %d", tc.size, tc.nodes, got, tc.threats)
		}
		if got := a.Colluding(); got != tc.all || a.Largest() != tc.all {
			t.Errorf("%d of %d: all of %d, largest %d; want %d", tc.size, tc.nodes, got, a.Largest(), tc.all)
		}
	}
	for _, tc := range [][2]int{{0, 1}, {3, -1}, {2000, 3}} {
		if _, err := Colluding(tc[0], tc[1]); err == nil {
			t.Errorf("%d of %d: no error", tc[1], tc[0])
		}
	}
}

func TestAttackersAreChecked(t *testing.T) {
	for name, list := range map[string][][]int{
		"out of range": {{0, 3}},
		"negative":     {{-1}},
		"twice":        {{1, 1}},
		"all":          {{0}, {2, 1, 0}},
	} {
		if _, err := NewAttackers(3, list); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	a, err := NewAttackers(4, [][]int{{2, 1}, {3}, {1, 2}, {}})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]int{{}, {3}, {1, 2}}
	if !slices.EqualFunc(a.Coalitions(), want, slices.Equal) || a.Largest() != 2 || a.Colluding() != 0 {
		t.Errorf("coalitions %v, largest %d, all of %d; want %v, 2, 0", a.Coalitions(), a.Largest(), a.Colluding(), want)
	}
}

// Allowed are the attackers and what is within them, and nobody else.
func TestAllow(t *testing.T) {
	a, err := NewAttackers(5, [][]int{{0, 2, 3}, {4}})
	if err != nil {
		t.Fatal(err)
	}
	for _, yes := range [][]int{nil, {}, {0}, {3, 0}, {2, 3, 0}, {4}} {
		if !a.Allow(yes) {
			t.Errorf("%v is not allowed", yes)
		}
	}
	for _, no := range [][]int{{1}, {0, 4}, {0, 1, 2, 3}} {
		if a.Allow(no) {
			t.Errorf("%v is allowed", no)
		}
	}
}
