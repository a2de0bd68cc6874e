package noise

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/graph"
)

// TestLevels: noise that would be none, or infinite, or less than the manifest promises, is refused before anything is
// drawn.
func TestLevels(t *testing.T) {
	promising := &export.Manifest{Privacy: &export.Privacy{Mu: 0.5, NoiseStd: 2}}
	silent := &export.Manifest{}
	for name, tc := range map[string]struct {
		m    *export.Manifest
		opts Options
		say  string // empty: accepted
	}{
		"the manifest's":          {promising, Options{}, ""},
		"the same":                {promising, Options{NoiseStd: 2}, ""},
		"more":                    {promising, Options{NoiseStd: 3}, ""},
		"less":                    {promising, Options{NoiseStd: math.Nextafter(2, 0)}, "less than the 2"},
		"far less":                {promising, Options{NoiseStd: 1e-9}, "less than the 2"},
		"no number":               {promising, Options{NoiseStd: math.NaN()}, "less than the 2"},
		"none":                    {silent, Options{}, "no noise level"},
		"negative":                {silent, Options{NoiseStd: -1}, "between"},
		"no number, silent":       {silent, Options{NoiseStd: math.NaN()}, "between"},
		"infinite":                {silent, Options{NoiseStd: math.Inf(1)}, "between"},
		"overflows":               {silent, Options{NoiseStd: 1.7e308}, "between"},
		"underflows":              {silent, Options{NoiseStd: 1e-300}, "between"},
		"grid":                    {promising, Options{Grid: 0x1p-10}, ""},
		"widest grid":             {promising, Options{Grid: 0.25}, ""},
		"finest grid":             {promising, Options{Grid: 0x1p-39}, ""},
		"rounds all away":         {promising, Options{Grid: 1024}, "an eighth"},
		"too wide a grid":         {promising, Options{Grid: 0.5}, "an eighth"},
		"too fine a grid":         {promising, Options{Grid: 0x1p-1074}, "2⁴⁰th"},
		"no power of two":         {promising, Options{Grid: 0.1}, "2^-19 = 1.9"},
		"far from a power of two": {promising, Options{Grid: 1000}, "power of two"},
		"negative grid":           {promising, Options{Grid: -0.25}, "power of two"},
		"grid that is none":       {promising, Options{Grid: math.NaN()}, "power of two"},
		"infinite grid":           {promising, Options{Grid: math.Inf(1)}, "power of two"},
		"tiny grid":               {promising, Options{Grid: 1e-320}, "power of two"},
	} {
		std, err := level(tc.m.Privacy, tc.opts)
		if (err == nil) != (tc.say == "") || err != nil && !strings.Contains(err.Error(), tc.say) || err == nil &&
			std < 2 {
			t.Errorf("%s: %v, %v; want %q", name, std, err, tc.say)
		}
	}
}

