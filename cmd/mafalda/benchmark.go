package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"mafalda/benchmarks"
	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/internal/study"
	"mafalda/participation"
	"mafalda/workload"
)

type benchmarkFlags struct {
	graphs                []string
	only                  bool
	steps, participations int
	network               cli.NetworkFlags
	out                   string
	force, json, quiet    bool
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
b = 19), and compare the losses with the certified optimum. With -o, write benchmark.csv, benchmark.json and
figures of all that is in the folder. What is there already is not measured again: an interrupted benchmark goes on
where it stopped, and more graphs and numbers of steps can be added, also by several processes at once. Gossip, --seed
and --directed have to be the same.`,
		Example: `  mafalda benchmark -o bench
  mafalda benchmark --graph ego.edges --only --T 380 -k 20
  mafalda benchmark --graph ego.edges -o bench --json`,
		Args: cli.NoArgs,
		RunE: cli.UntilInterrupted(f.run),
	}
	f.network.BindGossip(cmd)
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.graphs, "graph", "g", nil, "a graph besides the suite: a file or "+strings.Join(graph.BuiltinForms(), " ")+"; may be repeated")
	fl.BoolVar(&f.only, "only", false, "measure the graphs of --graph only")
	fl.VarP((*cli.WholeNumber)(&f.steps), "T", "T", "measure for this number of steps only")
	fl.VarP((*cli.WholeNumber)(&f.participations), "participations", "k", "participations for --T (default 20 if 20 divides T)")
	fl.StringVarP(&f.out, "output", "o", "", "write table and figures to this `folder`, and go on with what is there")
	fl.BoolVar(&f.force, "force", false, "replace rows of other inputs")
	fl.BoolVar(&f.json, "json", false, "print one JSON object instead of the table")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only (and the JSON, with --json)")
	if err := cmd.RegisterFlagCompletionFunc("graph", cli.CompleteGraph); err != nil {
		panic(err)
	}
	return cmd
}

func (f *benchmarkFlags) run(cmd *cobra.Command) error {
	cases, err := f.cases(cmd)
	if err != nil {
		return cli.Usage(err)
	}
	cells := benchmarks.Cells(cases)
	store, err := study.Open[benchmarks.Cell, benchmarks.Row](f.out, f.spec(cells))
	if err != nil {
		return cli.StudyError(err)
	}
	m := benchmarks.NewMeasurer(cases)
	for _, c := range cells {
		if r, there, err := store.Get(c); err != nil {
			return cli.StudyError(err)
		} else if there {
			m.Know(c, r)
		}
	}
	bar := cli.NewProgress(cmd.ErrOrStderr(), f.quiet)
	measure := func(ctx context.Context, c benchmarks.Cell) (benchmarks.Row, error) {
		bar.At = fmt.Sprintf("%s, T = %d, %s", c.Graph, c.K*c.B, c.Strategy)
		return m.Measure(ctx, c)
	}
	err = study.Run(cmd.Context(), store, cells, measure, study.Options{Progress: bar.ShowAt})
	bar.Clear()
	if err != nil {
		err = cli.StoppedError(err, f.out, "row")
	}
	if err := cli.Summarize(cmd.Context(), store, err, f.files(cells)); err != nil {
		return err
	}
	all := f.rows()
	for _, c := range cells {
		r, _, err := store.Get(c)
		if err != nil {
			return err
		}
		all.Rows = append(all.Rows, r)
	}
	switch w := cmd.OutOrStdout(); {
	case f.json:
		return cli.WriteJSON(w, all)
	case f.quiet:
		return nil
	default:
		return f.print(w, all.Rows)
	}
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
	if f.network.GossipFile != "" {
		return nil, errors.New("--gossip-matrix fits one graph only: use mafalda optimize")
	}
	var chosen []participation.Cyclic
	if cmd.Flags().Changed("T") || cmd.Flags().Changed("participations") {
		s, err := participation.Complete(f.steps, f.participations, 0)
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
		network.Source = spec
		n, err := network.Load()
		if err != nil {
			return nil, err
		}
		for _, note := range n.Notes {
			if !f.quiet {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", spec, note)
			}
		}
		digest := n.Digest()
		for _, s := range chosen {
			if err := cli.CheckMemory(fmt.Sprintf("T = %d", s.Steps()), 60*8*float64(s.Steps())*float64(s.Steps())); err != nil {
				return nil, err
			}
			gram := func(ctx context.Context) (*mat.SymDense, error) {
				return workload.Gram(ctx, n.Gossip.Matrix(), s.Steps(), workload.Options{})
			}
			c := benchmarks.Case{Graph: n.Origin.Source, SHA256: n.Origin.SHA256, Digest: digest, Schema: s, Gram: gram}
			cases = append(cases, c)
		}
	}
	return cases, nil
}
