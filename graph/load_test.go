package graph

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/internal/npy"
)

func write(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func gzipped(s string) string {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return buf.String()
}

// describe lists the edges of g by label.
func describe(g *Graph) string {
	var buf bytes.Buffer
	if err := WriteEdges(&buf, g); err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(strings.TrimSpace(buf.String()), "\t", "-")
}

func TestLoadEdgeLists(t *testing.T) {
	for name, tc := range map[string]struct {
		file, content string
		directed      bool
		want          string
		duplicates    int
		selfLoops     int
	}{
		"white space":        {"g", "1 2\n 2\t3 \n", false, "1-2\n2-3", 0, 0},
		"comments":           {"g", "# SNAP\n% KONECT\n\n1 2\n", false, "1-2", 0, 0},
		"commas":             {"g.csv", "a, b\nb,c\n", false, "a-b\nb-c", 0, 0},
		"semicolons":         {"g", "a;b\n", false, "a-b", 0, 0},
		"Windows":            {"g", "\xef\xbb\xbf1 2\r\n2 3\r\n", false, "1-2\n2-3", 0, 0},
		"gzip":               {"g.txt.gz", gzipped("1 2\n"), false, "1-2", 0, 0},
		"gzip by content":    {"g.edges", gzipped("\xef\xbb\xbf1 2\n"), false, "1-2", 0, 0},
		"both directions":    {"g", "1 2\n2 1\n1 2\n", false, "1-2", 2, 0},
		"both, directed":     {"g", "1 2\n2 1\n1 2\n", true, "1-2\n2-1", 1, 0},
		"self-loops":         {"g", "1 1\n1 2\n3 3\n", false, "1-2", 0, 2},
		"weights":            {"g", "1 2 0.5\n2 3 2e0\n", false, "1-2-0.5\n2-3-2", 0, 0},
		"numbers as numbers": {"g", "10 9\n9 -1\n", false, "-1-9\n9-10", 0, 0},
		"names as bytes":     {"g", "10 9\n9 x\n", false, "10-9\n9-x", 0, 0},
		"one label two ways": {"g", "7 007\n", false, "007-7", 0, 0},
		"no final newline":   {"g", "1 2", false, "1-2", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g, report, err := Load(write(t, tc.file, []byte(tc.content)), LoadOptions{Directed: tc.directed})
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(g); got != tc.want || report.Duplicates != tc.duplicates || report.SelfLoops != tc.selfLoops {
				t.Errorf("%q, %+v; want %q, %d duplicates, %d self-loops", got, report, tc.want, tc.duplicates, tc.selfLoops)
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	matrix := func(shape []int, data ...float64) string {
		var buf bytes.Buffer
		if err := npy.Write(&buf, shape, data); err != nil {
			t.Fatal(err)
		}
		return buf.String()
	}
	const mtx = "%%MatrixMarket matrix coordinate real general\n"
	for name, tc := range map[string]struct{ file, content, say string }{
		"empty":                {"g", "", "empty"},
		"comments only":        {"g", "# nothing\n", "empty"},
		"one node":             {"g", "1 1\n", "no edges"},
		"one column":           {"g", "1 2\n3\n", ":2: 1 fields"},
		"four columns":         {"g", "1 2 3 4\n", ":1: 4 fields"},
		"empty field":          {"g", "1,,2\n", ":1: 0 fields"},
		"weight is text":       {"g", "1 2 heavy\n", `:1: weight "heavy"`},
		"weight is NaN":        {"g", "1 2\n2 3 NaN\n", ":2: weight NaN"},
		"weight is infinite":   {"g", "1 2 inf\n", ":1: weight inf"},
		"weight is negative":   {"g", "1 2 -1\n", ":1: weight -1"},
		"weight is zero":       {"g", "1 2 0\n", ":1: weight 0"},
		"conflicting weights":  {"g", "1 2 3\n3 4\n2 1 4\n", ":3: edge 1 2 has the weight 4, but 3 in line 1"},
		"binary":               {"g", "\x00\x01\x02", ":1: not text"},
		"not UTF-8":            {"g", "\xff\xfe1 2\n", ":1: not text"},
		"endless line":         {"g", strings.Repeat("1", 2<<20), ":1: "},
		"broken gzip":          {"g.gz", gzipped("1 2\n2 3\n")[:25], "unexpected EOF"},
		"npy truncated":        {"g.npy", matrix([]int{2, 2}, 0, 1, 1, 0)[:140], "truncated"},
		"npy not square":       {"g.npy", matrix([]int{1, 2}, 0, 1), "shape [1 2]"},
		"npy one-dimensional":  {"g.npy", matrix([]int{2}, 0, 1), "shape [2]"},
		"npy empty":            {"g.npy", matrix([]int{0, 0}), "empty"},
		"npy not symmetric":    {"g.npy", matrix([]int{2, 2}, 0, 1, 0, 0), "--directed"},
		"npy negative":         {"g.npy", matrix([]int{2, 2}, 0, -1, -1, 0), "(0,1) is -1"},
		"npy without edges":    {"g.npy", matrix([]int{2, 2}, 1, 0, 0, 1), "no edges"},
		"npy is text":          {"g.npy", "1 2\n", "does not start"},
		"mtx empty":            {"g.mtx", "", "empty"},
		"mtx without header":   {"g.mtx", "3 3 1\n1 2 1\n", ":1: not MatrixMarket"},
		"mtx complex":          {"g.mtx", "%%MatrixMarket matrix coordinate complex general\n", "complex"},
		"mtx truncated":        {"g.mtx", mtx + "3 3 2\n1 2 1\n", "truncated: 1 entries of 2"},
		"mtx without size":     {"g.mtx", mtx, "truncated"},
		"mtx too long":         {"g.mtx", mtx + "3 3 1\n1 2 1\n2 3 1\n", ":4: more than"},
		"mtx out of range":     {"g.mtx", mtx + "3 3 1\n1 4 1\n", ":3: entry"},
		"mtx not square":       {"g.mtx", mtx + "3 4 1\n", "3×4"},
		"mtx lies about rows":  {"g.mtx", mtx + "999999999 999999999 1\n1 2 1\n", "only 1 entries"},
		"mtx huge":             {"g.mtx", mtx + "99999999999 99999999999 1\n", "at most"},
		"mtx bad size":         {"g.mtx", mtx + "3 x 1\n", ":2: size line"},
		"mtx upper symmetric":  {"g.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n1 2 1\n", "above the diagonal"},
		"mtx array asymmetric": {"g.mtx", "%%MatrixMarket matrix array real general\n2 2\n0\n1\n0\n0\n", "--directed"},
		"mtx value is NaN":     {"g.mtx", mtx + "2 2 1\n1 2 NaN\n", ":3: weight NaN"},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, tc.file, []byte(tc.content))
			_, _, err := Load(path, LoadOptions{})
			if err == nil || !strings.Contains(err.Error(), tc.say) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with the path and %q", err, tc.say)
			}
		})
	}
	if _, _, err := Load(filepath.Join(t.TempDir(), "missing"), LoadOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, _, err := Load(t.TempDir(), LoadOptions{}); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("folder: %v", err)
	}
}

