package threat

import (
	"context"
	"encoding/csv"
	"strings"
	"testing"

	"mafalda/graph"
)

// Every number of a network's nodes says what it holds for, with local DP beside it; numbers of public messages do not.
func TestNetworkNumbersSayWhatTheyHoldFor(t *testing.T) {
	g, w := gossip(t, "path:3", graph.Uniform)
	o := AssessOptions{Graph: g, Sigma: 0.5, Alpha: 2, Delta: 1e-5}
	for name, tc := range map[string]struct {
		attacker Attacker
		want     string
	}{
		"messages":  {Attacker{Trust: PNDP, Nodes: []int{2}}, Condition},
		"sums":      {Attacker{Trust: PNDP, Nodes: []int{2}, SecureSummation: true}, Condition},
		"everybody": {Attacker{}, ""},
		"secrets":   {Attacker{Trust: SecLDP, Nodes: []int{2}}, ""},
	} {
		r, err := Assess(context.Background(), Scenario{Gossip: w, Algorithm: DPDSGD(), Attacker: tc.attacker,
			Schema: every(t, 4)}, o)
		if err != nil || r.HoldsFor != tc.want || r.Local != 4 || *r.LocalMu != 4 || !(*r.LocalEpsilon > 4) {
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
		for _, line := range lines[1:] {
			if line[9] != tc.want || line[8] != "4" {
				t.Errorf("%s: pairs.csv says %q", name, line)
			}
		}
	}
	zip, err := Assess(context.Background(), Scenario{Gossip: w, Algorithm: ZipDL(),
		Attacker: Attacker{Trust: PNDP, Nodes: []int{2}}, Schema: every(t, 2)}, o)
	if err != nil || zip.LocalMu != nil || zip.HoldsFor != Condition {
		t.Errorf("without local DP: %+v, %v", zip, err)
	}
	row, err := Growth(context.Background(), Scenario{Gossip: w, Algorithm: AntiPGD(),
		Attacker: Attacker{Trust: PNDP, Nodes: []int{2}}, Schema: every(t, 1)}, 3, Best)
	if err != nil || row.Local == nil || !(*row.Local > *row.Neighbours) {
		t.Errorf("growth: %+v, %v", row, err)
	}
}
