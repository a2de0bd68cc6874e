package dpps

import (
	"math"
	"strings"
	"testing"
	"unicode"

	"mafalda/graph"
)

// A sequence of graphs is doubly stochastic in every round, or refused in a line.
func FuzzSequence(f *testing.F) {
	for _, text := range []string{"a b\nb a\n", "1 2\n\n2 1\n", "# x\n1 2\n2 3\n3 1\n\n1 1\n", "a b c\n",
		"\xef\xbb\xbfa b\r\nb a", "1 2\n", "a \x1b[1m\n\x1b[1m a\n"} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, metropolis bool) {
		scheme := graph.Uniform
		if metropolis {
			scheme = graph.Metropolis
		}
		s, err := readText(t, text, "g", scheme)
		if err != nil {
			if strings.ContainsFunc(err.Error(), unicode.IsControl) || !strings.Contains(err.Error(), "g:") {
				t.Fatalf("%q: error %q", text, err)
			}
			return
		}
		for round := range s.Period() {
			sums := make([]float64, s.Nodes())
			s.Weights(round).DoNonZero(func(_, j int, v float64) { sums[j] += v })
			for j, sum := range sums {
				if !(math.Abs(sum-1) <= 1e-9) {
					t.Fatalf("%q: node %d sends %v in round %d", text, j, sum, round)
				}
			}
		}
	})
}
