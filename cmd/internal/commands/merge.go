package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/lists"
	"mafalda/study"
)

type mergeFlags struct {
	json, quiet bool
}

func (f *mergeFlags) run(cmd *cobra.Command) error {
	dir := cmd.Flags().Arg(0)
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
	said := []string{fmt.Sprintf("%s has %d of %s", dir, o.Done, terminal.Count(o.Cells, "cell"))}
	for _, failure := range failures(o)[:min(most, len(o.Failed))] {
		said = append(said, "failed: "+failure)
	}
	if more := len(o.Failed) - most; more > 0 {
		said = append(said, fmt.Sprintf("%d more failed", more))
	}
	for _, cell := range o.Left[:min(most, len(o.Left))] {
		said = append(said, "missing: "+foreign(string(cell)))
	}
	if more := len(o.Left) - most; more > 0 {
		said = append(said, fmt.Sprintf("%d more are missing (all: mafalda status %s --json)", more, terminal.Shown(dir)))
	}
	return errors.New(strings.Join(said, "; "))
}

// failures says which cells have failed, and why.
func failures(o *study.Overview) []string {
	return lists.Map(o.Failed, func(f study.Failure) string { return foreign(string(f.Cell)) + ": " + foreign(f.Error) })
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
	var f struct{ JSON bool }
	return flags.Command("status", &f, func(cmd *cobra.Command, args []string) error {
		o, err := study.Look(args[0])
		if err != nil {
			return grids.StudyError(err)
		}
		if f.JSON {
			return terminal.WriteJSON(cmd.OutOrStdout(), statusJSON(o))
		}
		return statusPage(status{o, foreign(o.Study), terminal.Shown(args[0])}).Text(cmd.OutOrStdout())
	})
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

// status is what is known of a study.
type status struct {
	*study.Overview
	Study, Dir string
}

var statusPage = document.Page[status](pages, "status")

// ETA says when the study will be there; empty if no cell is left.
func (s status) ETA() string {
	left, known := s.Remaining(time.Now())
	switch {
	case len(s.Left) == 0:
		return ""
	case known:
		return left.Round(time.Second).String()
	case len(s.Finished) == 0:
		return "not known: no cell is finished yet"
	}
	return fmt.Sprintf("not known: the last cell was finished %v ago",
		time.Since(s.Finished[len(s.Finished)-1]).Round(time.Second))
}

// Failures say which cells have failed, and why.
func (s status) Failures() []string { return failures(s.Overview) }
