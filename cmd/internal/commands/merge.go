package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/terminal"
	"mafalda/study"
)

type mergeFlags struct {
	json, quiet bool
}

func newMergeCmd() *cobra.Command {
	var f mergeFlags
	cmd := &cobra.Command{
		Use:   "merge FOLDER",
		Short: "Make of the shards of a grid what one machine would have made",
		Long: `Check that the shards of a grid have computed all of it, and write table, figures and JSON into the folder, byte for byte as
one machine would have. Times are those that were measured where a cell was computed.

account, simulate and benchmark compute a part of their grid with --shard i/N, on as many machines as there are: all parts write
into the same folder, a file a cell, and skip what is there. Nothing has to be locked. Run merge where the shards ran, so that
the same paths lead to the same inputs: they are read again, and refused if they have changed.

The command is the one that the shards have written down. It is one of those that have --shard, with flags that say what is
computed: a folder can have files read that it names, but no program run, and nothing written outside of it.

The exit code is 1, and the missing cells are named, while the grid is incomplete. Start the missing shards again (or all of
them: what is there is not computed again).`,
		Example: `  for i in 1 2 3; do mafalda account --graph florentine --T 10 --attacker all -o who --shard $i/3 & done; wait
  mafalda status who
  mafalda merge who
  mafalda submit --engine slurm --shards 20 --yes -- simulate --graph ego.edges --seeds 20 -o runs     # this, on a cluster`,
		Args: terminal.ExactArgs(1, "the folder that the shards wrote to"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.json, "json", false, "print what the command prints with --json")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only (and the JSON, with --json)")
	return cmd
}

func (f *mergeFlags) run(cmd *cobra.Command, dir string) error {
	o, err := study.Look(dir)
	if err != nil {
		return grids.StudyError(err)
	}
	if !o.Complete() {
		return incomplete(dir, o)
	}
	for i, words := range o.Commands {
		if o.Commands[i], err = grids.CheckRecorded(newRootCmd(new(grids.Runner)), words); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	for i, words := range o.Commands {
		out := io.Discard
		if i == len(o.Commands)-1 { // each writes all that is in the folder
			out = cmd.OutOrStdout()
		}
		words = append(words[:len(words):len(words)], "--output="+dir)
		if f.json {
			words = append(words, "--json")
		}
		if f.quiet {
			words = append(words, "--quiet")
		}
		root := newRootCmd(&grids.Runner{Words: words, Merging: true})
		if err := terminal.Nested(cmd.Context(), root, words, out, cmd.ErrOrStderr(), flags.Explain); err != nil {
			return err
		}
	}
	return nil
}

// incomplete names what is missing.
func incomplete(dir string, o *study.Overview) error {
	const most = 5
	err := fmt.Errorf("%s has %d of %s", dir, o.Done, terminal.Count(o.Cells, "cell"))
	for i, failed := range o.Failed {
		if i == most {
			err = fmt.Errorf("%w; %d more failed", err, len(o.Failed)-most)
			break
		}
		err = fmt.Errorf("%w; failed: %s: %s", err, foreign(string(failed.Cell)), foreign(failed.Error))
	}
	for i, cell := range o.Left {
		if i == most {
			return fmt.Errorf("%w; %d more are missing (all: mafalda status %s --json)", err, len(o.Left)-most,
				terminal.Shown(dir))
		}
		err = fmt.Errorf("%w; missing: %s", err, foreign(string(cell)))
	}
	return err
}

// foreign returns a text that a file of a folder holds, as a line that is not endless.
func foreign(text string) string {
	const most = 1000 // bytes
	for at := range text {
		if at >= most {
			return terminal.PlainLine(text[:at]) + " …"
		}
	}
	return terminal.PlainLine(text)
}

func newStatusCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status FOLDER",
		Short: "Say how far the shards of a grid are",
		Long: `Say how many cells of a grid that is computed with --shard are done, failed (and why) and left, and how long those will take at the
pace of the last ones that were finished. --json names all of them.
A cell that failed is computed again by the next shard that has it.`,
		Example: `  mafalda status who
  mafalda status who --json`,
		Args: terminal.ExactArgs(1, "the folder that the shards write to"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := study.Look(args[0])
			if err != nil {
				return grids.StudyError(err)
			}
			if asJSON {
				return terminal.WriteJSON(cmd.OutOrStdout(), statusJSON(o))
			}
			return writeStatus(cmd.OutOrStdout(), args[0], o)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func statusJSON(o *study.Overview) map[string]any {
	failures, missing := append([]study.Failure{}, o.Failed...), append([]json.RawMessage{}, o.Left...)
	var eta *float64 // null where it is not known
	if left, known := o.Remaining(time.Now()); known {
		eta = new(left.Seconds())
	}
	return map[string]any{"study": o.Study, "cells": o.Cells, "done": o.Done, "failed": len(o.Failed), "left": len(o.Left),
		"eta_seconds": eta, "failures": failures, "missing": missing}
}

func writeStatus(w io.Writer, dir string, o *study.Overview) error {
	fmt.Fprintf(w, "study   %s\ncells   %d\ndone    %d\nfailed  %d\nleft    %d\n", foreign(o.Study), o.Cells, o.Done, len(o.Failed),
		len(o.Left))
	left, known := o.Remaining(time.Now())
	switch {
	case len(o.Left) == 0:
	case known:
		fmt.Fprintf(w, "eta     %v\n", left.Round(time.Second))
	case len(o.Finished) == 0:
		fmt.Fprintln(w, "eta     not known: no cell is finished yet")
	default:
		fmt.Fprintf(w, "eta     not known: the last cell was finished %v ago\n",
			time.Since(o.Finished[len(o.Finished)-1]).Round(time.Second))
	}
	for _, f := range o.Failed {
		fmt.Fprintf(w, "        %s: %s\n", foreign(string(f.Cell)), foreign(f.Error))
	}
	if o.Complete() {
		fmt.Fprintf(w, "complete: mafalda merge %s\n", terminal.Shown(dir))
	}
	return nil
}
