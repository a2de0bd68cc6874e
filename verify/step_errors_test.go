package verify_test

import (
	"math"
	"path/filepath"
	"testing"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/verify"
)

// The errors of every step sum over all nodes, each with its own strategy: their mean over the steps is the RMSE of the
// manifest. Once node 0's strategy was taken for all nodes.
func TestStepErrorsOfSplits(t *testing.T) {
	for name, split := range map[string]plan.Options{"groups": {Groups: 3}, "per node": {PerNode: true}, "one": {}} {
		dir := filepath.Join(t.TempDir(), "out")
		split.NoBaselines = true
		exported{network: graph.NetworkOptions{Source: "florentine"}, options: split,
			problem: plan.Problem{Schema: must(participation.NewCyclic(12, 3, 4))}}.save(t, dir)
		e, err := export.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		n, err := verify.NetworkOf(t.Context(), e, nil)
		if err != nil {
			t.Fatal(err)
		}
		methods, err := verify.StepErrors(t.Context(), e, n)
		if err != nil || len(methods) != 3 || methods[0].Method != "mafalda" {
			t.Fatal(methods, err)
		}
		var sum float64
		for _, squared := range methods[0].Squared {
			sum += squared / float64(n.Graph.Nodes())
		}
		if got, want := math.Sqrt(sum/12), e.Manifest.RMSE; math.Abs(got-want) > 1e-10*want {
			t.Errorf("%s: RMSE %v over the steps, the manifest says %v", name, got, want)
		}
	}
}
