package figures

import (
	"io"
	"testing"

	"mafalda/benchmarks"
)

// A benchmark that was interrupted when a schema had the optimum only panicked: there was nothing to draw yet.
func TestExcessOfHardlyBegunBenchmark(t *testing.T) {
	rows := []benchmarks.Row{{Graph: "path:3", K: 2, B: 4, Strategy: benchmarks.Dense, Ratio: 1}}
	if picture, err := Excess(rows, benchmarks.KB{K: 2, B: 4}); picture != nil || err != nil {
		t.Error(picture, err)
	}
	rows = append(rows, benchmarks.Row{Graph: "cycle:4", K: 2, B: 4, Strategy: benchmarks.Strategies()[1], Ratio: 1.5})
	picture, err := Excess(rows, benchmarks.KB{K: 2, B: 4})
	if err != nil {
		t.Fatal(err)
	}
	if err := picture.WriteAs(io.Discard, "x.svg", Style{}); err != nil {
		t.Error(err)
	}
}

// Workloads of which every strategy is optimal leave nothing to draw; others have their line.
func TestWorkloadsFigure(t *testing.T) {
	rows := []benchmarks.Row{{Graph: "complete:3", K: 2, B: 4, Workload: "plain", CentralizedExcess: -1e-9}}
	kb := benchmarks.KB{K: 2, B: 4}
	if picture, err := Workloads(rows, kb); picture != nil || err != nil {
		t.Error(picture, err)
	}
	rows = append(rows, benchmarks.Row{Graph: "cycle:4", K: 2, B: 4, Workload: "cosine", PlainExcess: 0.4, CentralizedExcess: 0.1})
	picture, err := Workloads(rows, kb)
	if err != nil {
		t.Fatal(err)
	}
	if err := picture.WriteAs(io.Discard, "x.svg", Style{}); err != nil {
		t.Error(err)
	}
}
