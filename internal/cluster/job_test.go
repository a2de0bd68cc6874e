package cluster

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
)

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int{"": nil, "3": {3}, "1-3": {1, 2, 3}, "1,3": {1, 3}, "1-2,5-7,9": {1, 2, 5, 6, 7, 9}} {
		if got := Ranges(numbers); got != want {
			t.Errorf("%v: %s", numbers, got)
		}
	}
}

// split reads ranges.
func split(ranges string) (all [][]int) {
	for word := range strings.SplitSeq(ranges, ",") {
		var first, last int
		if n, _ := fmt.Sscanf(word, "%d-%d", &first, &last); n < 2 {
			last = first
		}
		var span []int
		for i := first; i <= last; i++ {
			span = append(span, i)
		}
		all = append(all, span)
	}
	return all
}

// Ranges name every number once, in order.
func TestRangesRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var numbers []int
		for i, in := range rapid.SliceOfN(rapid.Bool(), 0, 40).Draw(t, "in") {
			if in {
				numbers = append(numbers, i+1)
			}
		}
		if len(numbers) == 0 {
			return
		}
		var got []int
		for _, word := range split(Ranges(numbers)) {
			got = append(got, word...)
		}
		for i := range max(len(got), len(numbers)) {
			if i >= len(got) || i >= len(numbers) || got[i] != numbers[i] {
				t.Fatalf("%v: %v", numbers, got)
			}
		}
	})
}

// Names are valid for Slurm jobs and Kubernetes objects.
func TestNames(t *testing.T) {
	for name, good := range map[string]bool{"mafalda-account": true, "a1": true, "": false, "A": false, "a b": false, "-a": false, "a\n": false,
		"é": false, "a.b": false, string(make([]byte, 50)): false} {
		if err := (&Job{Name: name}).checkName(); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}