// TestRounding: rows that single precision or the grid cannot hold are refused.
func TestRounding(t *testing.T) {
	c := dense(t)
	for name, tc := range map[string]struct {
		std, grid    float64
		both, single bool
	}{
		"fine": {2, 0, true, true}, "on a grid": {2, 0x1p-10, true, true}, "on a fine grid": {2, 0x1p-39, true, false},
		"large for single": {1e300, 0, true, false}, "infinite in single": {0x1p127, 0, true, false},
		"small for single": {0x1p-120, 0, true, false},
		"too large":        {math.MaxFloat64, 0, false, false}, "too fine": {2, 0x1p-53, false, false},
	} {
		open := func() *Stream {
			s, err := streamWith(c, gaussian{"node", SeededKey(1, "node"), tc.std}, 100, Options{Grid: tc.grid})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		row, single := make([]float64, 100), make([]float32, 100)
		if err := open().Next(row); (err == nil) != tc.both || err != nil && !errors.Is(err, ErrNumbers) {
			t.Errorf("%s: %v", name, err)
		}
		if err := open().NextFloat32(single); (err == nil) != tc.single || err != nil && (!errors.Is(err, ErrNumbers) ||
			single[0] != 0) {
			t.Errorf("%s, in single precision: %v, %v", name, err, single[0])
		}
		for i, v := range row {
			if tc.both && (v-v != 0 || v == 0 && tc.grid == 0 || tc.grid > 0 && math.Mod(v, tc.grid) != 0) {
				t.Fatalf("%s: coordinate %d is %v", name, i, v)
			}
		}
	}
}

// TestPrivacyOfManifest: noise is drawn only if the manifest's noise level follows from the rest of it.
func TestPrivacyOfManifest(t *testing.T) {
	dir := exported(t, dense(t))
	path := filepath.Join(dir, export.ManifestName)
	original := content(t, path)
	for name, tc := range map[string]struct {
		change func(m, privacy map[string]any)
		say    string
	}{
		"as it is":       {func(_, _ map[string]any) {}, ""},
		"more noise":     {func(_, p map[string]any) { p["noise_std"] = 3 }, "noise_std is 3"},
		"half the noise": {func(_, p map[string]any) { p["noise_std"] = 1 }, "takes 2"},
		"no noise":       {func(_, p map[string]any) { p["noise_std"] = 0 }, "noise_std"},
		"mu":             {func(_, p map[string]any) { p["mu"], p["sigma"] = 0.25, 4 }, "noise_std"},
		"clip":           {func(_, p map[string]any) { p["clip"] = 2 }, "noise_std"},
		"adjacency":      {func(_, p map[string]any) { p["adjacency"] = "replace-one" }, "noise_std"},
		"no adjacency":   {func(_, p map[string]any) { p["adjacency"] = "none" }, "none"},
		"sigma":          {func(_, p map[string]any) { p["sigma"] = 1 }, "sigma"},
		"negative mu":    {func(_, p map[string]any) { p["mu"], p["sigma"] = -0.5, -2 }, "mu"},
		"epsilon":        {func(_, p map[string]any) { p["epsilon"], p["delta"] = 0.1, 1e-5 }, "epsilon"},
		"epsilon alone":  {func(_, p map[string]any) { p["epsilon"] = 8 }, "belong together"},
		"delta of zero":  {func(_, p map[string]any) { p["epsilon"], p["delta"] = 8, 0 }, "privacy.delta"},
		"sens":           {func(m, _ map[string]any) { m["sens_squared"] = 0.5 }, "sens²"},
		"infinite sens": {func(m, p map[string]any) { m["sens_squared"], p["noise_std"] = 1e300, 2e150 },
			"sens_squared"},
		"infinite noise": {func(_, p map[string]any) { p["noise_std"] = 1.7e308 }, "noise_std"},
		"hardly any privacy": {func(_, p map[string]any) {
			p["mu"], p["sigma"], p["noise_std"] = 1e300, 1e-300,
				1e-300
		}, "between"},
	} {
		var m map[string]any
		if err := json.Unmarshal(original, &m); err != nil {
			t.Fatal(err)
		}
		tc.change(m, m["privacy"].(map[string]any))
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, text)
		if _, err := Open(dir, "ann", 3, Options{}); (err == nil) != (tc.say == "") || err != nil &&
			!strings.Contains(err.Error(), tc.say) {
			t.Errorf("%s: %v, want %q", name, err, tc.say)
		}
	}
}

