package graph

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

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
		"self-loops":         {"g", "1 1\n1 2\n3 3\n", false, "1-2\n3-3", 0, 2}, // node 3 has no edges
		"weights":            {"g", "1 2 0.5\n2 3 2e0\n", false, "1-2-0.5\n2-3-2", 0, 0},
		"numbers as numbers": {"g", "10 9\n9 -1\n", false, "-1-9\n9-10", 0, 0},
		"names as bytes":     {"g", "10 9\n9 x\n", false, "10-9\n9-x", 0, 0},
		"one label two ways": {"g", "7 007\n", false, "007-7", 0, 0},
		"long integers":      {"g", "18446744073709551615 9\n9 10\n", false, "9-10\n9-18446744073709551615", 0, 0},
		"CSV with weights":   {"g.csv", "ann,Bob,1\nBob,Cid,2\n", false, "Bob-Cid-2\nBob-ann-1", 0, 0},
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
		if len(edges) == 0 {
			edges = []Edge{{0, 1, 1}}
		}
		g, err := New(numberLabels(n), edges, directed)
		if err != nil {
			t.Fatal(err)
		}
		var buf bytes.Buffer
		if err := WriteEdges(&buf, g); err != nil {
			t.Fatal(err)
		}
		text := strings.Split(strings.TrimSpace(buf.String()), "\n")
		repeated := rng.IntN(5)
		for range repeated {
			text = append(text, text[rng.IntN(len(text))])
		}
		rng.Shuffle(len(text), func(i, j int) { text[i], text[j] = text[j], text[i] })
		b := newBuilder(directed)
		if err := readEdgeList(strings.NewReader(strings.Join(text, "\r\n")), "g", b); err != nil {
			t.Fatal(err)
		}
		back, err := b.graph("g")
		if err != nil || !reflect.DeepEqual(back, g) {
			t.Fatalf("%v: came back as %v", describe(g), err)
		}
		if loops := strings.Count(buf.String(), "\n") - g.Edges(); b.duplicates+b.selfLoops != repeated+loops {
			t.Fatalf("%d duplicates and %d self-loops of %d repeated lines", b.duplicates, b.selfLoops, repeated)
		}
	})
}

// Directed, a repeated edge must have one weight too, but the way back is another edge.
func TestDirectedWeights(t *testing.T) {
	for text, say := range map[string]string{"a b 2\nb a 3\n": "",
		"a b 2\na b 1\n": ":2: edge a b has the weight 1, but 2 in line 1"} {
		_, _, err := Load(write(t, "g", []byte(text)), LoadOptions{Directed: true})
		if (err == nil) != (say == "") || err != nil && !strings.Contains(err.Error(), say) {
			t.Errorf("%q: error %v, want %q", text, err, say)
		}
	}
}

func TestLabelsWithSpaces(t *testing.T) {
	g, report, err := Load(write(t, "g.csv", []byte("# who\nAnn Lee, Station 5,1\nStation 5,Cid,2\n")), LoadOptions{})
	if err != nil || !slices.Equal(g.Labels(), []string{"Ann Lee", "Cid", "Station 5"}) || g.Edges() != 2 {
		t.Errorf("%v", err)
	}
	if want := (LoadReport{}); report != want {
		t.Errorf("%+v, want %+v", report, want)
	}
}

