package verify_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/verify"
	"mafalda/workload"
)

// Fresh exports of one to three steps are what they claim to be: searches of so few steps reach their bound to the
// last digits, where a bound that is compared without its own rounding is refused.
func TestShortExportsVerify(t *testing.T) {
	for source, scheme := range map[string]graph.Scheme{"path:2": graph.Uniform, "star:5": graph.Metropolis,
		"erdos:12,0.4": graph.MaxDegree} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			for steps := 1; steps <= 3; steps++ {
				for name, x := range shortExports(steps) {
					x.options.NoBaselines = scheme != graph.Uniform // whose baselines are searched for in the same way
					x.network = graph.NetworkOptions{Source: source, Seed: 3, Scheme: scheme}
					verifyFresh(t, fmt.Sprintf("T = %d, %s", steps, name), x)
				}
			}
		})
	}
}

// shortExports are of every objective, class and schema that so few steps have.
func shortExports(steps int) map[string]exported {
	all := map[string]exported{}
	classes := map[string]factorize.Class{"dense": factorize.Dense{}, "banded": factorize.Banded{},
		"one band": factorize.Banded{Bandwidth: 1}, "toeplitz": factorize.Toeplitz{Bandwidth: steps},
		"scaled": factorize.Toeplitz{ScaleColumns: true}, "inverse": factorize.BandedInverse{Bandwidth: steps},
		"blt": factorize.BLT{Buffers: max(steps-1, 1)}}
	var schemas []participation.Schema
	for k := 1; k <= steps; k++ {
		for b := 1; b <= steps; b++ {
			if s, err := participation.NewCyclic(steps, k, b); err == nil {
				schemas = append(schemas, s)
			}
			if s, err := participation.NewMinSep(steps, k, b); err == nil {
				schemas = append(schemas, s)
			}
		}
	}
	for _, schema := range schemas {
		name := fmt.Sprint(schema, ", ")
		partition := participation.IsPartition(schema)
		for class, c := range classes {
			if class != "scaled" || partition {
				all[name+class] = exported{problem: plan.Problem{Schema: schema}, options: plan.Options{Class: c}}
			}
		}
		if dense := (factorize.Dense{}); partition {
			all[name+"per node"] = exported{problem: plan.Problem{Schema: schema}, options: plan.Options{Class: dense, PerNode: true}}
			all[name+"groups"] = exported{problem: plan.Problem{Schema: schema}, options: plan.Options{Class: dense, Groups: 2}}
			for _, o := range []plan.Objective{plan.Worst, plan.Last} {
				all[name+o.String()] = exported{problem: plan.Problem{Schema: schema, Objective: o}, options: plan.Options{Class: dense}}
			}
		}
	}
	return all
}

// verifyFresh exports and verifies.
func verifyFresh(t *testing.T, name string, x exported) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	x.save(t, dir)
	e, err := export.Load(dir)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	r, err := verify.Verify(t.Context(), e, nil)
	if err != nil || !r.OK() {
		t.Errorf("%s: %v, %+v", name, err, r.Failures())
	}
}

// Where few of the last steps count, the bound comes from the end of a search, and its history ends with it; and a plan
// for persons verifies, whose patterns overlap.
func TestFreshExportsVerify(t *testing.T) {
	cycle, err := participation.NewCyclic(16, 4, 4)
	if err != nil {
		t.Fatal(err)
	}
	people, err := participation.NewPeople(cycle, 2)
	if err != nil {
		t.Fatal(err)
	}
	florentine := graph.NetworkOptions{Source: "florentine"}
	verifyFresh(t, "the mean of the last four", exported{network: florentine,
		problem: plan.Problem{Schema: cycle, Workload: workload.Spec{Weights: workload.LastSteps(4)}}})
	verifyFresh(t, "people", exported{network: florentine, problem: plan.Problem{Schema: people}})
}
