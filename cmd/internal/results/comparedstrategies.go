package results

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"mafalda/benchmarks"
	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/lists"
	"mafalda/study"
)

// BenchmarkDocument compares strategies: for every schema losses, a line a strategy and a column a graph, and what secret batches cost
// at levels of privacy.
func BenchmarkDocument(s *benchmarks.Study, rows []benchmarks.Row) *document.Document {
	if s.Workloads {
		return workloadsDocument(rows)
	}
	levels := s.Levels()
	d := document.New("benchmark", "Strategies and baselines on several graphs, compared with the certified optimum.")
	d.Cells = len(rows)
	for _, kb := range benchmarks.Participations(rows) {
		d.Line("T = %d, k = %d, b = %d: loss / certified optimum; at any privacy also squared error / that of the optimum", kb.Steps(),
			kb.K, kb.B)
		d.Table(losses(rows, kb))
		d.Line("batches drawn in secret: squared error / that of the optimum in turn, both (ε, %v)-DP; bands of the best", levels.Delta)
		d.Table(sampledErrors(rows, kb, levels))
		d.Charts = append(d.Charts, memoryChart(rows, kb, levels))
	}
	d.Certify("Each graph's lower bound: no strategy has a smaller loss, where attackers may know when a record takes part. Ratios are over " +
		"the dense optimum's.")
	d.Exclude("other graphs, steps and participations than these", "accuracies: losses are of the noise alone")
	return d
}

// BenchmarkSpec is the study's, with what it says and its figures among the summaries.
func BenchmarkSpec(s *benchmarks.Study) study.Spec {
	spec := s.Spec()
	_, nameOf := figures.BenchmarkPicture(s)
	for _, c := range s.Cells() {
		if name := nameOf(benchmarks.KB{K: c.K, B: c.B}); !slices.Contains(spec.Summaries, name+".png") {
			spec.Summaries = figures.WithFiles(spec.Summaries, name)
		}
	}
	spec.Summaries = append(spec.Summaries, document.FileName)
	return spec
}

// BenchmarkFiles returns what makes the summaries of all rows in a folder, with a figure for every schema.
func BenchmarkFiles(s *benchmarks.Study) func([]study.Entry[benchmarks.Cell, benchmarks.Row]) ([]study.File, error) {
	return func(entries []study.Entry[benchmarks.Cell, benchmarks.Row]) ([]study.File, error) {
		files, err := s.Files(entries)
		if err != nil {
			return nil, err
		}
		rows := s.Rows(entries)
		draw, nameOf := figures.BenchmarkPicture(s)
		for _, kb := range benchmarks.Participations(rows) {
			f, err := draw(rows, kb)
			files = append(files, figures.Files(nameOf(kb), f, err)...)
		}
		return append(files, documentFile(BenchmarkDocument(s, rows))), nil
	}
}

// noMemory is where strategies without memory are drawn, on an axis that has no 0.
const noMemory = 0.5

// memoryChart draws memory against error, a series a graph.
func memoryChart(rows []benchmarks.Row, kb benchmarks.KB, levels benchmarks.Privacies) document.Chart {
	level := slices.Index(levels.Epsilons, 2)
	if level < 0 {
		level = len(levels.Epsilons) / 2
	}
	c := document.Chart{X: "numbers that a node keeps, for each model parameter (none: left edge)", LogX: true, LogY: true,
		Caption: fmt.Sprintf("Memory against error, T = %d, k = %d", kb.Steps(), kb.K), Y: "loss over the certified optimum's"}
	if len(levels.Epsilons) > 0 {
		c.Caption += fmt.Sprintf(", at ε = %g, δ = %g", levels.Epsilons[level], levels.Delta)
		c.Y = "squared error over the certified optimum's"
	}
	for _, r := range rows {
		if r.KB() != kb {
			continue
		}
		ratio := r.Ratio
		if level < len(r.AtPrivacy) {
			ratio = r.AtPrivacy[level].Ratio
		}
		i := slices.IndexFunc(c.Series, func(s document.Series) bool { return s.Name == r.Graph })
		if i < 0 {
			i = len(c.Series)
			c.Series = append(c.Series, document.Series{Name: r.Graph, Dots: true})
		}
		at := document.Point{X: math.Max(noMemory, float64(r.MemoryFloats)), Y: ratio,
			Says: fmt.Sprintf("%s on %s: %s, ratio %.4f", r.Strategy, r.Graph, terminal.Count(r.MemoryFloats, "number"), ratio)}
		if i == 0 {
			at.Label = r.Strategy
		}
		c.Series[i].Points = append(c.Series[i].Points, at)
	}
	spreadLabels(c.Series)
	return c
}

// spreadLabels leaves out labels that would lie on others.
func spreadLabels(all []document.Series) {
	var kept []document.Point
	for i := range all {
		for j, p := range all[i].Points {
			near := func(q document.Point) bool {
				return math.Abs(math.Log(p.X/q.X)) < 0.5 && math.Abs(math.Log(p.Y/q.Y)) < 0.12
			}
			if p.Label != "" && slices.ContainsFunc(kept, near) {
				all[i].Points[j].Label = ""
			} else if p.Label != "" {
				kept = append(kept, p)
			}
		}
	}
}

// losses has a line a strategy, a column a graph.
func losses(rows []benchmarks.Row, kb benchmarks.KB) document.Table {
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
	ordered := lists.Map(benchmarks.OfLoss(), func(name string) []string { return lines[name] })
	return document.Table{Caption: "Losses over the certified optimum", Header: header, Words: 1, Rows: ordered}
}

// sampledErrors has a line for every graph and way to draw in secret, a column for every ε.
func sampledErrors(rows []benchmarks.Row, kb benchmarks.KB, levels benchmarks.Privacies) document.Table {
	names := benchmarks.NamesOf(rows)
	header := append([]string{"strategy", "graph"},
		lists.Map(levels.Epsilons, func(epsilon float64) string { return fmt.Sprintf("ε = %v", epsilon) })...)
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
	return document.Table{Caption: "Secret batches: squared errors over the optimum's in turn", Header: header, Words: 2, Rows: lines}
}
