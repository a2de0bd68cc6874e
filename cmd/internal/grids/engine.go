package grids

import (
	"context"
	"fmt"
	"io"

	"mafalda/cmd/internal/terminal"
	"mafalda/study"
)

// Engine computes the cells of a grid somewhere else: on machines that need not have the files of this one.
type Engine interface {
	// Compute has work.Keep called with a result of each of the work's cells. Cells that fail it tells work.Fail of, has
	// the others computed, and returns the first error.
	Compute(ctx context.Context, g *Grid) error
}

// Grid is what an engine is to compute, and how another process makes the same study: it runs the command with the same
// words and inputs for an engine of its own (Runner.Engine), whose grid has the same Key; its Do computes the cells.
type Grid struct {
	*study.Work
	Command  []string // path of the command, without the program
	Flags    []Flag   // flags as they were typed, but for those about where results go
	Workers  int      // cells that a process may compute at a time
	Progress func(done, total int)
	Says     io.Writer // where notes about cells are written
}

// runElsewhere is study.Run with the cells computed by the runner's engine. Cells that have a result already, in the
// folder of the study, are none of its work.
func (s Study[C, R]) runElsewhere(ctx context.Context, runner *Runner, store *study.Store[C, R], bar *terminal.Progress) error {
	work, err := store.Work(s.Cells, s.Do)
	if err != nil || len(work.Cells) == 0 {
		return err
	}
	g := &Grid{Work: work, Workers: max(s.Workers, 1), Progress: bar.ShowAt, Says: s.Command.ErrOrStderr()}
	if g.Command, g.Flags, err = inputsOf(s.Command, runner.Words); err != nil {
		return err
	}
	failed := runner.Engine.Compute(ctx, g)
	left, err := store.Work(s.Cells, s.Do)
	switch {
	case err != nil:
		return err
	case failed == nil && len(left.Cells) > 0:
		failed = fmt.Errorf("the engine has ended, and has not computed %s", terminal.Count(len(left.Cells), s.Cell))
	case failed == nil:
		return nil
	}
	return &study.StoppedError{Done: left.Total - len(left.Cells), Total: left.Total, Err: failed}
}
