package export_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

func ExampleWriteDir() { // a strategy of two steps, for a record that takes part once
	c, err := strategy.NewDense(mat.NewDense(2, 2, []float64{0.8, 0, 0.6, 1}))
	if err != nil {
		log.Fatal(err)
	}
	schema, err := participation.NewCyclic(2, 1, 2)
	if err != nil {
		log.Fatal(err)
	}
	var lower, inverse mat.TriDense
	c.StrategyTo(&lower)
	if err := c.NoisingTo(&inverse); err != nil {
		log.Fatal(err)
	}
	m := &export.Manifest{Version: "example", Workload: "prefix", WorkloadSpec: &workload.Spec{Kind: workload.Prefix}, Steps: 2, Strategy: export.Describe(c),
		Participation: export.DescribeSchema("", schema), SensSquared: 1, SensKind: "exact", Loss: 3, LowerBound: 2.9}
	base, err := os.MkdirTemp("", "mafalda")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(base)
	dir := filepath.Join(base, "out")
	all := []export.File{export.NPY("C.npy", &lower), export.NPY("C_inv.npy", &inverse)}
	if err := export.WriteDir(dir, m, all, export.WriteOptions{}); err != nil {
		log.Fatal(err)
	}
	e, err := export.Load(dir)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.CFile, e.C.At(1, 0), e.CheckHashes())
	err = export.WriteDir(dir, m, all, export.WriteOptions{}) // again, without Force
	fmt.Println(errors.Is(err, export.ErrExists))
	// Output:
	// C.npy 0.6 <nil>
	// true
}

func ExampleCheckTarget() {
	err := export.CheckTarget(".", export.WriteOptions{Force: true})
	fmt.Println(errors.Is(err, export.ErrTarget), err)
	// Output: true .: not a place for an export: it is or holds the current folder, choose a folder of its own
}
