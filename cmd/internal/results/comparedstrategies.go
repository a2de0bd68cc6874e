package results

import (
	"fmt"
	"io"
	"strconv"

	"mafalda/benchmarks"
	"mafalda/cmd/internal/terminal"
)

// WriteBenchmark writes two tables for every schema: of losses, a line a strategy and a column a graph; and of what
// secret batches cost at levels of privacy. dir is where the rows are kept, if anywhere.
func WriteBenchmark(w io.Writer, rows []benchmarks.Row, levels benchmarks.Privacies, dir string) error {
	for _, kb := range benchmarks.Participations(rows) {
		fmt.Fprintf(w, "T = %d, k = %d, b = %d: loss / certified optimum; at any privacy also squared error / that of "+
			"the optimum\n", kb.Steps(), kb.K, kb.B)
		if err := writeLosses(w, rows, kb); err != nil {
			return err
		}
		fmt.Fprintf(w, "\nbatches drawn in secret: squared error / that of the optimum in turn, both (ε, %v)-DP; bands of the "+
			"best\n", levels.Delta)
		if err := writeSampled(w, rows, kb, levels); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	if dir != "" {
		fmt.Fprintf(w, "written  %s\n", dir)
	}
	return nil
}

func writeLosses(w io.Writer, rows []benchmarks.Row, kb benchmarks.KB) error {
	names := benchmarks.NamesOf(rows)
	header := []string{"strategy", "a node keeps"}
	lines := map[string][]string{}
	for _, r := range rows {
		if r.KB() != kb {
			continue
		}
		if r.Strategy == benchmarks.Dense {
			header = append(header, names.Of(&r))
		}
		if lines[r.Strategy] == nil {
			lines[r.Strategy] = []string{benchmarks.Spelled(r.Strategy), strconv.Itoa(r.MemoryFloats)}
		}
		lines[r.Strategy] = append(lines[r.Strategy], fmt.Sprintf("%.4f", r.Ratio))
	}
	var ordered [][]string
	for _, name := range benchmarks.OfLoss() {
		ordered = append(ordered, lines[name])
	}
	return terminal.Table(w, header, ordered)
}

// writeSampled writes a line for every graph and way to draw in secret, a column for every ε.
func writeSampled(w io.Writer, rows []benchmarks.Row, kb benchmarks.KB, levels benchmarks.Privacies) error {
	names := benchmarks.NamesOf(rows)
	header := []string{"strategy", "graph"}
	for _, epsilon := range levels.Epsilons {
		header = append(header, fmt.Sprintf("ε = %v", epsilon))
	}
	var lines [][]string
	for _, name := range benchmarks.Sampled() {
		for _, r := range rows {
			if r.Strategy != name || r.KB() != kb {
				continue
			}
			line := []string{name, names.Of(&r)}
			for _, at := range r.AtPrivacy {
				ratio := fmt.Sprintf("%.4f", at.Ratio)
				if name == benchmarks.SampledBest {
					ratio += fmt.Sprintf(" (%d)", at.Bands)
				}
				line = append(line, ratio)
			}
			lines = append(lines, line)
		}
	}
	return terminal.Table(w, header, lines)
}
