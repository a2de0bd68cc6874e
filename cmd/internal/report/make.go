package report

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mafalda/cmd/internal/document"
	"mafalda/internal/version"
)

// ErrNothing is returned for folders that have nothing to report.
var ErrNothing = errors.New("nothing to report")

// Make reads folders, and returns the report of them in this order; an empty title is made of the folders' names. Errors are
// ErrNothing of a folder that the program has not written, export.ErrNoExport and others of a damaged one, with its name.
func Make(ctx context.Context, dirs []string, title string) (*Report, error) {
	r := &Report{Title: title}
	var names []string
	for i, dir := range dirs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		source, err := open(ctx, dir)
		if err != nil {
			return nil, err
		}
		s := &Section{Document: source.Document, ID: fmt.Sprintf("s%d", i+1), Title: filepath.Base(filepath.Clean(dir))}
		if err := s.fill(ctx, source); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		names = append(names, s.Title)
		r.Sections = append(r.Sections, s)
	}
	if r.Title == "" {
		r.Title = "mafalda: " + strings.Join(names, ", ")
	}
	return r, nil
}

// fill adds to a document what is in its folder beside it: pictures, commands, hashes.
func (s *Section) fill(ctx context.Context, from *Source) (err error) {
	if s.Version != "" && s.Version != version.String() {
		s.Warn("made by version %s of mafalda; this report is by %s, which reads it, and checks nothing else", s.Version, version.String())
	}
	s.unfinished(from)
	if from.Export != nil {
		if err := s.drawStrategy(from.Export); err != nil {
			return err
		}
		half, err := s.drawSpent(from)
		if err == nil {
			err = s.answer(ctx, from, half)
		}
		if err != nil {
			return err
		}
	}
	if m := s.Document.Map; m != nil {
		s.Map = &Map{ID: s.ID, Map: m}
	}
	if err := s.pictures(from.Dir); err != nil {
		return err
	}
	s.summarize()
	s.Commands = from.commands()
	s.Hashes, err = hashes(from)
	return err
}

// summarize completes the summary: it begins with what the folder is, and ends with what has to be known of it.
func (s *Section) summarize() {
	if !slices.ContainsFunc(s.Summary, func(f document.Fact) bool { return f.Name == document.WhatItIs }) {
		s.Summary = append([]document.Fact{{Name: document.WhatItIs, Value: s.Lead}}, s.Summary...)
	}
	for _, w := range s.Warnings {
		s.Summarize("mind", "%s", w)
	}
}

// unfinished says if a grid has cells that the document is not about.
func (s *Section) unfinished(from *Source) {
	if from.Study == nil {
		return
	}
	cells, err := os.ReadDir(filepath.Join(from.Dir, "cells"))
	if err != nil {
		return
	}
	n := 0
	for _, c := range cells {
		if strings.HasSuffix(c.Name(), ".json") {
			n++
		}
	}
	if s.Cells > 0 && n > s.Cells {
		s.Warn("not finished: %d of the %d results that are kept here are in the tables; the same command goes on, and makes them anew",
			s.Cells, n)
	}
}
