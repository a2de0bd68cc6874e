package verify_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/verify"
)

// A manifest that says less than is true is found out, by the number that it should say.
func ExampleVerify() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "mafalda")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	network, err := graph.LoadNetwork(ctx, graph.NetworkOptions{Source: "florentine"})
	if err != nil {
		log.Fatal(err)
	}
	schema, err := participation.NewCyclic(12, 3, 4)
	if err != nil {
		log.Fatal(err)
	}
	solution, err := plan.Solve(ctx, plan.Problem{Network: network, Schema: schema}, plan.Options{})
	if err != nil {
		log.Fatal(err)
	}
	dir := filepath.Join(folder, "best")
	if err := solution.Export(dir, export.WriteOptions{}); err != nil {
		log.Fatal(err)
	}
	e, err := export.Load(dir)
	if err != nil {
		log.Fatal(err)
	}
	report, err := verify.Verify(ctx, e, nil) // the network is a built-in one, which is made again
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.OK(), report.NotChecked)

	e.Manifest.SensSquared /= 2
	if report, err = verify.Verify(ctx, e, nil); err != nil {
		log.Fatal(err)
	}
	for _, c := range report.Failures() {
		fmt.Println(c.Name)
	}
	// Output:
	// true [version tolerance iterations status history privacy seconds peak_bytes]
	// sensitivity
	// privacy
	// arithmetic
}
