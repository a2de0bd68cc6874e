package measure

import (
	"testing"

	"mafalda/graph"
	"mafalda/workload"
)

// The exact way is taken unless it takes minutes or is asked for, with as many probes as the nodes allow.
func TestGramChoose(t *testing.T) {
	load := func(spec string) *graph.Network {
		n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: spec, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	small, medium, large := load("florentine"), load("star:1000"), load("star:30000")
	for name, tc := range map[string]struct {
		g         Gram
		n         *graph.Network
		steps     int
		exactOnly string
		long      bool
		want      string
		probes    int
	}{
		"small":             {Gram{}, small, 380, "", false, "exact", 0},
		"large":             {Gram{}, large, 380, "", false, "lanczos", 24}, // 800,000/30,000, a multiple of 4
		"large, exactly":    {Gram{}, large, 380, "for nodes", false, "exact", 0},
		"large, told":       {Gram{Method: GramExact}, large, 380, "", false, "exact", 0},
		"all unit vectors":  {Gram{Method: GramLanczos}, small, 24, "", false, "lanczos", 15},
		"most probes":       {Gram{Method: GramLanczos}, medium, 24, "", false, "lanczos", 100},
		"as many as wanted": {Gram{Method: GramLanczos, Probes: 7}, medium, 24, "", false, "lanczos", 7},
		"long":              {Gram{}, small, 6000, "", true, "exact", 0},
		"long and large":    {Gram{}, large, 6000, "", true, "lanczos", 24},
	} {
		g, err := tc.g.Choose(tc.n, Demand{Steps: tc.steps, ExactOnly: tc.exactOnly, Long: tc.long})
		if err != nil || g.Method != tc.want || g.Probes != tc.probes {
			t.Errorf("%s: %+v, %v", name, g, err)
			continue
		}
		confidence := map[bool]float64{true: 1, false: workload.Confidence}[tc.probes == tc.n.Graph.Nodes()]
		if g.Method == "lanczos" && (g.LanczosSteps != 40 || g.Confidence != confidence) {
			t.Errorf("%s: %+v", name, g)
		}
	}
	for name, g := range map[string]Gram{"nodes": {Method: GramLanczos}} {
		if _, err := g.Choose(small, Demand{Steps: 24, ExactOnly: "not for that"}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, m := range GramMethods() {
		if parsed, err := ParseGramMethod(m); err != nil || parsed.String() != m {
			t.Errorf("%s: %v, %v", m, parsed, err)
		}
	}
}
