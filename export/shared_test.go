package export

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mafalda/graph"
	"mafalda/secrets"
)

// triangle is three nodes, two pairs of which share noise, and labels that need quotation marks.
func triangle(t testing.TB) (*graph.Graph, *SharedNoise) {
	t.Helper()
	g, err := graph.New([]string{"a", `b,"c`, "#d"}, []graph.Edge{{U: 0, V: 1, Weight: 1}, {U: 1, V: 2, Weight: 1}, {U: 0, V: 2, Weight: 1}}, false)
	if err != nil {
		t.Fatal(err)
	}
	n, err := NewSharedNoise(g.Labels(), &secrets.Noise{Own: []float64{1. / 3, 1, 0}, Pairs: []secrets.Shared{
		{Pair: secrets.Pair{U: 0, V: 1}, Deviation: math.Pi * 1e-7}, {Pair: secrets.Pair{U: 0, V: 2}}, {Pair: secrets.Pair{U: 1, V: 2}, Deviation: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	return g, n
}

func spaceManifest() *Manifest {
	m := manifest(2)
	m.Trust, m.LDPLoss, m.JointLowerBound, m.LowerBound, m.Gap = TrustSecLDP, 3, 1, 0, 0
	m.Graph.Nodes, m.Graph.Edges = 3, 3
	m.Space = &Space{Secrets: Secrets{Source: SecretsGossip, Pairs: 3}, LargestPair: 300,
		Coalitions: Coalitions{Sets: [][]string{{"a"}, {"a", "#d"}}},
		Worst:      Worst{Attacker: []string{}, Victim: "#d", Value: 0.9}, GapTime: 1e-3}
	return m
}

// sharedExport writes an export whose nodes share noise.
func sharedExport(t testing.TB) string {
	t.Helper()
	g, n := triangle(t)
	files, err := n.Files(g)
	if err != nil {
		t.Fatal(err)
	}
	m := spaceManifest()
	m.Space.Own, m.Space.Pairs = n.Labelled()
	dir := filepath.Join(t.TempDir(), "out")
	if err := WriteDir(dir, m, append(files, goodFiles...), WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Noise that is shared is read as it was written, to the last bit; the variances are in its files and not in its
// manifest; old exports have none.
func TestSharedNoise(t *testing.T) {
	e := intact(t, sharedExport(t))
	if _, n := triangle(t); !reflect.DeepEqual(e.Shared, n) {
		t.Errorf("%+v, want %+v", e.Shared, n)
	}
	if e.Manifest.Space.Own != nil || e.Manifest.Space.Pairs != nil || e.Manifest.Files["pairs.csv"] == "" {
		t.Errorf("%+v", e.Manifest)
	}
	got := [][]Neighbour{e.Shared.Neighbours(0), e.Shared.Neighbours(1), e.Shared.Neighbours(2)}
	want := [][]Neighbour{{{1, `b,"c`, math.Pi * 1e-7}}, {{0, "a", -math.Pi * 1e-7}, {2, "#d", 2}}, {{1, `b,"c`, -2}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("neighbours %+v, want %+v", got, want)
	}
	a, err := e.Manifest.Space.Coalitions.Attackers(e.Shared.Labels)
	if err != nil || !reflect.DeepEqual(a.Coalitions(), [][]int{{}, {0}, {0, 2}}) {
		t.Errorf("%+v, %v", a, err)
	}
	if !strings.Contains((&Manifest{Privacy: &Privacy{Mu: 1}, Space: e.Manifest.Space}).Guarantee(), "SecLDP") {
		t.Error("what is guaranteed is not said")
	}
	if e := intact(t, export(t)); e.Shared != nil {
		t.Errorf("%+v", e.Shared)
	}
}

// What is printed has the variances, as scripts read them: by label, and [label, label, variance].
func TestSpaceIsPrinted(t *testing.T) {
	_, n := triangle(t)
	m := spaceManifest()
	m.Space.Own, m.Space.Pairs = n.Labelled()
	var text bytes.Buffer
	if err := m.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	var printed struct {
		Space struct {
			Own   map[string]float64
			Pairs [][]any
		}
	}
	if err := json.Unmarshal(text.Bytes(), &printed); err != nil {
		t.Fatal(err)
	}
	want := [][]any{{"a", `b,"c`, n.Pairs[0].Deviation * n.Pairs[0].Deviation}, {"a", "#d", 0.}, {`b,"c`, "#d", 4.}}
	if !reflect.DeepEqual(printed.Space.Pairs, want) || len(printed.Space.Own) != 3 || printed.Space.Own[`b,"c`] != 1 {
		t.Errorf("%s", text.String())
	}
	var again Manifest
	if err := json.Unmarshal(text.Bytes(), &again); err != nil || !reflect.DeepEqual(again.Space, m.Space) {
		t.Errorf("%+v, %v", again.Space, err)
	}
	if _, err := ReadManifest(&text); err == nil {
		t.Error("what is printed is taken for a manifest of a folder")
	}
}

// Files with anything doubtful in them are refused, with the line.
func TestSharedFilesAreStrict(t *testing.T) {
	for name, tc := range map[string]struct{ file, old, new, say string }{
		"an unknown label":     {"pairs.csv", "#d,2", "d,2", "line 4: nodes.csv has not both"},
		"a pair of one node":   {"pairs.csv", "a,#d", "a,a", `line 3: "a" shares a secret with itself`},
		"a pair twice":         {"pairs.csv", "a,#d", `a,"b,""c"`, "line 3: the pair"},
		"a pair twice, turned": {"pairs.csv", "a,#d", `"b,""c",a`, "is there twice"},
		"a negative deviation": {"pairs.csv", "#d,2", "#d,-2", "no standard deviation"},
		"an infinite one":      {"pairs.csv", "#d,2", "#d,+Inf", "no standard deviation"},
		"none":                 {"pairs.csv", "#d,2", "#d,NaN", "no standard deviation"},
		"one far off":          {"pairs.csv", "#d,2", "#d,1e+300", "standard deviation 1e+300"},
		"written otherwise":    {"pairs.csv", "#d,2", "#d,2.0", "as short as it can be"},
		"a field more":         {"pairs.csv", "#d,2", "#d,2,3", "wrong number of fields"},
		"another header":       {"pairs.csv", "label,label,std", "label,label,variance", "does not begin with"},
		"no header":            {"nodes.csv", "index,label,degree,own_std\n", "", "does not begin with"},
		"no deviation":         {"nodes.csv", "2,#d,2,0", "2,#d,2,", "line 4"},
		"an index twice":       {"nodes.csv", "2,#d", "1,#d", "line 4: it is none of node 2"},
		"a label twice":        {"nodes.csv", "2,#d", "2,a", ""},
		"a node less":          {"nodes.csv", "2,#d,2,0\n", "", "2 nodes, the manifest 3"},
		"no noise":             {"pairs.csv", "#d,2", "#d,0", `node "#d" has no noise`},
		"an open quote":        {"pairs.csv", "#d,2", `"#d,2`, "pairs.csv"},
		"empty":                {"pairs.csv", "", "", "does not begin with"},
	} {
		dir := sharedExport(t)
		path := filepath.Join(dir, tc.file)
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte(tc.old)) {
			t.Fatal(name, err, string(text))
		}
		changed := bytes.Replace(text, []byte(tc.old), []byte(tc.new), 1)
		if tc.old == "" {
			changed = nil
		}
		if err := os.WriteFile(path, changed, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), tc.say) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, tc.say)
		}
	}
	dir := sharedExport(t)
	if err := os.Remove(filepath.Join(dir, "pairs.csv")); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "pairs.csv") {
		t.Errorf("without pairs.csv: %v", err)
	}
}

// A manifest that speaks of shared noise in one place and not in another is refused.
func TestSpaceManifest(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(sharedExport(t), ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	type object = map[string]any
	for name, tc := range map[string]struct {
		change func(m, space object)
		say    string
	}{
		"as it is":       {func(_, _ object) {}, ""},
		"another trust":  {func(m, _ object) { m["trust"] = "ldp" }, "trust"},
		"no trust":       {func(m, _ object) { delete(m, "trust") }, "belong together"},
		"no space":       {func(m, _ object) { delete(m, "space") }, "missing"},
		"a lower bound":  {func(m, _ object) { m["lower_bound"] = 1 }, "not lower_bound"},
		"no joint bound": {func(m, _ object) { delete(m, "joint_lower_bound") }, "joint_lower_bound"},
		"no LDP loss":    {func(m, _ object) { delete(m, "ldp_loss") }, "ldp_loss"},
		"no graph":       {func(m, _ object) { delete(m, "graph") }, "graph"},
		"own strategies": {func(m, _ object) {
			m["per_node"] = object{"layers": []int{0}, "distinct": 1, "losses": []int{}, "group_bound": 0}
		}, "one strategy"},
		"no pairs":              {func(m, _ object) { delete(m["files"].(object), "pairs.csv") }, "pairs.csv"},
		"variances":             {func(_, s object) { s["own"] = object{"a": 1} }, "space.own"},
		"no coalitions":         {func(_, s object) { s["coalitions"] = object{} }, "coalitions"},
		"coalitions of three":   {func(_, s object) { s["coalitions"] = object{"size": 3} }, "coalitions"},
		"no attacker":           {func(_, s object) { delete(s["worst"].(object), "attacker") }, "space.worst"},
		"an attacker null":      {func(_, s object) { s["worst"].(object)["attacker"] = nil }, "null"},
		"a victim that attacks": {func(_, s object) { s["worst"].(object)["attacker"] = []string{"#d"} }, "victim among them"},
		"a value of zero":       {func(_, s object) { s["worst"].(object)["value"] = 0 }, "space.worst.value is 0"},
		"no largest pair":       {func(_, s object) { delete(s, "largest_pair") }, "largest_pair"},
		"a negative gap":        {func(_, s object) { s["gap_space"] = -1 }, "gap"},
		"no secrets":            {func(_, s object) { s["secrets"] = object{} }, "secrets"},
	} {
		var m object
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		tc.change(m, m["space"].(object))
		changed, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ReadManifest(bytes.NewReader(changed)); (err == nil) != (tc.say == "") || err != nil && !strings.Contains(err.Error(), tc.say) {
			t.Errorf("%s: %v, want %q", name, err, tc.say)
		}
	}
	m := spaceManifest()
	if err := m.CheckPrivacy(); err != nil {
		t.Error(err)
	}
	m.Space.Worst.Value = math.Nextafter(1, 2)
	if err := m.CheckPrivacy(); err == nil {
		t.Error("noise that hides less than one is taken")
	}
	g, n := triangle(t)
	for _, label := range []string{"x", ""} {
		if err := (&Space{Coalitions: Coalitions{Size: 1}, Worst: Worst{Victim: label}}).checkLabels(n); err == nil {
			t.Errorf("a victim %q", label)
		}
		if err := (&Space{Coalitions: Coalitions{Sets: [][]string{{label}}}, Worst: Worst{Victim: g.Label(0)}}).checkLabels(n); err == nil {
			t.Errorf("a coalition with %q", label)
		}
	}
}

// Every noise that can be exported comes back to the last bit.
func TestSharedRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 6).Draw(t, "nodes")
		deviation := rapid.Float64Range(1e-60, 1e60)
		n := &secrets.Noise{}
		labels := make([]string, nodes)
		for i := range nodes {
			labels[i] = string(rune('a'+i)) + rapid.StringMatching(`[ ,"#\n\x0e-é]*`).Draw(t, "label")
			n.Own = append(n.Own, deviation.Draw(t, "own"))
			for j := range i {
				if rapid.Bool().Draw(t, "shared") {
					n.Pairs = append(n.Pairs, secrets.Shared{Pair: secrets.Pair{U: j, V: i}, Deviation: deviation.Draw(t, "pair")})
				}
			}
		}
		sortPairs(n.Pairs)
		shared, err := NewSharedNoise(labels, n)
		if err != nil {
			t.Fatal(err)
		}
		g, err := graph.New(labels, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		files, err := shared.Files(g)
		if err != nil {
			t.Fatal(err)
		}
		m := spaceManifest()
		m.Graph.Nodes = nodes
		e := &Export{Manifest: m, contents: map[string][]byte{}}
		for _, f := range files {
			var text bytes.Buffer
			if err := f.Write(&text); err != nil {
				t.Fatal(err)
			}
			e.contents[f.Name] = text.Bytes()
		}
		if got, err := e.readShared(); err != nil || !reflect.DeepEqual(got, shared) {
			t.Fatalf("%+v, want %+v, %v", got, shared, err)
		}
	})
}

// Whatever stands in the two files, it is refused or it is noise that can be drawn.
func FuzzSharedFiles(f *testing.F) {
	f.Add("index,label,degree,own_std\n0,a,1,1\n1,b,1,0.5\n", "label,label,std\nb,a,2\n")
	f.Add("index,label,degree,own_std\n0,\"a\n\",1,1\n", "label,label,std\n")
	f.Add("", "\"")
	f.Fuzz(func(t *testing.T, nodes, pairs string) {
		m := spaceManifest()
		m.Graph.Nodes = 2
		e := &Export{Manifest: m, contents: map[string][]byte{"nodes.csv": []byte(nodes), "pairs.csv": []byte(pairs)}}
		n, err := e.readShared()
		if err != nil {
			return
		}
		if err := n.Check(); err != nil || len(n.Labels) != 2 || n.Labels[0] == n.Labels[1] || len(n.Pairs) > 1 {
			t.Errorf("%+v, %v", n, err)
		}
	})
}
