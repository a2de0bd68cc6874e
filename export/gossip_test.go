package export

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mafalda/graph"
	"mafalda/workload"
)

// ring is the gossip of n nodes in a circle, each of which gives the next one a share.
func ring(n int, share float64) *graph.CSR {
	indptr := make([]int, 1, n+1)
	var indices []int
	var data []float64
	for i := range n {
		if next := (i + 1) % n; next > i {
			indices, data = append(indices, i, next), append(data, 1-share, share)
		} else {
			indices, data = append(indices, next, i), append(data, share, 1-share)
		}
		indptr = append(indptr, len(indices))
	}
	return graph.NewCSR(n, n, indptr, indices, data)
}

// write exports gossip matrices, and returns the folder and the name of their file.
func write(t testing.TB, all []*graph.CSR) (dir, name string) {
	t.Helper()
	f, written := Gossip(all)
	if !written {
		t.Fatal("there is no file")
	}
	n, _ := all[0].Dims()
	m := manifest(2)
	m.Graph.Nodes = n
	if len(all) > 1 {
		s, err := workload.NewSequence(all, "turns")
		if err != nil {
			t.Fatal(err)
		}
		m.WorkloadSpec = &workload.Spec{Changes: workload.Changes{GraphSequence: s}}
	}
	dir = filepath.Join(t.TempDir(), "out")
	if err := WriteDir(dir, m, append([]File{f}, goodFiles...), WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return dir, f.Name
}

// What is read is what was written, to the last bit, in both files, of one matrix and of several.
func TestGossipRoundTrip(t *testing.T) {
	for name, tc := range map[string]struct {
		nodes, matrices int
		file            string
	}{"dense": {7, 1, "W.npy"}, "layers": {5, 3, "W.npy"}, "sparse": {2100, 1, "W.mtx"}, "blocks": {1500, 2, "W.mtx"}} {
		t.Run(name, func(t *testing.T) {
			var all []*graph.CSR
			for i := range tc.matrices {
				all = append(all, ring(tc.nodes, 1/float64(3+i)))
			}
			dir, file := write(t, all)
			back, err := intact(t, dir).Gossip()
			if err != nil || len(back) != tc.matrices || file != tc.file {
				t.Fatalf("%s: %d matrices, %v", file, len(back), err)
			}
			for i := range all {
				if !all[i].Equal(back[i]) {
					t.Errorf("matrix %d is another", i)
				}
			}
		})
	}
}

// Very large matrices stay out.
func TestGossipTooLarge(t *testing.T) {
	w := ring(MaxGossipEntries/4, 0.5)
	if _, written := Gossip([]*graph.CSR{w, w}); !written {
		t.Error("a matrix that is not too large is not written")
	}
	if _, written := Gossip([]*graph.CSR{w, w, w}); written {
		t.Error("a matrix that is too large is written")
	}
}

// A file that is not the manifest's, or holds something else, is refused; a missing one is no error.
func TestGossipIsChecked(t *testing.T) {
	dir, name := write(t, []*graph.CSR{ring(5, 0.5)})
	e := intact(t, dir)
	e.Manifest.Graph.Nodes = 6
	if _, err := e.Gossip(); err == nil || !strings.Contains(err.Error(), "1 matrices of 5 nodes") {
		t.Errorf("of other nodes: %v", err)
	}
	e.Manifest.Graph.Nodes = 5
	if err := os.Truncate(filepath.Join(dir, name), 100); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Gossip(); err == nil || !strings.Contains(err.Error(), "not the file") {
		t.Errorf("of another file: %v", err)
	}
	if all, err := intact(t, export(t)).Gossip(); all != nil || err != nil {
		t.Errorf("where there is none: %v, %v", all, err)
	}
	dir, _ = write(t, []*graph.CSR{ring(5, 2)})
	if _, err := intact(t, dir).Gossip(); !errors.Is(err, graph.ErrGossip) {
		t.Errorf("negative entries: %v", err)
	}
}

// The blocks of a block diagonal matrix are those that it was made of.
func TestBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, count := rapid.IntRange(2, 6).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "count")
		var all []*graph.CSR
		for range count {
			all = append(all, ring(n, rapid.Float64Range(0.1, 0.9).Draw(t, "share")))
		}
		whole := graph.Blocks(all)
		back, err := whole.Split(count)
		if err != nil {
			t.Fatal(err)
		}
		for b := range all {
			for i := range n {
				for j := range n {
					if back[b].At(i, j) != all[b].At(i, j) || whole.At(b*n+i, b*n+j) != all[b].At(i, j) {
						t.Fatalf("block %d has another entry (%d,%d)", b, i, j)
					}
				}
			}
		}
		if _, err := ring(count+1, 0.5).Split(count + 1); err == nil {
			t.Fatal("a matrix without blocks was split")
		}
	})
}
