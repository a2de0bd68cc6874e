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
	return newPatientCommand("benchmark", &benchmarkFlags{runner: runner})
}

func (f *benchmarkFlags) run(cmd *cobra.Command) error {
	if err := f.shard.Parse(cmd, f.runner, f.Dir); err != nil {
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
