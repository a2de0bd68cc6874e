package commands

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"mafalda/benchmarks"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/results"
)

type benchmarkFlags struct {
	study flags.BenchmarkFlags
	gridFlags
}

// NewBenchmark returns mafalda benchmark, run for a runner.
func NewBenchmark(runner *grids.Runner) *cobra.Command {
	return newPatientCommand("benchmark", &benchmarkFlags{gridFlags: gridFlags{outcomeFlags: outcomeFlags{runner: runner}}})
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
	rows, whole, err := runGrid(&f.gridFlags, cmd, grids.Study[benchmarks.Cell, benchmarks.Row]{Spec: results.BenchmarkSpec(s),
		Cells: s.Cells(), Do: measure, Known: s.Know, Files: results.BenchmarkFiles(s, f.style), Cell: "row",
		Cost: benchmarks.Cell.Seconds, Memory: func(int) float64 { return s.Memory() }}, bar)
	if err != nil || !whole {
		return err
	}
	return f.show(cmd, s.Table(rows), results.BenchmarkDocument(s, rows))
}
