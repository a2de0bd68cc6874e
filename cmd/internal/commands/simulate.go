package commands

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/lists"
	"mafalda/simulate"
	"mafalda/simulated"
)

type simulateFlags struct {
	runner *grids.Runner
	study  flags.SimulateFlags
	style  figures.Style
	terminal.Output
	shard  grids.ShardFlags
	attack flags.SimulateAttackFlags
}

// NewSimulate returns mafalda simulate, run for a runner.
func NewSimulate(runner *grids.Runner) *cobra.Command {
	f := simulateFlags{runner: runner}
	cmd := newPatientCommand("simulate", &f)
	f.study.Places = runner.Places
	terminal.Complete(cmd, "attack", flags.CompleteLabels(f.study.Load))
	return cmd
}

func (f *simulateFlags) run(cmd *cobra.Command) error {
	if err := f.shard.Parse(cmd, f.runner, f.Dir); err != nil {
		return err
	}
	if cmd.Flags().Changed("output") && f.Dir == "" {
		return terminal.Usagef("--output is empty: name a folder")
	}
	note := f.Note(cmd)
	if cmd.Flags().Changed("attack") {
		return f.attack.Run(cmd, &f.study, f.JSON, f.Quiet, note)
	}
	s, err := f.study.Study(cmd, f.Dir != "", note)
	if err != nil {
		return err
	}
	bar := f.Progress(cmd)
	cells := s.Cells()
	runs, whole, err := grids.Study[simulate.Cell, simulate.Result]{Dir: f.Dir, Force: f.Force, Spec: results.SimulationSpec(s), Cells: cells,
		Do: results.Simulating(s, bar, note), Files: results.SimulationFiles(s, f.style), Cell: "run", Shard: &f.shard,
		Cost: s.Seconds, Memory: func(int) float64 { return s.Memory() }, Command: cmd}.Run(cmd.Context(), f.runner, bar)
	if err != nil || !whole {
		return err
	}
	g := simulate.NewGrid(cells, runs)
	rows, err := g.Rows(s.Options().Delta)
	if err != nil {
		return err
	}
	data := map[string]any{"simulated": true, "note": simulated.Note, "rows": rows}
	return f.Show(cmd, data, func(w io.Writer) error { return f.print(w, results.Simulation{Study: s, Grid: g, Rows: rows}) })
}

func (f *simulateFlags) print(w io.Writer, r results.Simulation) error {
	d := r.Document()
	if err := d.Text(w); err != nil {
		return err
	}
	if d.EndsWithTable() {
		fmt.Fprintln(w)
	}
	seconds := lists.Map(r.Rows, func(row simulate.Row) float64 { return row.Seconds })
	fmt.Fprintf(w, "cost           %.3g s a run\n", slices.Max(append(seconds, 0)))
	written := cmp.Or(f.Dir, "nothing: use -o FOLDER to keep runs, table and figures")
	_, err := fmt.Fprintf(w, "written        %s\n", written)
	return err
}
