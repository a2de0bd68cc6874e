package ppac

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mafalda/protocols/internal/protocoltest"
)

// Theorem 6.8 and its converse for pairs: nothing is recovered but by generalized leaves and their like. The exact
// elimination knows nothing of the graph.
func TestRecoveryIsAMatterOfTheGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProtocol(t, 7)
		leaves, pairs := GeneralizedLeaves(p.graph), Recoverable(p.graph)
		if want := byDefinition(p, false); !slices.Equal(leaves, want) {
			t.Fatalf("generalized leaves %v, must be %v", leaves, want)
		}
		if want := byDefinition(p, true); !slices.Equal(pairs, want) {
			t.Fatalf("recoverable pairs %v, must be %v", pairs, want)
		}
		if (len(leaves) == 0) != (len(pairs) == 0) {
			t.Fatalf("generalized leaves %v, recoverable %v: Theorem 6.8 is about both", leaves, pairs)
		}
		for tail := range p.Nodes() {
			exact, err := p.exactView(exactWeights(p), []int{tail}, p.Nodes())
			if err != nil {
				t.Fatal(err)
			}
			for head := range p.Nodes() {
				if head == tail {
					continue
				}
				if got := exact.recovered(head); got != slices.Contains(pairs, Pair{head, tail}) {
					t.Fatalf("node %d recovers %d: %v; recoverable %v", tail, head, got, pairs)
				}
				if got := recoveredBy(p.neighbours, []int{tail}, head); got != slices.Contains(pairs, Pair{head,
					tail}) {
					t.Fatalf("recoveredBy(%d, %d) = %v; recoverable %v", tail, head, got, pairs)
				}
			}
		}
		coalition := protocoltest.DrawCoalition(t, p.Nodes())
		exact, err := p.exactView(exactWeights(p), coalition, p.Nodes())
		if err != nil {
			t.Fatal(err)
		}
		for head := range p.Nodes() {
			if !slices.Contains(coalition, head) && exact.recovered(head) != recoveredBy(p.neighbours, coalition,
				head) {
				t.Fatalf("coalition %v recovers %d: %v by elimination", coalition, head, exact.recovered(head))
			}
		}
	})
}

// byDefinition tests every pair.
func byDefinition(p *Protocol, extended bool) []Pair {
	var pairs []Pair
	for head := range p.Nodes() {
		for tail := range p.Nodes() {
			holds := head != tail
			for _, s := range p.neighbours[head] {
				if s == tail {
					continue
				}
				leaf := len(p.neighbours[s]) == 1
				between := len(p.neighbours[s]) == 2 && slices.Contains(p.neighbours[s], tail)
				holds = holds && (between || extended && leaf)
			}
			if holds && p.graph.Nodes() > 1 && len(p.neighbours[head]) > 0 {
				pairs = append(pairs, Pair{head, tail})
			}
		}
	}
	return pairs
}
