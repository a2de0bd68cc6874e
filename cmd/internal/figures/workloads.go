package figures

import (
	"fmt"

	"mafalda/benchmarks"
)

func workloadsName(kb benchmarks.KB) string { return fmt.Sprintf("workloads-k%d-b%d", kb.K, kb.B) }

// Workloads shows by how much the losses of strategies that do not know the optimizer, or not the network, exceed the
// optimum's, a line a workload and two markers a graph; nil if there is nothing to compare yet.
func Workloads(rows []benchmarks.Row, kb benchmarks.KB) (*Figure, error) {
	const least = 0.01 // percent: what is below is not drawn
	names := benchmarks.NamesOf(rows)
	d := Dots{Title: fmt.Sprintf("Loss of strategies that know less, T = %d, k = %d, b = %d", kb.Steps(), kb.K, kb.B),
		Axis: "loss above the certified optimum, in percent (below 0.01 is not drawn)"}
	for _, r := range rows {
		if r.K != kb.K || r.B != kb.B {
			continue
		}
		for _, than := range []struct {
			name   string
			excess float64
		}{{"for plain training", r.PlainExcess}, {"centralized", r.CentralizedExcess}} {
			if 100*than.excess >= least {
				d.Add(names.Of(&r)+": "+than.name, r.Workload, 100*than.excess)
			}
		}
	}
	return d.Figure()
}
