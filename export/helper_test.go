package export

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/npy"
	"mafalda/strategy"
	"mafalda/workload"
)

// What the tests of this package share.

func manifest(steps int) *Manifest {
	return &Manifest{Version: "test", Workload: "model", WorkloadSpec: new(workload.Spec), Steps: steps, Participation: Participation{Schema: "single", K: 1, B: steps},
		Strategy: Strategy{Parameters: strategy.Parameters{Class: "dense"}}, SensSquared: 1, SensKind: "exact", SquaredError: 2, Loss: 2, RMSE: 1, LowerBound: 1.9,
		Gap: 0.1, Tolerance: 0.1, Status: "converged", Graph: &graph.Origin{Source: "cycle:5", Nodes: 5, Edges: 5, Gossip: "uniform"}}
}

var (
	matrixC   = mat.NewDense(2, 2, []float64{1, 0, 0.1, 1.0 / 3})
	inverseC  = mat.NewDense(2, 2, []float64{1, 0, -0.3, 3})
	goodFiles = []File{NPY("C.npy", matrixC), NPY("C_inv.npy", inverseC)}
)

func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// export writes an export to a new folder and returns its path.
func export(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	if err := WriteDir(dir, manifest(2), goodFiles, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// intact fails the test unless dir is a whole export.
func intact(t testing.TB, dir string) *Export {
	t.Helper()
	e, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.CheckHashes(); err != nil {
		t.Fatal(err)
	}
	return e
}

// only fails the test unless the folder holds what is named and nothing else.
func only(t testing.TB, dir string, want ...string) {
	t.Helper()
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("%s holds %v, want %v", dir, got, want)
	}
}

// npyTo overwrites a file with a matrix, finite or not.
func npyTo(path string, m *mat.Dense) error {
	var buf bytes.Buffer
	r, c := m.Dims()
	if err := npy.Write(&buf, []int{r, c}, m.RawMatrix().Data); err != nil {
		return err
	}
	return os.WriteFile(path, buf.Bytes(), 0o666)
}
