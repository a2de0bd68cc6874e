package results

import (
	"fmt"
	"slices"
	"strconv"

	"mafalda/benchmarks"
	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/figures"
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
		d.Table(sampledErrors(rows, kb))
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
		kb := benchmarks.KB{K: c.K, B: c.B}
		if name := nameOf(kb); !slices.Contains(spec.Summaries, name+".png") {
			spec.Summaries = figures.WithFiles(spec.Summaries, name, figures.MemoryName(kb))
		}
	}
	spec.Summaries = append(spec.Summaries, document.FileName)
	return spec
}

// BenchmarkFiles returns what makes the summaries of all rows in a folder, with a figure for every schema.
func BenchmarkFiles(s *benchmarks.Study, style figures.Style) func([]study.Entry[benchmarks.Cell, benchmarks.Row]) ([]study.File, error) {
	return func(entries []study.Entry[benchmarks.Cell, benchmarks.Row]) ([]study.File, error) {
		files, err := s.Files(entries)
		if err != nil {
			return nil, err
		}
		rows := s.Rows(entries)
		draw, nameOf := figures.BenchmarkPicture(s)
		for _, kb := range benchmarks.Participations(rows) {
			f, err := draw(rows, kb)
			files = append(files, figures.Files(nameOf(kb), f, err, style)...)
			f, err = figures.Memory(rows, kb, s.Levels())
			files = append(files, figures.Files(figures.MemoryName(kb), f, err, style)...)
		}
		return append(files, documentFile(BenchmarkDocument(s, rows))), nil
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
func sampledErrors(rows []benchmarks.Row, kb benchmarks.KB) document.Table {
	names := benchmarks.NamesOf(rows)
	t := document.Table{Caption: "Secret batches: squared errors over the optimum's in turn", Words: 2}
	for _, name := range benchmarks.Sampled() {
		for _, r := range rows {
			if r.Strategy != name || r.KB() != kb {
				continue
			}
			row := []string{"strategy", name, "graph", names.Of(&r)}
			for _, at := range r.AtPrivacy {
				ratio := fmt.Sprintf("%.4f", at.Ratio)
				if name == benchmarks.SampledBest {
					ratio += fmt.Sprintf(" (%d)", at.Bands)
				}
				row = append(row, fmt.Sprintf("ε = %v", at.Epsilon), ratio)
			}
			t.Row(row...)
		}
	}
	return t
}