// Labels that the reader would split, skip or refuse are not written.
func TestWriteEdgesRefuses(t *testing.T) {
	for _, label := range []string{"a\tb", "a,b", "a\n", "", "a\x00", "\xff", "\ufeffa", " a", "1 2", "\x1b[31m"} {
		g, err := New([]string{label, "c"}, []Edge{{0, 1, 1}}, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteEdges(&bytes.Buffer{}, g); err == nil {
			t.Errorf("label %q was written", label)
		}
	}
	g, err := New([]string{"#a", "c"}, []Edge{{0, 1, 1}}, true)
	if err == nil {
		err = WriteEdges(&bytes.Buffer{}, g)
	}
	if err == nil {
		t.Error("a comment was written as an edge")
	}
}

// Labels that look like comments, numbers or the names of columns, or have white space, are written as a file that
// loads as the same graph.
func TestWriteEdgesOfOddLabels(t *testing.T) {
	for name, tc := range map[string]struct {
		text     string
		directed bool
		want     string
	}{
		"names of columns":       {"1 0\nA !\n", false, "0\t1\n!\tA\n"},
		"both ways":              {"1 0\nA !\n! A\n", true, "1\t0\n!\tA\nA\t!\n"},
		"a comment":              {"a #b\n0 a\n", false, "0\ta\na\t#b\n"},
		"a comment, directed":    {"a #b\n", true, "a\t#b\n"},
		"spaces":                 {"Ann Lee,Cid\nCid,d;e\n", false, "Ann Lee,Cid\nCid,d;e\n"},
		"spaces and weights":     {"Ann Lee,Cid,2\nx,x,1\n", false, "Ann Lee,Cid,2\nx,x,1\n"},
		"wide spaces":            {"a\u00a0b;c\n", false, "a\u00a0b,c\n"},
		"quotes and numbers":     {"\"a\" 1e5\n'b NaN\n", false, "\"a\"\t1e5\n'b\tNaN\n"},
		"a comment in a column":  {"Ann Lee,#b\n", false, "Ann Lee,#b\n"},
		"two words without edge": {"a 1\nb 2\n", false, "1\ta\n2\tb\n"},
	} {
		g, _, err := Load(write(t, "g", []byte(tc.text)), LoadOptions{Directed: tc.directed})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var buf bytes.Buffer
		if err := WriteEdges(&buf, g); err != nil || buf.String() != tc.want {
			t.Errorf("%s: written as %q, %v; want %q", name, buf.String(), err, tc.want)
		}
		back, _, err := Load(write(t, "g", buf.Bytes()), LoadOptions{Directed: tc.directed})
		if err != nil || !reflect.DeepEqual(back, g) {
			t.Errorf("%s: %q is another graph (%v)", name, buf.String(), err)
		}
	}
}

// Labels are printed: characters that a terminal obeys, or that turn the direction of writing, are refused.
func TestLabelsThatATerminalObeys(t *testing.T) {
	for _, label := range []string{"\x1b[31mred", "a\x07", "\x7f", "a\u009b31m", "\u202eevil", "a\u2066b", "a\u200f", "\u200ea",
		"\u061ca", "a\u200b", "\u2060a", "\ufeff2"} {
		_, _, err := Load(write(t, "g", []byte("1 2\n3 "+label+"\n")), LoadOptions{})
		if err == nil || !strings.Contains(err.Error(), "g:2: label") || CheckLabel(err.Error()) != nil {
			t.Errorf("%q: error %v", label, err)
		}
	}
	if CheckLabel("a\u2028b") == nil {
		t.Error("a label may end the line")
	}
	for _, label := range []string{"é", "中文", "👩\u200d💻", "a\u200cb", "a\u00a0b"} {
		if err := CheckLabel(label); err != nil {
			t.Error(err)
		}
	}
}

// Weights on some lines only are a mistake that nobody would see.
func TestWeightsOnSomeLines(t *testing.T) {
	for text, say := range map[string]string{
		"1 2\n# x\n2 3 4\n":   "g:3: this edge has a weight, that of line 1 has no weight: give all edges a weight, or none",
		"\n1 2 4\n2 3\n3 4\n": "g:3: this edge has no weight, that of line 2 has a weight: give all edges a weight, or none",
		"1 1 4\n2 3\n":        "g:2: this edge has no weight, that of line 1 has a weight: give all edges a weight, or none",
	} {
		_, _, err := Load(write(t, "g", []byte(text)), LoadOptions{})
		if err == nil || !strings.HasSuffix(err.Error(), say) {
			t.Errorf("%q: error %v, want %q", text, err, say)
		}
	}
}

// Files of random edges as people have them: sorted by node, in any order, and gzipped.
//
//	go test ./graph -run xxx -bench Load -benchmem
func BenchmarkLoad(b *testing.B) {
	const edges = 5_000_000
	rng := rand.New(rand.NewPCG(1, 1))
	pairs := make([][2]int32, edges)
	for i := range pairs {
		pairs[i] = [2]int32{rng.Int32N(edges / 5), rng.Int32N(edges / 5)}
	}
	write := func() []byte {
		var text []byte
		for _, p := range pairs {
			text = fmt.Appendf(text, "%d\t%d\n", p[0], p[1])
		}
		return text
	}
	shuffled := write()
	slices.SortFunc(pairs, func(p, q [2]int32) int { return cmp.Or(cmp.Compare(p[0], q[0]), cmp.Compare(p[1], q[1])) })
	sorted := write()
	var gzipped bytes.Buffer
	z := gzip.NewWriter(&gzipped)
	_, _ = z.Write(sorted)
	_ = z.Close()
	for _, file := range []struct {
		name string
		text []byte
	}{{"sorted", sorted}, {"shuffled", shuffled}, {"gzipped", gzipped.Bytes()}} {
		b.Run(file.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "edges")
			if err := os.WriteFile(path, file.text, 0o666); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(sorted)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Load(path, LoadOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What is read is a graph, and what is written of it is read as the same graph.
func FuzzEdgeList(f *testing.F) {
	for _, text := range []string{"1 2 1\n2 3 0.5\r\n# x\n", "a;b;1e300\n", "x, y\ny,y\n", "7 007\n-0 +0\n",
		"a \ufeffb\n", "1,2 0.5", "1 0\nA !",
		"a #b\n", "Ann Lee,d;e\n", "a\u00a0b;c;2\n", "a \x1b[0m\n", "1 2\n2 3 4\n"} {
		f.Add(text, false)
		f.Add(text, true)
	}
	read := func(text string, directed bool) (*Graph, error) {
		b := newBuilder(directed)
		if err := readEdgeList(strings.NewReader(text), "g", b); err != nil {
			return nil, err
		}
		return b.graph("g")
	}
	f.Fuzz(func(t *testing.T, text string, directed bool) {
		g, err := read(text, directed)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "g:") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q: error %v", text, err)
			}
			return
		}
		if g.Edges() == 0 || g.Nodes() < 2 {
			t.Fatalf("%q became a graph of %d nodes", text, g.Nodes())
		}
		var buf bytes.Buffer
		if err := WriteEdges(&buf, g); err != nil {
			t.Fatalf("%q cannot be written: %v", text, err)
		}
		back, err := read(buf.String(), directed)
		if err != nil || !reflect.DeepEqual(back, g) {
			t.Fatalf("%q was written as %q, which is another graph (%v)", text, buf.String(), err)
		}
	})
}
