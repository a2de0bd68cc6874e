package graph

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/npy"
)

// oneLine fails unless an error is one line that starts with the source, and shows no characters that a terminal obeys.
func oneLine(t *testing.T, source string, err error) {
	t.Helper()
	if text := err.Error(); !strings.HasPrefix(text, source) || strings.Contains(text, "\n") ||
		CheckLabel(text) != nil {
		t.Fatalf("error %q", text)
	}
}

// large reports whether a MatrixMarket file says that it has many rows: it may, and they take a while.
func large(text string) bool {
	for word := range strings.FieldsSeq(text) {
		if n, err := strconv.ParseFloat(word, 64); err == nil && n > 10_000 {
			return true
		}
	}
	return false
}

// A graph that is read from a MatrixMarket file is read again from what is written of it.
func FuzzMatrixMarket(f *testing.F) {
	for _, text := range []string{
		"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n",
		"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 0.5\n2 1 .5\n",
		"%%MatrixMarket matrix array integer general\n2 2\n0\n1\n1\n0\n",
		"%%MatrixMarket matrix array real symmetric\n2 2\n0\n3e0\n0\n",
		"%%matrixmarket MATRIX coordinate double general\n% x\n\n3 3 1\n1 2 1e300\n",
		"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 \x1b[1m 1\n",
	} {
		f.Add(text, false)
		f.Add(text, true)
	}
	read := func(text string, directed bool) (*Graph, error) {
		s, err := readMarket(strings.NewReader(text), "g")
		if err != nil {
			return nil, err
		}
		g, _, err := s.graph("g", 1, directed)
		return g, err
	}
	f.Fuzz(func(t *testing.T, text string, directed bool) {
		if large(text) {
			return
		}
		g, err := read(text, directed)
		if err != nil {
			oneLine(t, "g:", err)
			return
		}
		var buf bytes.Buffer
		if err := WriteMatrixMarket(&buf, g.Adjacency()); err != nil {
			t.Fatal(err)
		}
		back, err := read(buf.String(), true)
		if err != nil || !reflect.DeepEqual(back.Adjacency(), g.Adjacency()) ||
			!reflect.DeepEqual(back.Labels(), g.Labels()) {
			t.Fatalf("%q was written as %q, which is another graph (%v)", text, buf.String(), err)
		}
	})
}

// A gossip matrix that is read is stochastic, and is read again from what is written of it.
func FuzzGossipMatrix(f *testing.F) {
	var array bytes.Buffer
	if err := npy.Write(&array, []int{2, 2}, []float64{0.5, 0.5, 0.25, 0.75}); err != nil {
		f.Fatal(err)
	}
	kinds := []string{"w.mtx", "w.csv", "w.npy"}
	f.Add([]byte("%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 0.5\n2 1 0.5\n2 2 0.5\n"), 0)
	f.Add([]byte("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 1 0\n"), 0)
	f.Add([]byte("# x\n0.5, 0.5\n0,1\n"), 1)
	f.Add([]byte("1,0\n0,1\n0,1\n"), 1)
	f.Add([]byte("nan"), 1)
	f.Add(array.Bytes(), 2)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte, kind int) {
		if kind < 0 || kind >= len(kinds) || kind == 0 && large(string(content)) {
			return
		}
		path := filepath.Join(dir, strconv.Itoa(os.Getpid())+kinds[kind])
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		if g, _, err := Load(path, LoadOptions{Directed: true}); err == nil && g.Edges() == 0 {
			t.Fatalf("%q became a graph without edges", content)
		} else if err != nil && !errors.Is(err, npy.ErrFormat) {
			oneLine(t, path, err)
		}
		w, err := LoadGossip(path, nil)
		if err != nil {
			oneLine(t, path, err)
			return
		}
		var buf bytes.Buffer
		if err := WriteMatrixMarket(&buf, w.Matrix()); err != nil {
			t.Fatal(err)
		}
		back, err := ReadMatrixMarket(&buf, "g")
		if err != nil || !mat.Equal(back, w.Matrix()) {
			t.Fatalf("%q came back as another matrix (%v)", content, err)
		}
	})
}
