package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mafalda/benchmarks"
	"mafalda/internal/cli"
	"mafalda/internal/figures"
	"mafalda/internal/study"
	"mafalda/internal/version"
)

// benchmarkRows is the content of benchmark.json.
type benchmarkRows struct {
	Version string           `json:"version"`
	Gossip  string           `json:"gossip"`
	Seed    uint64           `json:"seed"` // of random graphs
	Rows    []benchmarks.Row `json:"rows"`
}

func (f *benchmarkFlags) rows() *benchmarkRows {
	return &benchmarkRows{Version: version.String(), Gossip: f.network.Gossip, Seed: f.network.Seed}
}

// measured is a row of a folder.
type measured = study.Entry[benchmarks.Cell, benchmarks.Row]

// spec says whose the folder of a benchmark is: what graphs there are is in its cells.
func (f *benchmarkFlags) spec(cells []benchmarks.Cell) study.Spec {
	s := study.Of("benchmark")
	s.Inputs.Add("gossip", f.network.Gossip)
	s.Inputs.Add("seed", f.network.Seed)
	s.Inputs.Add("directed", f.network.Directed)
	s.Summaries = []string{"benchmark.json", "benchmark.csv"}
	for _, c := range cells {
		if name := ratioFigureName([2]int{c.K, c.B}); !slices.Contains(s.Summaries, name+".png") {
			s.Summaries = figures.WithFiles(s.Summaries, name)
		}
	}
	s.Former = study.Formerly("benchmark.json", []string{"version", "gossip", "rows"}, func(name string) bool {
		base := strings.TrimSuffix(name, filepath.Ext(name))
		return name == "benchmark.csv" || strings.HasPrefix(base, "excess-k") && slices.Contains(figures.WithFiles(nil, base), name)
	})
	s.Replace = f.force
	return s
}

func ratioFigureName(kb [2]int) string { return fmt.Sprintf("excess-k%d-b%d", kb[0], kb[1]) }

// files returns what makes the summaries of all rows in the folder: those of these cells first, in their order,
// then others by graph.
func (f *benchmarkFlags) files(cells []benchmarks.Cell) func([]measured) ([]study.File, error) {
	place := map[benchmarks.Cell]int{}
	for i, c := range cells {
		place[c] = i - len(cells)
	}
	strategies := benchmarks.Strategies()
	return func(entries []measured) ([]study.File, error) {
		slices.SortFunc(entries, func(a, b measured) int {
			x, y := a.Cell, b.Cell
			return cmp.Or(place[x]-place[y], cmp.Compare(x.Graph, y.Graph), cmp.Compare(x.SHA256, y.SHA256),
				cmp.Compare(x.Digest, y.Digest), x.K-y.K, x.B-y.B,
				slices.Index(strategies, x.Strategy)-slices.Index(strategies, y.Strategy))
		})
		all := f.rows()
		for _, e := range entries {
			all.Rows = append(all.Rows, e.Result)
		}
		csv := func(w io.Writer) error { return writeRows(w, all.Rows) }
		files := []study.File{study.JSONFile("benchmark.json", all), {Name: "benchmark.csv", Write: csv}}
		for _, kb := range schemasOf(all.Rows) {
			picture, err := ratioFigure(all.Rows, kb)
			if err != nil {
				return nil, err
			}
			files = append(files, figures.Files(ratioFigureName(kb), picture)...)
		}
		return files, nil
	}
}

func writeRows(w io.Writer, rows []benchmarks.Row) error {
	c := csv.NewWriter(w)
	lines := [][]string{{"graph", "k", "b", "strategy", "sens_squared", "sens_kind", "loss", "ratio", "lower_bound",
		"memory_floats", "seconds", "graph_sha256"}}
	float := func(v float64) string { return strconv.FormatFloat(v, 'g', 17, 64) }
	for _, r := range rows {
		lines = append(lines, []string{r.Graph, strconv.Itoa(r.K), strconv.Itoa(r.B), r.Strategy, float(r.SensSquared), r.SensKind,
			float(r.Loss), float(r.Ratio), float(r.LowerBound), strconv.Itoa(r.MemoryFloats), strconv.FormatFloat(r.Seconds, 'g', 3, 64),
			r.SHA256})
	}
	return c.WriteAll(lines)
}

// graphNames are the hashes of the files of every name.
type graphNames map[string][]string

func namesOf(rows []benchmarks.Row) graphNames {
	names := graphNames{}
	for _, r := range rows {
		if !slices.Contains(names[r.Graph], r.SHA256) {
			names[r.Graph] = append(names[r.Graph], r.SHA256)
		}
	}
	return names
}

// of returns the name of a row's graph, with the start of its hash where there are several of that name.
func (n graphNames) of(r benchmarks.Row) string {
	if len(n[r.Graph]) > 1 {
		return r.Graph + "#" + r.SHA256[:min(8, len(r.SHA256))]
	}
	return r.Graph
}

// schemasOf returns the distinct (k, b) of the rows, in order.
func schemasOf(rows []benchmarks.Row) [][2]int {
	var schemas [][2]int
	seen := map[[2]int]bool{}
	for _, r := range rows {
		if kb := [2]int{r.K, r.B}; !seen[kb] {
			seen[kb] = true
			schemas = append(schemas, kb)
		}
	}
	return schemas
}

// ratioFigure shows by how much the losses of one schema exceed the optimum's, a line a strategy and a marker a
// graph; nil if there is nothing to compare yet.
func ratioFigure(rows []benchmarks.Row, kb [2]int) (*figures.Figure, error) {
	var series []figures.Series
	at, names := map[string]int{}, namesOf(rows)
	for _, r := range rows {
		if [2]int{r.K, r.B} != kb || r.Strategy == benchmarks.Dense || r.Ratio <= 1 {
			continue
		}
		graph := names.of(r)
		if _, ok := at[graph]; !ok {
			at[graph] = len(series)
			series = append(series, figures.Series{Name: graph, Values: map[string]float64{}})
		}
		series[at[graph]].Values[r.Strategy] = 100 * (r.Ratio - 1)
	}
	if len(series) == 0 {
		return nil, nil
	}
	title := fmt.Sprintf("Loss of strategies, T = %d, k = %d, b = %d", kb[0]*kb[1], kb[0], kb[1])
	return figures.Dots(title, "loss above the certified optimum, in percent", benchmarks.Strategies()[1:], series)
}

// print writes a table for every schema: a line a strategy, a column a graph.
func (f *benchmarkFlags) print(w io.Writer, rows []benchmarks.Row) error {
	names := namesOf(rows)
	for _, kb := range schemasOf(rows) {
		fmt.Fprintf(w, "T = %d, k = %d, b = %d: loss / certified optimum\n", kb[0]*kb[1], kb[0], kb[1])
		header := []string{"strategy", "a node keeps"}
		lines := map[string][]string{}
		for _, r := range rows {
			if [2]int{r.K, r.B} != kb {
				continue
			}
			if r.Strategy == benchmarks.Dense {
				header = append(header, names.of(r))
			}
			if lines[r.Strategy] == nil {
				lines[r.Strategy] = []string{r.Strategy, strconv.Itoa(r.MemoryFloats)}
			}
			lines[r.Strategy] = append(lines[r.Strategy], fmt.Sprintf("%.4f", r.Ratio))
		}
		var ordered [][]string
		for _, name := range benchmarks.Strategies() {
			ordered = append(ordered, lines[name])
		}
		if err := cli.Table(w, header, ordered); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	if f.out != "" {
		fmt.Fprintf(w, "written  %s\n", f.out)
	}
	return nil
}
