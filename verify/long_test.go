package verify_test

import (
	"path/filepath"
	"slices"
	"testing"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/internal/rounding"
	"mafalda/measure"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/verify"
	"mafalda/workload"
)

// longExport writes a banded inverse for the prefix workload, with a multiple of the lower bound for k participations, and
// returns its folder.
func longExport(t *testing.T, steps, k int, ofBound float64) string {
	inverse, err := strategy.NewBandedInverse(steps, []float64{1, -0.5})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := participation.NewCyclic(steps, k, steps/k)
	if err != nil {
		t.Fatal(err)
	}
	c, err := strategy.Normalize(inverse, schema)
	if err != nil {
		t.Fatal(err)
	}
	responses := func(steps int, _ bool) (factorize.Response, error) {
		return workload.CentralizedResponse(workload.Spec{Kind: workload.Prefix}, nil, steps)
	}
	q, err := factorize.Evaluate(c, factorize.Long(responses), schema)
	if err != nil {
		t.Fatal(err)
	}
	m := &export.Manifest{Workload: "prefix", WorkloadSpec: &workload.Spec{Kind: workload.Prefix}, Steps: steps,
		Gram: &export.Gram{Method: "exact"}, Participation: export.DescribeSchema("", schema), Strategy: export.Describe(c),
		SensSquared: q.Sensitivity.Squared, SensKind: q.Sensitivity.Kind(), SquaredError: q.SquaredError,
		Loss: q.Loss, RMSE: q.RMSE(1, float64(steps)), Status: "converged"}
	if ofBound > 0 {
		bound, err := measure.LongBound(t.Context(), responses, schema)
		if err != nil || !(bound > 0 && bound < q.Loss) {
			t.Fatalf("bound %v of the loss %v, %v", bound, q.Loss, err)
		}
		m.LowerBound = ofBound * bound
		m.Gap = rounding.DivUp(m.Loss-m.LowerBound, m.LowerBound)
	}
	m.Contract = m.DescribeContract()
	dir := filepath.Join(t.TempDir(), "out")
	if err := export.WriteDir(dir, m, nil, export.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Many steps need no matrices: Verify asked for 2 TB of memory for 100,000 of them. Nor does an export of parameters
// for the prefix workload have any file beside its manifest, which was refused for listing none.
func TestVerifyManySteps(t *testing.T) {
	r, err := verified(t, longExport(t, 100_000, 1, 0), verify.NetworkFiles{})
	if err != nil || !r.OK() || !slices.ContainsFunc(r.Checks, func(c verify.Check) bool { return c.Name == "loss" }) {
		t.Errorf("%+v, %v", r, err)
	}
}

// The bound of many steps is proven again: a larger one is refused.
func TestVerifyTheBoundOfManySteps(t *testing.T) {
	for factor, ok := range map[float64]bool{1: true, 0.9: true, 1.001: false} {
		r, err := verified(t, longExport(t, 4200, 6, factor), verify.NetworkFiles{})
		if err != nil || r.OK() != ok || !slices.ContainsFunc(r.Checks, func(c verify.Check) bool {
			return c.Name == "lower bound" && c.OK == ok
		}) {
			t.Errorf("%v times the bound: %+v, %v", factor, r, err)
		}
	}
}

// Of an export of many steps that is refused by its parameters nothing is searched again, which took minutes for T = 5000.
func TestVerifyEndsEarlyOfManySteps(t *testing.T) {
	dir := longExport(t, 1100, 1, 1)
	_, manifest := readGeneric(t, dir)
	manifest["strategy"].(map[string]any)["column_scales"] = []any{1, 2, 3} // of no banded inverse
	writeGeneric(t, dir, manifest)
	r, err := verified(t, dir, verify.NetworkFiles{})
	if err != nil || r.OK() || r.Failures()[0].Name != "cost" || !slices.Contains(r.NotChecked, "loss") ||
		slices.ContainsFunc(r.Checks, func(c verify.Check) bool { return c.Name == "loss" }) {
		t.Errorf("%+v, %v", r, err)
	}
}
