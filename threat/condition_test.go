package threat

import (
	"context"
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"mafalda/graph"
)

// Every number of a network's nodes says what it holds for, with local DP beside it; numbers of public messages do not.
func TestNetworkNumbersSayWhatTheyHoldFor(t *testing.T) {
	g, w := gossip(t, "path:3", graph.Uniform)
	convex := Reaction{Kind: Convex, X: 0.1}
	node, sums := Attacker{Trust: PNDP, Nodes: []int{2}}, Attacker{Trust: PNDP, Nodes: []int{2}, SecureSummation: true}
	for name, tc := range map[string]struct {
		attacker Attacker
		reaction Reaction
		want     string
	}{
		"messages":             {node, Reaction{Kind: FixedInputs}, Condition},
		"sums":                 {sums, Reaction{Kind: FixedInputs}, Condition},
		"messages of training": {node, Reaction{}, Everything},
		"sums of training":     {sums, Reaction{}, Everything},
		"messages of a class":  {node, convex, convex.HoldsFor(PNDP)},
		"sums of a class":      {sums, convex, convex.HoldsFor(PNDP)},
		"everybody":            {Attacker{}, Reaction{}, ""},
		"secrets":              {Attacker{Trust: SecLDP, Nodes: []int{2}}, Reaction{}, ""},
	} {
		o := AssessOptions{Graph: g, Sigma: 0.5, Alpha: 2, Delta: 1e-5, Reaction: tc.reaction}
		r, err := Assess(context.Background(), Scenario{Gossip: w, Algorithm: DPDSGD(), Attacker: tc.attacker,
			Schema: every(t, 4)}, o)
		if err != nil || r.HoldsFor != tc.want || r.Local != 4 || *r.LocalMu != 4 || !(*r.LocalEpsilon > 4) ||
			(r.Reaction != nil) != (tc.reaction == convex) {
			t.Errorf("%s: %q, local DP %v, %v", name, r.HoldsFor, r.Local, err)
		}
		var out strings.Builder
		if err := WritePairs(&out, []Report{r}); err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
		if err != nil || len(lines) != 4 {
			t.Fatalf("%s: %d lines, %v", name, len(lines), err)
		}
		column := func(name string) int { return slices.Index(lines[0], name) }
		for i, line := range lines[1:] {
			if line[column("holds_for")] != tc.want || line[column("ldp_mu")] != "4" {
				t.Errorf("%s: pairs.csv says %q", name, line)
			}
			apart := tc.attacker.Trust == PNDP && tc.reaction.Kind != FixedInputs && r.Pairs[i].hops() > 0
			if (line[column("without_reaction")] != "") != apart {
				t.Errorf("%s: pairs.csv says %q", name, line)
			}
		}
	}
	zip, err := Assess(context.Background(), Scenario{Gossip: w, Algorithm: ZipDL(), Attacker: node, Schema: every(t, 2)},
		AssessOptions{Graph: g, Sigma: 0.5, Alpha: 2})
	if err != nil || zip.LocalMu != nil || zip.HoldsFor != Everything || !zip.Pairs[1].Infinite {
		t.Errorf("without local DP: %+v, %v", zip, err)
	}
	row, err := Growth(context.Background(), Scenario{Gossip: w, Algorithm: AntiPGD(), Attacker: node, Schema: every(t, 1)}, 3,
		AssessOptions{Graph: g, Sigma: 1, Alpha: 2, Reaction: Reaction{Kind: FixedInputs}})
	if err != nil || row.Local == nil || !(*row.Local > *row.Neighbours) {
		t.Errorf("growth: %+v, %v", row, err)
	}
}
