package graph

import (
	"bytes"
	"errors"
	"testing"
)

func TestWriteNodes(t *testing.T) {
	g, err := New([]string{"a b", "c,d", `e"`}, []Edge{{0, 1, 1}}, false)
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	const want = "index,label,degree\n0,a b,1\n1,\"c,d\",1\n2,\"e\"\"\",0\n"
	if err := WriteNodes(&buf, g); err != nil || buf.String() != want {
		t.Errorf("%q, %v; want %q", buf.String(), err, want)
	}
}

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

var errFull = errors.New("no space")

func TestWritersReportErrors(t *testing.T) {
	g := builtin(t, "path:3", 0)
	for name, err := range map[string]error{
		"nodes": WriteNodes(full{}, g), "edges": WriteEdges(full{}, g), "matrix": WriteMatrixMarket(full{}, g.Adjacency()),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
