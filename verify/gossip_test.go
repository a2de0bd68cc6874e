package verify_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/npy"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/verify"
	"mafalda/workload"
)

// The gossip matrix of an export belongs to its network: another one is noticed, even if its hash is in the manifest.
// An export without one, as for very large networks, has no such check; one without a contract is not whole.
func TestVerifyGossip(t *testing.T) {
	const n = 5
	other := make([]float64, n*n)
	for i := range n {
		other[i*n+i] = 1
	}
	for name, tc := range map[string]struct {
		matrix []float64
		check  string // that fails
	}{"of another network": {other, "weights"}, "of none": {make([]float64, n*n), "gossip"}, "without": {nil, ""}, "without words": {nil, "contract"}} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			exported{network: graph.NetworkOptions{Source: "cycle:5"}, options: plan.Options{NoBaselines: true}}.save(t, dir)
			_, m := readGeneric(t, dir)
			files, path := m["files"].(map[string]any), filepath.Join(dir, "W.npy")
			if tc.matrix == nil {
				delete(files, "W.npy")
				if tc.check == "contract" {
					delete(m, "contract")
				}
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			} else {
				f := must(os.Create(path))
				if err := npy.Write(f, []int{n, n}, tc.matrix); err != nil {
					t.Fatal(err)
				}
				f.Close()
				sum := sha256.Sum256(must(os.ReadFile(path)))
				files["W.npy"] = hex.EncodeToString(sum[:])
			}
			writeGeneric(t, dir, m)
			report, err := verified(t, dir, verify.NetworkFiles{})
			var failed []string
			for _, c := range report.Failures() {
				failed = append(failed, c.Name)
			}
			want := []string{tc.check}
			if tc.check == "" {
				want = nil
			}
			if err != nil || !slices.Equal(failed, want) {
				t.Errorf("%v, failed: %v, want %v", err, failed, want)
			}
		})
	}
}

// Words of another version may differ, but not promise that batches in turn keep records within k steps where T > k·b.
func TestVerifyContractOfLongRuns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	exported{problem: plan.Problem{Workload: workload.Spec{Kind: workload.Prefix}, Schema: must(participation.NewCyclic(8, 2, 2))}, options: plan.Options{NoBaselines: true}}.save(t, dir)
	_, m := readGeneric(t, dir)
	m["version"] = "0.1"
	for words, ok := range map[string]bool{"other words": true,
		"keeps them: step t uses batch t mod 2, so that a record is in 2 steps at most, 2 apart.": false,
		"A record may take part in every step, 2 in all.":                                         false} {
		m["contract"] = []string{words}
		writeGeneric(t, dir, m)
		r, err := verified(t, dir, verify.NetworkFiles{})
		if failed := r.Failures(); err != nil || r.OK() != ok || !ok && failed[0].Name != "contract" {
			t.Errorf("%s: %v, %+v", words, err, failed)
		}
	}
}

// Every network that is met in training is in the export, in its place; of random neighbours there are none.
func TestExportedGossip(t *testing.T) {
	turns := filepath.Join(t.TempDir(), "turns.txt")
	if err := os.WriteFile(turns, []byte("a b\n\nb c\nc d\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	edges := filepath.Join(t.TempDir(), "g.edges")
	if err := os.WriteFile(edges, []byte("a b\nb c\nc d\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		network  graph.NetworkOptions
		workload workload.Spec
		matrices int
	}{
		"one":               {graph.NetworkOptions{Source: edges}, workload.Spec{}, 1},
		"in turn":           {graph.NetworkOptions{Source: edges, GraphSequence: turns}, workload.Spec{}, 2},
		"failures":          {graph.NetworkOptions{Source: edges}, workload.Spec{Changes: workload.Changes{NodeFailures: 0.1}}, 1},
		"random neighbours": {graph.NetworkOptions{Source: edges}, workload.Spec{Changes: workload.Changes{RandomNeighbours: 2}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			exported{network: tc.network, problem: plan.Problem{Workload: tc.workload}, options: plan.Options{NoBaselines: true}}.save(t, dir)
			e := must(export.Load(dir))
			all, err := e.Gossip()
			if err != nil || len(all) != tc.matrices || e.Manifest.HasGossip() != (tc.matrices > 0) {
				t.Fatalf("%d matrices, %v", len(all), err)
			}
			n := must(graph.LoadNetwork(t.Context(), tc.network))
			for i, w := range all {
				want := n.Gossip.Matrix()
				if n.Sequence != nil {
					want = n.Sequence.Matrices[i]
				}
				if !w.Equal(want) {
					t.Errorf("matrix %d is another", i)
				}
			}
		})
	}
}
