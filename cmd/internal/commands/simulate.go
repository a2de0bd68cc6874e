package commands

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/lists"
	"mafalda/simulate"
	"mafalda/simulated"
)

type simulateFlags struct {
	study  flags.SimulateFlags
	attack flags.SimulateAttackFlags
	gridFlags
}

// NewSimulate returns mafalda simulate, run for a runner.
func NewSimulate(runner *grids.Runner) *cobra.Command {
	f := simulateFlags{gridFlags: gridFlags{outcomeFlags: outcomeFlags{runner: runner}}}
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
	runs, whole, err := runGrid(&f.gridFlags, cmd, grids.Study[simulate.Cell, simulate.Result]{Spec: results.SimulationSpec(s),
		Cells: cells, Do: results.Simulating(s, bar, note), Files: results.SimulationFiles(s, f.style), Cell: "run", Cost: s.Seconds,
		Memory: func(int) float64 { return s.Memory() }}, bar)
	if err != nil || !whole {
		return err
	}
	g := simulate.NewGrid(cells, runs)
	rows, err := g.Rows(s.Options().Delta)
	if err != nil {
		return err
	}
	data := map[string]any{"simulated": true, "note": simulated.Note, "rows": rows}
	d := results.Simulation{Study: s, Grid: g, Rows: rows}.Document()
	seconds := lists.Map(rows, func(row simulate.Row) float64 { return row.Seconds })
	d.Fact("cost", "%.3g s a run", slices.Max(append(seconds, 0)))
	d.Fact("written", "%s", cmp.Or(f.Dir, "nothing: use -o FOLDER to keep runs, table and figures"))
	return f.Show(cmd, data, d.Text)
}
