package lists

import (
	"maps"
	"slices"
	"testing"
)

func TestLists(t *testing.T) {
	squares := Make(4, func(i int) int { return i * i })
	if !slices.Equal(squares, []int{0, 1, 4, 9}) || !slices.Equal(UpTo(3), []int{0, 1, 2}) {
		t.Errorf("Make and UpTo: %v, %v", squares, UpTo(3))
	}
	if odd := Map(squares, func(s int) bool { return s%2 == 1 }); !slices.Equal(odd, []bool{false, true, false, true}) {
		t.Errorf("Map: %v", odd)
	}
	if places := Places([]string{"a", "b", "a"}); !maps.Equal(places, map[string]int{"a": 2, "b": 1}) {
		t.Errorf("Places: %v", places)
	}
	if empty := Map[int, int](nil, nil); empty == nil || len(empty) != 0 {
		t.Errorf("Map of nil: %v: an empty list, which JSON writes as [], is wanted", empty)
	}
}
