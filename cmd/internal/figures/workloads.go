package figures

import (
	"fmt"
	"slices"

	"mafalda/benchmarks"
)

func workloadsName(kb benchmarks.KB) string { return fmt.Sprintf("workloads-k%d-b%d", kb.K, kb.B) }

// Workloads shows by how much the losses of strategies that do not know the optimizer, or not the network, exceed the
// optimum's, a line a workload and two markers a graph; nil if there is nothing to compare yet.
func Workloads(rows []benchmarks.Row, kb benchmarks.KB) (*Figure, error) {
	const least = 0.01 // percent: what is below is not drawn
	names := benchmarks.NamesOf(rows)
	var lines []string
	var series []Series
	at := map[string]int{}
	add := func(name, line string, excess float64) {
		if 100*excess < least {
			return
		}
		if _, ok := at[name]; !ok {
			at[name] = len(series)
			series = append(series, Series{Name: name, Values: map[string]float64{}})
		}
		series[at[name]].Values[line] = 100 * excess
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	for _, r := range rows {
		if r.K == kb.K && r.B == kb.B {
			add(names.Of(&r)+": for plain training", r.Workload, r.PlainExcess)
			add(names.Of(&r)+": centralized", r.Workload, r.CentralizedExcess)
		}
	}
	title := fmt.Sprintf("Loss of strategies that know less, T = %d, k = %d, b = %d", kb.Steps(), kb.K, kb.B)
	return Dots(title, "loss above the certified optimum, in percent", lines, series)
}
