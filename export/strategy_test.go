package export

import (
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/strategy"
)

// A strategy comes from its matrix, or from its parameters where there is none.
func TestStrategy(t *testing.T) {
	c, err := intact(t, export(t)).Strategy(0)
	if err != nil || !mat.EqualApprox(strategy.GramOf(c), product2(matrixC), 1e-15) {
		t.Errorf("%v, %v", c, err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	m := manifest(3)
	m.Strategy.Parameters = strategy.AntiPGD(3).Parameters()
	if err := WriteDir(dir, m, []File{Bytes("nodes.csv", nil)}, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	want := strategy.GramOf(strategy.AntiPGD(3))
	if c, err = intact(t, dir).Strategy(0); err != nil || !mat.Equal(strategy.GramOf(c), want) {
		t.Errorf("%v, %v", c, err)
	}
	dir = filepath.Join(t.TempDir(), "nodes")
	if err := WriteDir(dir, perNode(1, 0), []File{stack("C.npy", 2), stack("C_inv.npy", 2)}, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	e := intact(t, dir)
	if c, err = e.Strategy(0); err != nil || strategy.GramOf(c).At(1, 1) != 4 {
		t.Errorf("%v, %v", c, err)
	}
	if c, err = e.Strategy(2); err == nil {
		t.Errorf("node 2 of 2 has the strategy %v", c)
	}
}

func product2(c *mat.Dense) *mat.Dense {
	var x mat.Dense
	x.Mul(c.T(), c)
	return &x
}

// Any file of an export that is another one makes another digest.
func TestExportDigest(t *testing.T) {
	first, err := intact(t, export(t)).Digest()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := intact(t, export(t)).Digest(); err != nil || again != first {
		t.Errorf("%s, then %s, %v", first, again, err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	files := []File{NPY("C.npy", matrixC), NPY("C_inv.npy", matrixC)}
	if err := WriteDir(dir, manifest(2), files, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if other, err := intact(t, dir).Digest(); err != nil || other == first {
		t.Errorf("%s of another inverse, %v", other, err)
	}
}

func TestNodes(t *testing.T) {
	write := func(lines string) *Export {
		dir := filepath.Join(t.TempDir(), "out")
		all := []File{stack("C.npy", 2), stack("C_inv.npy", 2), Bytes("nodes.csv", []byte(lines))}
		if err := WriteDir(dir, perNode(1, 0), all, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		return intact(t, dir)
	}
	nodes, err := write("index,label,degree\n0,a,1\n1,\"b,c\",2\n").Nodes()
	if err != nil || len(nodes) != 2 || nodes["a"] != (NodeLine{0, 1}) || nodes["b,c"] != (NodeLine{1, 2}) {
		t.Errorf("%v, %v", nodes, err)
	}
	for name, tc := range map[string]struct{ lines, say string }{
		"empty":        {"", "0 nodes, where 2"},
		"too few":      {"index,label,degree\n0,a,1\n", "1 nodes, where 2"},
		"too many":     {"index,label,degree\n0,a,1\n1,b,1\n2,c,1\n", "line 4 is none"},
		"twice":        {"index,label,degree\n0,a,1\n1,a,1\n", "line 3 is none"},
		"out of order": {"index,label,degree\n1,a,1\n0,b,1\n", "line 2 is none"},
		"no degree":    {"index,label,degree\n0,a,x\n1,b,1\n", "line 2 is none"},
		"no CSV":       {"index,label,degree\n0,\"a,1\n", "nodes.csv: "},
	} {
		if nodes, err := write(tc.lines).Nodes(); err == nil || !strings.Contains(err.Error(), tc.say) {
			t.Errorf("%s: %v, %v", name, nodes, err)
		}
	}
	if nodes, err := intact(t, export(t)).Nodes(); err == nil {
		t.Errorf("nodes of a shared strategy: %v", nodes)
	}
}
