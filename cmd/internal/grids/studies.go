package grids

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/terminal"
	"mafalda/study"
)

// StudyError makes errors about a folder that was named errors of usage.
func StudyError(err error) error {
	_, other := errors.AsType[*study.InputsError](err)
	switch {
	case other:
		return terminal.Usagef("%w: choose another folder, or --force to replace them", err)
	case errors.Is(err, study.ErrForeign) || errors.Is(err, study.ErrDamaged):
		return terminal.Usage(err)
	}
	return err
}

// StoppedError says what is kept of a study that ended early.
func StoppedError(err error, dir, what string) error {
	stopped, is := errors.AsType[*study.StoppedError](err)
	if !is {
		return StudyError(err)
	}
	if errors.Is(err, context.Canceled) {
		err = terminal.ErrInterrupted
	}
	err = StudyError(err)
	kept := fmt.Sprintf("%d of %s", stopped.Done, terminal.Count(stopped.Total, what))
	switch {
	case stopped.Done == 0 && !errors.Is(err, terminal.ErrInterrupted):
		return err
	case dir == "" && errors.Is(err, terminal.ErrInterrupted):
		return fmt.Errorf("%w after %s; nothing kept (use -o FOLDER to be able to go on)", err, kept)
	case dir == "":
		return err
	case stopped.Done == 0:
		return fmt.Errorf("%w; none of %s is finished, and nothing is written", err, terminal.Count(stopped.Total, what))
	}
	return fmt.Errorf("%w; %s are kept in %s, and the same command goes on with them", err, kept, dir)
}

// Study is a study as a command runs it.
type Study[C, R any] struct {
	Dir   string // where results are kept; empty: in memory
	Force bool   // results of other inputs are replaced
	Spec  study.Spec
	Cells []C                                             // cells that were asked for
	Do    func(context.Context, C) (R, error)             // computes one
	Known func(C, R)                                      // if not nil, sees those that are there before any is computed
	Files func([]study.Entry[C, R]) ([]study.File, error) // the summaries of all that are there
	Cell  string                                          // what a cell is called
	// Workers is how many cells are computed at a time, as in study.Options.
	Workers int
	Shard   *ShardFlags     // if on, only that part is computed
	Cost    func(C) float64 // rough seconds that a cell takes, for shards that end together; nil: all alike

	// Memory is about how many bytes computing takes with these processors, for a choice of machines; nil: not known.
	Memory func(processors int) float64

	Command *cobra.Command // command that makes the study, kept in the folder and run again by an engine; nil: part of another
}

// Run computes the cells that have no results yet, has the files of the folder made anew of all that are there, also
// after a run that ended early, and returns the results that were asked for, cell by cell. Of a shard it keeps the
// results, and reports that they are not whole: there is nothing to summarize yet.
func (s Study[C, R]) Run(ctx context.Context, runner *Runner, bar *terminal.Progress) (results []R, whole bool, err error) {
	s.Spec.Replace = s.Force
	if s.Command != nil {
		s.Spec.Command = runner.CommandOf(s.Command)
	}
	store, err := study.Open[C, R](s.Dir, s.Spec)
	if err != nil {
		_, other := errors.AsType[*study.InputsError](err)
		if other && (s.Shard.IsPart() || runner.Merging) { // which replace nothing
			return nil, false, terminal.Usagef("%w: all shards, and merge, are of one program with the same flags and files; "+
				"else choose another folder", err)
		}
		return nil, false, StudyError(err)
	}
	if s.Known != nil {
		for _, c := range s.Cells {
			if r, there, err := store.Get(c); err != nil {
				return nil, false, StudyError(err)
			} else if there {
				s.Known(c, r)
			}
		}
	}
	if s.Shard.IsPart() {
		return nil, false, s.runShard(ctx, runner.Plan, store, bar)
	}
	if runner.Merging {
		s.Do = func(_ context.Context, c C) (r R, err error) {
			text, _ := json.Marshal(c) // a cell can be encoded
			return r, fmt.Errorf("%s; missing: %s (submit it, or have the shards run, again)", s.Dir, text)
		}
	}
	bar.Busy(terminal.Count(len(s.Cells), s.Cell))
	if runner.Engine != nil {
		err = s.runElsewhere(ctx, runner, store, bar)
	} else {
		err = study.Run(ctx, store, s.Cells, s.Do, study.Options{Workers: s.Workers, Progress: bar.ShowAt})
	}
	bar.Clear()
	if err != nil {
		err = StoppedError(err, s.Dir, s.Cell)
	}
	summarized := store.Summarize(context.WithoutCancel(ctx), s.Files)
	if err != nil { // the summaries are made again when the command is
		return nil, false, err
	}
	if summarized != nil {
		return nil, false, StudyError(summarized)
	}
	results = make([]R, len(s.Cells))
	for i, c := range s.Cells {
		if results[i], _, err = store.Get(c); err != nil {
			return nil, false, err
		}
	}
	return results, true, nil
}
