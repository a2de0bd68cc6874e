package figures

import (
	"bytes"
	"testing"

	"mafalda/participation"
	"mafalda/threat"
)

// Pictures of reports and of growth are drawn of what is finite, and there are none where nothing is.
func TestThreat(t *testing.T) {
	one, two, half := 1, 2, 0.5
	seen := threat.Pair{Distance: &one, Infinite: true}
	pair := func(distance *int) threat.Pair {
		return threat.Pair{Distance: distance, SensSquared: &half, Mu: &half, Cyffers: &half}
	}
	schema, err := participation.NewCyclic(3, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	o := ExposureOptions{Algorithm: "dp-d-sgd", Graph: "dir/g.edges", Schema: schema, Local: 3, Sigma: 1, Alpha: 2}
	for name, tc := range map[string]struct {
		pairs []threat.Pair
		drawn bool
	}{
		"finite":     {[]threat.Pair{pair(&one), pair(&two)}, true},
		"no path":    {[]threat.Pair{pair(nil)}, false},
		"seen":       {[]threat.Pair{seen}, false},
		"both":       {[]threat.Pair{seen, pair(&one)}, false},
		"some finer": {[]threat.Pair{seen, pair(&two)}, true},
	} {
		f, err := Exposure([]threat.Report{{Pairs: tc.pairs}}, o)
		if err != nil || (f != nil) != tc.drawn {
			t.Errorf("%s: %v, %v", name, f, err)
		}
		if f == nil {
			continue
		}
		var out bytes.Buffer
		err = f.WriteAs(&out, "f.svg", Style{})
		if err != nil || !bytes.Contains(out.Bytes(), []byte("Rényi divergence of order 2")) ||
			!bytes.Contains(out.Bytes(), []byte("on g.edges, T = 3, k = 3, b = 1")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	rows := []threat.GrowthRow{{Steps: 4, Neighbours: &half}, {Steps: 8, Neighbours: &half, Asymptote: &half}}
	if f, err := Growth(rows, threat.Condition); f == nil || err != nil {
		t.Errorf("growth: %v", err)
	}
	if f, err := Growth([]threat.GrowthRow{{Steps: 4}}, threat.Condition); f != nil || err != nil {
		t.Errorf("no growth: %v, %v", f, err)
	}
}
