package figures

import (
	"fmt"

	"mafalda/benchmarks"
	"mafalda/internal/lists"
)

const excessPrefix = "excess-k"

func excessName(kb benchmarks.KB) string { return fmt.Sprintf("%s%d-b%d", excessPrefix, kb.K, kb.B) }

// BenchmarkPicture returns what draws the figure of a schema, and the name of its files.
func BenchmarkPicture(s *benchmarks.Study) (draw func([]benchmarks.Row, benchmarks.KB) (*Figure, error),
	name func(benchmarks.KB) string) {
	if s.Workloads {
		return Workloads, workloadsName
	}
	return Excess, excessName
}

// Excess shows by how much the losses of one schema exceed the optimum's, a line a strategy and a marker a graph; nil
// if there is nothing to compare yet.
func Excess(rows []benchmarks.Row, kb benchmarks.KB) (*Figure, error) {
	d := Dots{Title: fmt.Sprintf("Loss of strategies, T = %d, k = %d, b = %d", kb.Steps(), kb.K, kb.B),
		Axis: "loss above the certified optimum, in percent (0 is not drawn)", Rows: lists.Map(benchmarks.OfLoss()[1:], benchmarks.Spelled)}
	names := benchmarks.NamesOf(rows)
	for _, r := range rows {
		if r.KB() == kb && r.Strategy != benchmarks.Dense && r.Ratio > 1 { // 0 where batches are drawn in secret
			d.Add(names.Of(&r), benchmarks.Spelled(r.Strategy), 100*(r.Ratio-1))
		}
	}
	return d.Figure()
}
