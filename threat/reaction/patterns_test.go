package reaction

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mafalda/participation"
)

// Patterns of min-sep participation that are looked at one by one are patterns of it, and every one is a part of one.
func TestEnumeratedPatternsAreAll(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.IntRange(1, 11).Draw(rt, "T")
		b := rapid.IntRange(min(2, steps), steps).Draw(rt, "b")
		k := rapid.IntRange(1, (steps+b-1)/b).Draw(rt, "k")
		schema, err := participation.NewMinSep(steps, k, b)
		if err != nil {
			rt.Fatal(err)
		}
		all, few := enumerated(schema)
		if !few {
			rt.Fatalf("T = %d, k = %d, b = %d are too many", steps, k, b)
		}
		valid := func(p []int) bool {
			for i := 1; i < len(p); i++ {
				if p[i]-p[i-1] < b {
					return false
				}
			}
			return len(p) > 0 && len(p) <= k
		}
		for _, p := range all {
			if !valid(p) {
				rt.Fatalf("%v of k = %d, b = %d", p, k, b)
			}
		}
		for code := 1; code < 1<<steps; code++ {
			var p []int
			for t := range steps {
				if code>>t&1 == 1 {
					p = append(p, t)
				}
			}
			within := func(q []int) bool {
				return !slices.ContainsFunc(p, func(t int) bool { return !slices.Contains(q, t) })
			}
			if valid(p) && !slices.ContainsFunc(all, within) {
				rt.Fatalf("%v is in none of %v", p, all)
			}
		}
	})
}

// With min-sep participation the bound is above what every pattern reaches, and not above what participations that add
// up say.
func TestMinSepIsBoundedByItsPatterns(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 12))
		steps, b := 5+r.IntN(2), 2
		s := systemOf(t, randomNetwork(r, 3+r.IntN(2)), []int{0}, steps, View{Sums: r.IntN(2) == 0})
		schema, err := participation.NewMinSep(steps, 2+r.IntN(2), b)
		if err != nil {
			rt.Fatal(err)
		}
		class, node := randomClass(r), r.IntN(s.Nodes)
		got, err := boundAlone(s, Victim{Node: node, Schema: schema}, Everywhere(class))
		if err != nil {
			rt.Fatal(err)
		}
		all, err := boundAll(s, schema, Everywhere(class))
		if err != nil {
			rt.Fatal(err)
		}
		if got.SensSquared > all.SensSquared[node]*(1+1e-6)+1e-9 && got.Why == "" {
			rt.Fatalf("%v, one by one, is above %v", got.SensSquared, all.SensSquared[node])
		}
		patterns, _ := enumerated(schema)
		for _, p := range patterns {
			one := mustBound(t, s, Victim{Node: node, Schema: listed(s, [][]int{p})}, class)
			if got.SensSquared < one.WorstAnswer*(1-1e-9)-1e-11 {
				rt.Fatalf("%v of all patterns, an attack on %v reaches %v", got.SensSquared, p, one.WorstAnswer)
			}
		}
	})
}

// Participations that add up cost twice as much or more where single patterns do not.
func TestMinSepIsNotTheSumOfItsParticipations(t *testing.T) {
	s := pathTo(t, 4, 12, View{})
	schema, err := participation.NewMinSep(12, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	got := mustBound(t, s, Victim{Node: 1, Schema: schema}, Class{0.95, 0.05})
	if got.Pattern == nil || got.SensSquared > 1.05*got.WorstAnswer {
		t.Errorf("%v at %v, an attack reaches %v", got.SensSquared, got.Pattern, got.WorstAnswer)
	}
}

// Of patterns that are listed one is attacked, and none that a record cannot have.
func TestLeadingIsAPatternOfTheSchema(t *testing.T) {
	schema, err := participation.NewPatternList(4, [][]int{{1, 2}, {0, 3}})
	if err != nil {
		t.Fatal(err)
	}
	if got := Leading(schema); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("Leading = %v", got)
	}
}
