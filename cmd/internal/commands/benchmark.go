package commands

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mafalda/benchmarks"
	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
)

type benchmarkFlags struct {
	runner *grids.Runner
	study  flags.BenchmarkFlags
	style  figures.Style
	terminal.Output
	shard grids.ShardFlags
}

// NewBenchmark returns mafalda benchmark, run for a runner.
func NewBenchmark(runner *grids.Runner) *cobra.Command {
	f := benchmarkFlags{runner: runner}
	cmd := &cobra.Command{
		Use:   "benchmark",
		Short: "Compare all strategies on a suite of graphs",
		Long: `Measure every class of strategies and every baseline on a suite of graphs, for T = 64 (k = 4, b = 16) and T = 380 (k = 20,
b = 19), and compare the losses with the certified optimum. Where batches are drawn in secret (--sampling poisson) what a
strategy costs depends on the privacy: DP-D-SGD and the best number of bands are compared with the optimum, whose
batches are visited in turn, by squared errors with the noise for every --epsilon.

With -o, write benchmark.csv, benchmark.json and figures of all that is in the folder. What is there already is not
measured again: an interrupted benchmark goes on where it stopped, and more graphs and numbers of steps can be added,
also by several processes at once. Gossip, --seed, --epsilon and --delta have to be the same.

With --workloads, compare strategies over optimizers and networks that change, for T = 128 (k = 8, b = 16): the one that
is optimal for plain training on the network, a centralized one (D-MF) that knows the optimizer, and the certified optimum, which
knows both. -o is then a folder of its own, with workloads.csv, workloads.json, a figure, and the sequences of networks.`,
		Example: `  mafalda benchmark -o bench
  mafalda benchmark --graph ego.edges --only --T 380 -k 20 --epsilon 0.5,1,2,4,8,16
  mafalda benchmark --graph ego.edges -o bench --json
  mafalda benchmark --workloads
  mafalda benchmark --workloads --graph ego.edges --T 64 -k 4 -o trained`,
		Args: terminal.NoArgs,
		RunE: terminal.UntilInterrupted(f.run),
	}
	f.study.Bind(cmd)
	flags.BindFigure(cmd, &f.style)
	f.Output.Bind(cmd, "write table and figures to this `folder`, and go on with what is there", "replace rows of other inputs",
		"print one JSON object instead of the table")
	f.shard.Bind(cmd)
	return cmd
}

func (f *benchmarkFlags) run(cmd *cobra.Command) error {
	if err := f.shard.Parse(cmd, f.runner, f.Dir, f.Force); err != nil {
		return err
	}
	s, err := f.study.Study(cmd, f.Note(cmd))
	if err != nil {
		return err
	}
	bar := f.Progress(cmd)
	measure := func(ctx context.Context, c benchmarks.Cell) (benchmarks.Row, error) {
		bar.At = fmt.Sprintf("%s, T = %d, %s", c.Graph, c.K*c.B, c.What())
		return s.Do(ctx, c)
	}
	rows, whole, err := grids.Study[benchmarks.Cell, benchmarks.Row]{Dir: f.Dir, Force: f.Force,
		Spec: results.BenchmarkSpec(s), Cells: s.Cells(), Do: measure,
		Known: s.Know, Files: results.BenchmarkFiles(s, f.style), Cell: "row", Shard: &f.shard, Cost: benchmarks.Cell.Seconds,
		Memory: func(int) float64 { return s.Memory() }, Command: cmd}.Run(cmd.Context(), f.runner, bar)
	if err != nil || !whole {
		return err
	}
	return f.Show(cmd, s.Table(rows), func(w io.Writer) error {
		if err := results.BenchmarkDocument(s, rows).Text(w); err != nil {
			return err
		}
		fmt.Fprintln(w)
		if f.Dir != "" {
			fmt.Fprintf(w, "written  %s\n", f.Dir)
		}
		return nil
	})
}