// TestLabels: nodes.csv is read as it is written, whatever is in a label.
func TestLabels(t *testing.T) {
	labels := []string{"a", "b,c", `d"e`, "f\ng", `"`, ",", " h ", "1,i,2"}
	edges := make([]graph.Edge, len(labels)-1)
	for i := range edges {
		edges[i] = graph.Edge{U: i, V: i + 1, Weight: 1}
	}
	g, err := graph.New(labels, edges, false)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := graph.WriteNodes(&text, g); err != nil {
		t.Fatal(err)
	}
	open := func(nodes, label string, count int) (int, error) {
		dir := exported(t, dense(t))
		write(t, filepath.Join(dir, "nodes.csv"), []byte(nodes))
		e, err := export.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		e.Manifest.Graph.Nodes = count
		return indexOf(e, label)
	}
	for _, label := range g.Labels() {
		if got, err := open(text.String(), label, len(labels)); err != nil || got != slices.Index(g.Labels(), label) {
			t.Errorf("%q is node %d, %v", label, got, err)
		}
	}
	for nodes, say := range map[string]string{
		"index,label,degree\n0,a,1\n1,a,1\n": "twice", "index,label,degree\n1,a,1\n": "none of node 0",
		"index,label,degree\n0,\"a,1\n": "nodes.csv", "": "nodes.csv does not begin with",
		"index,label,degree\n0,\"a\",1,1\n": "nodes.csv", "index,label,degree\n0,b,1\n": "no node",
		"index,label,degree\n": "0 nodes, the manifest 1",
	} {
		if _, err := open(nodes, "a", 1); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v, want %q", nodes, err, say)
		}
	}
}

// TestLabelsWithoutGraph: an export whose manifest says no graph, but lists nodes, has no other nodes than these. Nodes
// with strategies of their own would else draw by another node's.
func TestLabelsWithoutGraph(t *testing.T) {
	dir := exported(t, dense(t))
	write(t, filepath.Join(dir, "nodes.csv"), []byte("index,label,degree\n0,a,1\n1,b,1\n"))
	e, err := export.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	e.Manifest.Graph = nil
	if e.Manifest.Files["nodes.csv"] == "" {
		t.Fatal("the manifest does not list nodes.csv")
	}
	if i, err := indexOf(e, "b"); err != nil || i != 1 {
		t.Errorf("b is node %d, %v", i, err)
	}
	if i, err := indexOf(e, "c"); err == nil {
		t.Errorf("c is node %d", i)
	}
	delete(e.Manifest.Files, "nodes.csv")
	if i, err := indexOf(e, "b"); err != nil || i != 0 {
		t.Errorf("without nodes: node %d, %v", i, err)
	}
	e.Manifest.PerNode = &export.PerNode{Layers: []int{0, 0, 0}}
	if i, err := indexOf(e, "b"); err == nil {
		t.Errorf("of three strategies and two nodes b has that of node %d", i)
	}
}

// TestOdometerOfManyNodesReadsThemOnce: the odometer of all nodes takes work in proportion to their number, and says
// what every node's own does.
func TestOdometerOfManyNodesReadsThemOnce(t *testing.T) {
	c := dense(t)
	of := func(nodes int) (dir string, allocations float64) {
		e, err := export.Load(exported(t, c))
		if err != nil {
			t.Fatal(err)
		}
		text := "index,label,degree\n"
		for i := range nodes {
			text += fmt.Sprintf("%d,n%d,1\n", i, i)
		}
		e.Manifest.Graph.Nodes = nodes
		var lower, noising mat.TriDense
		c.StrategyTo(&lower)
		if err := c.NoisingTo(&noising); err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(t.TempDir(), "many")
		if err := export.WriteDir(dir, e.Manifest, []export.File{export.Bytes("nodes.csv", []byte(text)),
			export.NPY("C.npy", &lower), export.NPY("C_inv.npy", &noising)}, export.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		return dir, testing.AllocsPerRun(1, func() {
			if _, err := OpenOdometer(dir, "", 1e-6); err != nil {
				t.Fatal(err)
			}
		})
	}
	_, few := of(100)
	dir, many := of(800)
	if many > 16*few {
		t.Errorf("%v allocations for 800 nodes, %v for 100", many, few)
	}
	all, err := OpenOdometer(dir, "", 1e-6)
	one, err2 := OpenOdometer(dir, "n799", 1e-6)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	a, err := all.After(3)
	b, err2 := one.After(3)
	if err != nil || err2 != nil || *a.Mu != *b.Mu || *a.Epsilon != *b.Epsilon {
		t.Errorf("%v of all nodes, %v of one (%v, %v)", a, b, err, err2)
	}
	if _, err := OpenOdometer(dir, "n800", 0); err == nil || !strings.Contains(err.Error(), `no node "n800"`) {
		t.Errorf("a node that does not exist: %v", err)
	}
}
