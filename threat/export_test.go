package threat

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/workload"
)

// TestMFDSGDOf: the study and the audit have the strategy of the export, which attacks C_inv as it is in the
// files, if that is the inverse of C.
func TestMFDSGDOf(t *testing.T) {
	g, w := gossip(t, "cycle:4", graph.Uniform)
	load := func(diagonal, inverse float64) *export.Export {
		c, z := mat.NewTriDense(4, mat.Lower, nil), mat.NewTriDense(4, mat.Lower, nil)
		for i := range 4 {
			c.SetTri(i, i, diagonal)
			z.SetTri(i, i, inverse)
		}
		return &export.Export{Dir: filepath.Join("some", "folder"), C: mat.DenseCopyOf(c), Inverse: mat.DenseCopyOf(z),
			Manifest: &export.Manifest{WorkloadSpec: new(workload.Spec), Steps: 4, SensSquared: diagonal * diagonal}}
	}
	e := load(2, 0.5)
	e.Manifest.Strategy.Class = "dense"
	a, err := MFDSGDOf(e, 4)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := MFDSGDOf(e, 5); !errors.Is(err, ErrStrategy) {
		t.Errorf("other steps: %v", err)
	}
	if err := a.CheckNodes(g); err != nil {
		t.Errorf("a shared strategy: %v", err)
	}
	a.origin.nodes = []byte("of nobody")
	if err := a.CheckNodes(g); !errors.Is(err, ErrStrategy) {
		t.Errorf("other nodes: %v", err)
	}
	s := Scenario{w, a, Attacker{Trust: PNDP, Nodes: []int{0}}, every(t, 4)}
	honest, err := Audit(context.Background(), s, 1, AuditOptions{Random: rand.NewPCG(1, 2)})
	if err != nil || !honest.Passed {
		t.Errorf("honest noise: %+v, %v", honest, err)
	}
	weak := load(2, 0.2)
	weak.Manifest.Strategy.Class = "dense"
	if s.Algorithm, err = MFDSGDOf(weak, 4); err != nil {
		t.Fatal(err)
	}
	if r, err := Audit(context.Background(), s, 1, AuditOptions{Random: rand.NewPCG(1, 2)}); !errors.Is(err, ErrStrategy) {
		t.Errorf("an export with less noise than its C promises: %+v, %v", r, err)
	}
	s.Algorithm = a
	r, err := Audit(context.Background(), s, 1, AuditOptions{Random: rand.NewPCG(1, 2), Noising: weak.Inverse})
	if err != nil || r.Passed {
		t.Errorf("nodes with less noise than C promises: %+v, %v", r, err)
	}
}