func TestLoadMatrices(t *testing.T) {
	var npyFile bytes.Buffer
	if err := npy.Write(&npyFile, []int{3, 3}, []float64{5, 1, 0, 1, 0, 2, 0, 2, 0}); err != nil {
		t.Fatal(err)
	}
	const mtx = "%%MatrixMarket matrix "
	for name, tc := range map[string]struct {
		file, content string
		directed      bool
		want          string
	}{
		"npy":                {"g.npy", npyFile.String(), false, "0-1-1\n1-2-2"},
		"coordinates":        {"g.mtx", mtx + "coordinate real general\n% comment\n3 3 2\n1 2 1\n3 2 2\n", false, "1-2-1\n2-3-2"},
		"pattern symmetric":  {"g.mtx", mtx + "coordinate pattern symmetric\n4 4 2\n2 1\n3 2\n", false, "1-2\n2-3"},
		"symmetric directed": {"g.mtx", mtx + "coordinate integer symmetric\n2 2 1\n2 1 1\n", true, "1-2\n2-1"},
		"directed":           {"g.mtx.gz", gzipped(mtx + "coordinate real general\n2 2 1\n2 1 1\n"), true, "2-1"},
		"array":              {"g.mtx", mtx + "array real general\n2 2\n0\n1\n1\n0\n", false, "1-2"},
		"array symmetric":    {"g.mtx", mtx + "array real symmetric\n3 3\n0\n1\n0\n0\n1\n0\n", false, "1-2\n2-3"},
	} {
		t.Run(name, func(t *testing.T) {
			g, _, err := Load(write(t, tc.file, []byte(tc.content)), LoadOptions{Directed: tc.directed})
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(g); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
	g, _, err := Load(write(t, "g.mtx", []byte(mtx+"coordinate pattern symmetric\n4 4 2\n2 1\n3 2\n")), LoadOptions{})
	if err != nil || g.Nodes() != 4 {
		t.Errorf("a row without entries is no node: %v, %v", g, err)
	}
}

// Numbering does not depend on the order or direction of the lines, and what WriteEdges writes loads as the same graph.
func TestEdgeListRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "n")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 8))
		directed, weighted := rapid.Bool().Draw(t, "directed"), rapid.Bool().Draw(t, "weighted")
		var edges []Edge
		for u := range n {
			for v := range n {
				if u == v || rng.IntN(3) == 0 || (!directed && v < u) {
					continue
				}
				e := Edge{u, v, 1}
				if weighted {
					e.Weight = rng.ExpFloat64() + 1e-9
				}
				edges = append(edges, e)
			}
		}
		edges = append(edges, Edge{0, 1, 1}) // every node must be on some edge to survive
		for v := 2; v < n; v++ {
			edges = append(edges, Edge{v - 1, v, 1})
		}
		edges = unique(edges)
		g, err := New(numberLabels(n), edges, directed)
		if err != nil {
			t.Fatal(err)
		}
		var buf bytes.Buffer
		if err := WriteEdges(&buf, g); err != nil {
			t.Fatal(err)
		}
		text := strings.Split(strings.TrimSpace(buf.String()), "\n")
		rng.Shuffle(len(text), func(i, j int) { text[i], text[j] = text[j], text[i] })
		b := newBuilder(directed)
		if err := readEdgeList(strings.NewReader(strings.Join(text, "\r\n")), "g", b); err != nil {
			t.Fatal(err)
		}
		back, err := b.graph("g")
		if err != nil || !mat.Equal(back.Adjacency(), g.Adjacency()) || !slices.Equal(back.Labels(), g.Labels()) {
			t.Fatalf("%v: came back as %v", describe(g), err)
		}
	})
}

