package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"mafalda/benchmarks"
	"mafalda/export"
	"mafalda/internal/figure"
	"mafalda/participation"
	"mafalda/workload"
)

type benchmarkFlags struct {
	graphs                []string
	only                  bool
	steps, participations int
	network               networkFlags
	out                   string
	json, quiet           bool
}

// suite is what is measured by default.
func suite() (graphs []string, schemas [][2]int) {
	return []string{"florentine", "erdos:100,0.2", "cycle:100", "grid:12x12", "hypercube:7", "barabasi:148,12"}, [][2]int{{4, 16}, {20, 19}}
}

func newBenchmarkCmd() *cobra.Command {
	var f benchmarkFlags
	cmd := &cobra.Command{
		Use:   "benchmark",
		Short: "Compare all strategies on a suite of graphs",
		Long: `Measure every class of strategies and every baseline on a suite of graphs, for T = 64 (k = 4, b = 16) and T = 380 (k = 20,
b = 19), and compare the losses with the certified optimum. With -o, write benchmark.csv, benchmark.json and figures; what
is in benchmark.json already is not measured again, so an interrupted benchmark goes on where it stopped.`,
		Example: `  mafalda benchmark -o bench
  mafalda benchmark --graph ego.edges --only --T 380 -k 20
  mafalda benchmark --graph ego.edges -o bench --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			cmd.SetContext(ctx)
			return f.run(ctx, cmd)
		},
	}
	f.network.bindGossip(cmd)
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.graphs, "graph", "g", nil, "a graph besides the suite: a file or "+builtinForms()+"; may be repeated")
	fl.BoolVar(&f.only, "only", false, "measure the graphs of --graph only")
	fl.VarP((*wholeNumber)(&f.steps), "T", "T", "measure for this number of steps only")
	fl.VarP((*wholeNumber)(&f.participations), "participations", "k", "participations for --T (default 20 if 20 divides T)")
	fl.StringVarP(&f.out, "output", "o", "", "write table and figures to this `folder`, and go on with what is there")
	fl.BoolVar(&f.json, "json", false, "print one JSON object instead of the table")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only (and the JSON, with --json)")
	if err := cmd.RegisterFlagCompletionFunc("graph", completeGraph); err != nil {
		panic(err)
	}
	return cmd
}

// benchmarkRows is the content of benchmark.json.
type benchmarkRows struct {
	Version string           `json:"version"`
	Gossip  string           `json:"gossip"`
	Seed    uint64           `json:"seed"` // of random graphs
	Rows    []benchmarks.Row `json:"rows"`
}

func (f *benchmarkFlags) run(ctx context.Context, cmd *cobra.Command) error {
	cases, err := f.cases(cmd)
	if err != nil {
		return usage(err)
	}
	all := &benchmarkRows{Version: version(), Gossip: f.network.gossip, Seed: f.network.seed}
	finished, err := f.finished()
	if err != nil {
		return usage(err)
	}
	bar := newProgress(cmd.ErrOrStderr(), f.quiet)
	total := len(cases) * len(benchmarks.Strategies())
	err = benchmarks.Run(ctx, cases, finished, func(r benchmarks.Row) error {
		all.Rows = append(all.Rows, r)
		bar.show(float64(len(all.Rows))/float64(total), fmt.Sprintf("%s, T = %d, %s", r.Graph, r.K*r.B, r.Strategy))
		return f.keep(all, finished)
	})
	bar.clear()
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := f.write(all); err != nil {
			return err
		}
	}
	if f.json {
		e := json.NewEncoder(cmd.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(all)
	}
	if f.quiet {
		return nil
	}
	return f.print(cmd.OutOrStdout(), all.Rows)
}

// cases returns the graphs and schemas to measure, checked: every graph is loaded once now, and again when its turn comes.
func (f *benchmarkFlags) cases(cmd *cobra.Command) ([]benchmarks.Case, error) {
	graphs, schemas := suite()
	if f.only {
		graphs = nil
	}
	if graphs = append(graphs, f.graphs...); len(graphs) == 0 {
		return nil, errors.New("--only without --graph leaves nothing to measure")
	}
	if f.network.gossipFile != "" {
		return nil, errors.New("--gossip-matrix fits one graph only: use mafalda optimize")
	}
	var chosen []participation.Cyclic
	if cmd.Flags().Changed("T") || cmd.Flags().Changed("participations") {
		s, err := participation.Choose(f.steps, f.participations, 0)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, s)
	} else {
		for _, kb := range schemas {
			s, err := participation.NewCyclic(kb[0]*kb[1], kb[0], kb[1])
			if err != nil {
				return nil, err
			}
			chosen = append(chosen, s)
		}
	}
	var cases []benchmarks.Case
	for _, spec := range graphs {
		network := f.network
		network.source = spec
		n, err := network.load()
		if err != nil {
			return nil, err
		}
		for _, note := range n.notes {
			if !f.quiet {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", spec, note)
			}
		}
		for _, s := range chosen {
			if err := checkMemory(fmt.Sprintf("T = %d", s.Steps()), 60*8*float64(s.Steps())*float64(s.Steps())); err != nil {
				return nil, err
			}
			cases = append(cases, benchmarks.Case{Graph: n.origin.Source, SHA256: n.origin.SHA256, Schema: s, Gram: func(ctx context.Context) (*mat.SymDense, error) {
				return workload.Gram(ctx, n.gossip.Matrix(), s.Steps(), workload.Options{})
			}})
		}
	}
	return cases, nil
}

// finished returns the rows of an earlier run in the output folder.
func (f *benchmarkFlags) finished() ([]benchmarks.Row, error) {
	if f.out == "" {
		return nil, nil
	}
	path := filepath.Join(f.out, "benchmark.json")
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var old benchmarkRows
	if err == nil {
		err = json.Unmarshal(text, &old)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not a benchmark: %w (move it away first)", path, err)
	}
	if old.Gossip != f.network.gossip || old.Seed != f.network.seed || old.Version != version() {
		return nil, fmt.Errorf("%s was measured by version %s with %s gossip and seed %d, this is %s with %s and %d: choose another folder", path,
			old.Version, old.Gossip, old.Seed, version(), f.network.gossip, f.network.seed)
	}
	return old.Rows, nil
}

// keep writes the rows so far, and those finished earlier that are still to come.
func (f *benchmarkFlags) keep(all *benchmarkRows, finished []benchmarks.Row) error {
	if f.out == "" || len(all.Rows) <= len(finished) {
		return nil
	}
	if err := os.MkdirAll(f.out, 0o777); err != nil {
		return fmt.Errorf("cannot write to %s: %w", f.out, err)
	}
	return export.WriteFile(filepath.Join(f.out, "benchmark.json"), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(all)
	}, true)
}

// write makes benchmark.csv and a figure for every schema.
func (f *benchmarkFlags) write(all *benchmarkRows) error {
	err := export.WriteFile(filepath.Join(f.out, "benchmark.csv"), func(w io.Writer) error {
		c := csv.NewWriter(w)
		_ = c.Write([]string{"graph", "k", "b", "strategy", "sens_squared", "sens_kind", "loss", "ratio", "lower_bound", "memory_floats", "seconds"})
		for _, r := range all.Rows {
			float := func(v float64) string { return strconv.FormatFloat(v, 'g', 17, 64) }
			_ = c.Write([]string{r.Graph, strconv.Itoa(r.K), strconv.Itoa(r.B), r.Strategy, float(r.SensSquared), r.SensKind, float(r.Loss),
				float(r.Ratio), float(r.LowerBound), strconv.Itoa(r.MemoryFloats), strconv.FormatFloat(r.Seconds, 'g', 3, 64)})
		}
		c.Flush()
		return c.Error()
	}, true)
	if err != nil {
		return err
	}
	for _, kb := range schemasOf(all.Rows) {
		picture, err := ratioFigure(all.Rows, kb)
		if err != nil {
			return err
		}
		if err := writeFigure(io.Discard, f.out, fmt.Sprintf("excess-k%d-b%d", kb[0], kb[1]), picture, true); err != nil {
			return err
		}
	}
	return nil
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

// ratioFigure shows by how much the losses of one schema exceed the optimum's, a line a strategy and a marker a graph.
func ratioFigure(rows []benchmarks.Row, kb [2]int) (*figure.Figure, error) {
	var series []figure.Series
	at := map[string]int{}
	for _, r := range rows {
		if [2]int{r.K, r.B} != kb {
			continue
		}
		if _, ok := at[r.Graph]; !ok {
			at[r.Graph] = len(series)
			series = append(series, figure.Series{Name: r.Graph, Values: map[string]float64{}})
		}
		if r.Strategy != benchmarks.Dense && r.Ratio > 1 {
			series[at[r.Graph]].Values[r.Strategy] = 100 * (r.Ratio - 1)
		}
	}
	title := fmt.Sprintf("Loss of strategies, T = %d, k = %d, b = %d", kb[0]*kb[1], kb[0], kb[1])
	return figure.Dots(title, "loss above the certified optimum, in percent", benchmarks.Strategies()[1:], series)
}

// print writes a table for every schema: a line a strategy, a column a graph.
func (f *benchmarkFlags) print(w io.Writer, rows []benchmarks.Row) error {
	for _, kb := range schemasOf(rows) {
		fmt.Fprintf(w, "T = %d, k = %d, b = %d: loss / certified optimum\n", kb[0]*kb[1], kb[0], kb[1])
		header := []string{"strategy", "a node keeps"}
		lines := map[string][]string{}
		for _, r := range rows {
			if [2]int{r.K, r.B} != kb {
				continue
			}
			if r.Strategy == benchmarks.Dense {
				header = append(header, r.Graph)
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
		if err := table(w, header, ordered); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	if f.out != "" {
		fmt.Fprintf(w, "written  %s\n", f.out)
	}
	return nil
}

// usageIfExists makes an error about existing files one of usage.
func usageIfExists(err error) error {
	if errors.Is(err, export.ErrExists) {
		return usage(err)
	}
	return err
}
