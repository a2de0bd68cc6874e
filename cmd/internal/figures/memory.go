package figures

import (
	"fmt"

	"mafalda/benchmarks"
	"mafalda/plan"
)

// MemoryName is the name of the files of Memory.
func MemoryName(kb benchmarks.KB) string { return fmt.Sprintf("memory-k%d-b%d", kb.K, kb.B) }

// Memory shows what strategies of a schema keep at a node against their error, at the privacy in the middle or without any: a
// marker a graph, with the names of the strategies at the first. It is nil if there is no strategy.
func Memory(rows []benchmarks.Row, kb benchmarks.KB, levels plan.Privacies) (*Figure, error) {
	title, level := fmt.Sprintf("Memory against error, T = %d, k = %d, b = %d", kb.Steps(), kb.K, kb.B), len(levels.Epsilons)/2
	if len(levels.Epsilons) > 0 {
		title += fmt.Sprintf(", (ε, δ) = (%s, %s)", printed(levels.Epsilons[level]), printed(levels.Delta))
	}
	names := benchmarks.NamesOf(rows)
	var curves []Curve
	for _, r := range rows {
		if r.KB() != kb || r.Workload != "" {
			continue
		}
		ratio := r.Ratio
		if level < len(r.AtPrivacy) {
			ratio = r.AtPrivacy[level].Ratio
		}
		if ratio <= 0 {
			continue // nothing is known without a level
		}
		name := names.Of(&r)
		c := curveNamed(&curves, name)
		c.Says = append(c.Says, fmt.Sprintf("%s on %s: %d numbers, ratio %.4f", r.Strategy, name, r.MemoryFloats, ratio))
		c.add(keptAt(r.MemoryFloats), ratio)
		if name == curves[0].Name {
			c.Labels = append(c.Labels, r.Strategy)
		}
	}
	return Lines(Axes{Title: title, Zero: keptAt(0), X: "numbers that a node keeps for each parameter", LogX: true, LogY: true,
		Y: "squared error / that of the certified optimum", Dots: true}, curves)
}
