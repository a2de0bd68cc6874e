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
	if err := picture.WriteAs(io.Discard, "x.svg"); err != nil {
		t.Error(err)
	}
}
