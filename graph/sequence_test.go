package graph

import (
	"bytes"
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sequenceFile writes a file of a sequence over the path a - b - c - d, and returns its name and the path.
func sequenceFile(t testing.TB, text string) (string, *Graph) {
	t.Helper()
	g, err := New([]string{"a", "b", "c", "d"}, []Edge{{0, 1, 1}, {1, 2, 1}, {2, 3, 1}}, false)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "turns.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, g
}

// Blocks are separated by empty lines, however many, whatever the line ends; comments and blank lines at the ends are
// no blocks. Who is in none of a block's edges is alone.
func TestLoadSequence(t *testing.T) {
	const text = "\n\n# first\na b\nb a\n\n\n# second, with a comment inside\nc d\n% more\n  \nb b\n\n\n# the end\n\n"
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte(text)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"unix": text, "windows": strings.ReplaceAll(text, "\n", "\r\n"),
		"no end": strings.TrimRight(text, "\n"), "byte order mark": byteOrderMark + text, "gzip": zipped.String()} {
		path, g := sequenceFile(t, content)
		s, err := LoadSequence(path, g, Uniform)
		if err != nil || len(s.Matrices) != 3 {
			t.Fatalf("%s: %+v, %v", name, s, err)
		}
		half := func(w *CSR, i, j int) bool { return w.At(i, j) == 0.5 && w.At(i, i) == 0.5 }
		alone := func(w *CSR, i int) bool { return w.At(i, i) == 1 && w.RowNNZ(i) == 1 }
		if w := s.Matrices; !half(w[0], 0, 1) || !half(w[0], 1, 0) || !alone(w[0], 2) || !alone(w[0], 3) ||
			!half(w[1], 2, 3) || !alone(w[1], 0) || !alone(w[2], 1) || w[2].NNZ() != 4 {
			t.Errorf("%s: %v", name, w)
		}
		if s.Duplicates != 1 || s.SelfLoops != 1 || s.Connected || s.Source != "turns.txt" || len(s.SHA256) != 64 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// Every scheme makes of a block what it makes of a graph of its edges on all nodes.
func TestSequenceIsGraphByGraph(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		scheme := Scheme(rapid.IntRange(0, 3).Draw(r, "scheme"))
		weighted := rapid.Bool().Draw(r, "weighted")
		var text strings.Builder
		var want []*CSR
		labels := []string{"a", "b", "c", "d"}
		all := map[[2]int]bool{}
		for range rapid.IntRange(1, 4).Draw(r, "blocks") {
			var edges []Edge
			for i := range 4 {
				for j := i + 1; j < 4; j++ {
					if !rapid.Bool().Draw(r, "edge") {
						continue
					}
					e := Edge{i, j, 1}
					text.WriteString(labels[i] + " " + labels[j])
					if weighted {
						e.Weight = 2
						text.WriteString(" 2")
					}
					text.WriteString("\n")
					edges = append(edges, e)
					all[[2]int{i, j}] = true
				}
			}
			if len(edges) == 0 {
				text.WriteString("a a" + map[bool]string{true: " 1"}[weighted] + "\n")
			}
			text.WriteString("\n")
			g, err := New(labels, edges, false)
			if err != nil {
				r.Fatal(err)
			}
			w, err := NewGossip(g, scheme)
			if err != nil {
				r.Fatal(err)
			}
			want = append(want, w.Matrix())
		}
		path, g := sequenceFile(t, text.String())
		s, err := LoadSequence(path, g, scheme)
		if err != nil || len(s.Matrices) != len(want) {
			r.Fatalf("%+v, %v of %q", s, err, text.String())
		}
		for i, w := range want {
			if s.Matrices[i].NNZ() != w.NNZ() {
				r.Fatalf("block %d has other entries", i)
			}
			w.DoNonZero(func(u, v int, x float64) {
				if got := s.Matrices[i].At(u, v); math.Abs(got-x) > 1e-15 {
					r.Fatalf("block %d: W[%d,%d] = %v, want %v", i, u, v, got, x)
				}
			})
		}
		var union []Edge
		for e := range all {
			union = append(union, Edge{e[0], e[1], 1})
		}
		together, err := New(labels, union, false)
		if err != nil || s.Connected != together.StronglyConnected() {
			r.Fatalf("connected: %v, %v", s.Connected, err)
		}
	})
}

func TestBadSequences(t *testing.T) {
	for name, tc := range map[string]struct{ text, say string }{
		"unknown node":    {"a b\n\nb x\n", `turns.txt:3: the graph has no node "x"`},
		"quotes":          {"\"a\" b\n", `the graph has no node`},
		"empty":           {"\n# nothing\n\n", "empty: give an edge list for every step"},
		"three fields":    {"a b c d\n", `turns.txt:1: "a b c d" is no edge`},
		"mixed weights":   {"a b 2\n\nb c\n", "turns.txt:3: this edge has no weight, that of line 1 has a weight"},
		"another weight":  {"a b 2\nb a 3\n", "turns.txt:2: edge a b has the weight 3, but 2 in line 1"},
		"negative weight": {"a b -1\n", "must be positive"},
		"binary":          {"a\x00b c\n", "not text"},
	} {
		path, g := sequenceFile(t, tc.text)
		if _, err := LoadSequence(path, g, Uniform); err == nil || !strings.Contains(err.Error(), tc.say) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, tc.say)
		}
	}
	path, _ := sequenceFile(t, "a b\n")
	if _, err := LoadNetwork(t.Context(), NetworkOptions{Source: "florentine", GraphSequence: path}); err == nil {
		t.Error("nodes of another graph are accepted")
	}
	if _, err := LoadNetwork(t.Context(), NetworkOptions{Source: "florentine", GraphSequence: path + "x"}); err == nil {
		t.Error("no file is accepted")
	}
}

// A network with a sequence says where it came from, and has another digest for another sequence.
func TestSequenceOfNetwork(t *testing.T) {
	load := func(text string) *Network {
		path := filepath.Join(t.TempDir(), "turns.txt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := LoadNetwork(t.Context(), NetworkOptions{Source: "path:3", GraphSequence: path})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	one, other := load("0 1\n\n1 2\n"), load("1 2\n\n0 1\n")
	if one.Digest() == other.Digest() || one.Origin.Same(&other.Origin) || one.Origin.SequenceFile != "turns.txt" ||
		slices.ContainsFunc(one.Notes, func(n string) bool { return strings.Contains(n, "warning") }) {
		t.Errorf("%+v, %v", one.Origin, one.Notes)
	}
	if n := load("0 1\n"); !strings.Contains(strings.Join(n.Notes, "\n"), "do not connect all nodes") {
		t.Errorf("no warning: %v", n.Notes)
	}
}

// Edges have a direction if the graph's edges do.
func TestDirectedSequence(t *testing.T) {
	dir := t.TempDir()
	edges, turns := filepath.Join(dir, "g.txt"), filepath.Join(dir, "turns.txt")
	for path, text := range map[string]string{edges: "a b\nb c\nc a\n", turns: "a b\n\nb c\n\nc a\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n, err := LoadNetwork(t.Context(), NetworkOptions{Source: edges, GraphSequence: turns, Directed: true})
	if err != nil || len(n.Sequence.Matrices) != 3 || !n.Sequence.Connected {
		t.Fatalf("%+v, %v", n, err)
	}
	if w := n.Sequence.Matrices[0]; w.At(0, 1) != 0.5 || w.At(1, 0) != 0 || w.At(1, 1) != 1 {
		t.Errorf("%v", w)
	}
}
