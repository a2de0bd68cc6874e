package graph

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/npy"
)

func TestLoadGossip(t *testing.T) {
	g := builtin(t, "path:3", 0)
	want, err := NewGossip(g, Uniform)
	if err != nil {
		t.Fatal(err)
	}
	var mtx, npyFile, csv bytes.Buffer
	if err := WriteMatrixMarket(&mtx, want.Matrix()); err != nil {
		t.Fatal(err)
	}
	dense := want.Matrix().ToDense()
	if err := npy.Write(&npyFile, []int{3, 3}, dense.RawMatrix().Data); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		row := dense.RawRowView(i)
		fmt.Fprintf(&csv, "%.17g, %.17g,%.17g\r\n", row[0], row[1], row[2])
	}
	for file, content := range map[string][]byte{"w.mtx": mtx.Bytes(), "w.npy": npyFile.Bytes(), "w.csv": csv.Bytes(),
		"w.mtx.gz": []byte(gzipped(mtx.String()))} {
		w, err := LoadGossip(write(t, file, content), g)
		if err != nil || !mat.Equal(w.Matrix(), want.Matrix()) {
			t.Errorf("%s: %v", file, err)
		}
	}
	exchange, err := LoadGossip(write(t, "x.mtx", []byte("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n")), nil)
	if err != nil || !mat.Equal(exchange.Matrix(), mat.NewDense(2, 2, []float64{0, 1, 1, 0})) {
		t.Errorf("an exchange, stored as one entry: %v", err)
	}
	support, err := want.Support()
	if err != nil || !mat.Equal(support.Adjacency(), g.Adjacency()) || support.Directed() {
		t.Errorf("support %v, %v", support, err)
	}
	directed, err := (&Gossip{w: NewCSRFromDense(mat.NewDense(2, 2, []float64{0.5, 0.5, 0, 1}))}).Support()
	if err != nil || !directed.Directed() || directed.Edges() != 1 {
		t.Errorf("directed support %v, %v", directed, err)
	}
}

func TestLoadGossipRefuses(t *testing.T) {
	g := builtin(t, "path:3", 0)
	for name, tc := range map[string]struct{ file, content, say string }{
		"row sum":         {"w.csv", "1,0,0\n0.5,0.5,0\n0,0.5,0.4999999", "row 2 (node 2) sums to 0.9999999"},
		"not square":      {"w.csv", "1,0,0\n0,1,0\n", "2 rows and 3 columns"},
		"ragged":          {"w.csv", "1,0,0\n0,1\n", ":2: 2 numbers, but 3"},
		"text":            {"w.csv", "1,0,x\n", `:1: "x"`},
		"empty":           {"w.csv", "", "0 rows"},
		"negative":        {"w.csv", "2,-1,0\n0,1,0\n0,0,1\n", "entry (0,1) is -1"},
		"NaN":             {"w.csv", "NaN,0,0\n0,1,0\n0,0,1\n", "entry (0,0) is NaN"},
		"infinite":        {"w.csv", "inf,0,0\n0,1,0\n0,0,1\n", "entry (0,0) is +Inf"},
		"size":            {"w.csv", "1,0\n0,1\n", "2 rows, the graph 3 nodes"},
		"support":         {"w.csv", "0.5,0,0.5\n0,1,0\n0,0,1\n", "node 0 averages over 2"},
		"unknown format":  {"w.txt", "1", ".npy, .mtx or .csv"},
		"npy is text":     {"w.npy", "1", "does not start"},
		"mtx empty rows":  {"w.mtx", "%%MatrixMarket matrix coordinate real general\n900000000 900000000 1\n1 1 1\n", "cannot fill"},
		"mtx entry twice": {"w.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 1\n1 1 1\n", "twice"},
		"mtx text":        {"w.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 x\n", "not a number"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := LoadGossip(write(t, tc.file, []byte(tc.content)), g)
			if err == nil || !strings.Contains(err.Error(), tc.say) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one with %q", err, tc.say)
			}
		})
	}
}
