package results

import (
	"slices"

	"mafalda/benchmarks"
	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/figures"
	"mafalda/study"
)

// benchmarked is what pages of benchmarks are filled with.
type benchmarked struct {
	Rows    []benchmarks.Row
	Names   benchmarks.GraphNames
	Delta   float64
	Schemas []benchmarks.KB

	OfLoss, Sampled []string // names of strategies
}

var (
	benchmarkPage = document.Page[benchmarked](pages, "benchmark")
	workloadsPage = document.Page[benchmarked](pages, "workloads")
)

// BenchmarkDocument compares strategies: for every schema losses, a line a strategy and a column a graph, and what secret batches cost
// at levels of privacy; or over optimizers and networks that change, a table for every network and schema, a line a workload.
func BenchmarkDocument(s *benchmarks.Study, rows []benchmarks.Row) *document.Document {
	page := benchmarkPage
	if s.Workloads {
		page = workloadsPage
	}
	d := page(benchmarked{rows, benchmarks.NamesOf(rows), s.Levels().Delta, benchmarks.Participations(rows), benchmarks.OfLoss(),
		benchmarks.Sampled()})
	d.Cells = len(rows)
	return d
}

// RowsOf returns the rows of a schema and a strategy, one a graph.
func (b benchmarked) RowsOf(kb benchmarks.KB, strategy string) (rows []*benchmarks.Row) {
	for i := range b.Rows {
		if r := &b.Rows[i]; r.KB() == kb && r.Strategy == strategy {
			rows = append(rows, r)
		}
	}
	return rows
}

// Spelled returns a strategy's name with what it is short for.
func (benchmarked) Spelled(strategy string) string { return benchmarks.Spelled(strategy) }

// Networks returns the rows of each network and schema, which follow each other.
func (b benchmarked) Networks() (all [][]*benchmarks.Row) {
	for i := range b.Rows {
		r, last := &b.Rows[i], len(all)-1
		if i == 0 || r.Graph != all[last][0].Graph || r.SHA256 != all[last][0].SHA256 || r.KB() != all[last][0].KB() {
			all, last = append(all, nil), last+1
		}
		all[last] = append(all[last], r)
	}
	return all
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
