package verify_test

import (
	"path/filepath"
	"slices"
	"testing"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/verify"
	"mafalda/workload"
)

// Many steps need no matrices: Verify asked for 2 TB of memory for 100,000 of them. Nor does an export of parameters
// for the prefix workload have any file beside its manifest, which was refused for listing none.
func TestVerifyManySteps(t *testing.T) {
	const steps = 100000
	inverse, err := strategy.NewBandedInverse(steps, []float64{1, -0.5})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := participation.NewCyclic(steps, 1, steps)
	if err != nil {
		t.Fatal(err)
	}
	c, err := strategy.Normalize(inverse, schema)
	if err != nil {
		t.Fatal(err)
	}
	gram := &export.Gram{Method: "exact"}
	q, err := factorize.Evaluate(c, factorize.Long(func(steps int, _ bool) (factorize.Response, error) {
		return workload.PrefixResponse(steps), nil
	}), schema)
	if err != nil {
		t.Fatal(err)
	}
	m := &export.Manifest{Workload: "prefix", WorkloadSpec: &workload.Spec{Kind: workload.Prefix}, Steps: steps, Gram: gram,
		Participation: export.DescribeSchema("", schema), Strategy: export.Describe(c),
		SensSquared: q.Sensitivity.Squared, SensKind: q.Sensitivity.Kind(), SquaredError: q.SquaredError,
		Loss: q.Loss, RMSE: q.RMSE(1, steps),
		Status: "converged"}
	m.Contract = m.DescribeContract()
	dir := filepath.Join(t.TempDir(), "out")
	if err := export.WriteDir(dir, m, nil, export.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	r, err := verified(t, dir, verify.NetworkFiles{})
	if err != nil || !r.OK() || !slices.ContainsFunc(r.Checks, func(c verify.Check) bool { return c.Name == "loss" }) {
		t.Errorf("%+v, %v", r, err)
	}
}