// unique drops edges that are there already, in either direction.
func unique(edges []Edge) []Edge {
	seen := map[[2]int]bool{}
	var kept []Edge
	for _, e := range edges {
		if !seen[[2]int{e.U, e.V}] && !seen[[2]int{e.V, e.U}] {
			seen[[2]int{e.U, e.V}] = true
			kept = append(kept, e)
		}
	}
	return kept
}

func TestWriteRefusesLabels(t *testing.T) {
	g, err := New([]string{"a b", "c"}, []Edge{{0, 1, 1}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteEdges(&bytes.Buffer{}, g); err == nil {
		t.Error("a label with a space was written")
	}
	var buf bytes.Buffer
	if err := WriteNodes(&buf, g); err != nil || buf.String() != "index,label,degree\n0,a b,1\n1,c,1\n" {
		t.Errorf("%q, %v", buf.String(), err)
	}
}

func FuzzEdgeList(f *testing.F) {
	f.Add("1 2\n2 3 0.5\r\n# x\n")
	f.Add("a;b;1e300\n")
	f.Fuzz(func(t *testing.T, text string) {
		b := newBuilder(false)
		if readEdgeList(strings.NewReader(text), "g", b) != nil {
			return
		}
		g, err := b.graph("g")
		if err == nil && (g.Edges() == 0 || g.Nodes() < 2) {
			t.Fatalf("%q became a graph of %d nodes", text, g.Nodes())
		}
	})
}

func ExampleLoad() {
	path := filepath.Join(os.TempDir(), "example.edges")
	if err := os.WriteFile(path, []byte("# who knows whom\nquino mafalda\nmafalda felipe\nfelipe mafalda\n"), 0o666); err != nil {
		panic(err)
	}
	defer os.Remove(path)
	g, report, err := Load(path, LoadOptions{})
	fmt.Println(g.Nodes(), g.Edges(), g.Labels(), report.Duplicates, err)
	// Output: 3 2 [felipe mafalda quino] 1 <nil>
}
