package report

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mafalda/internal/version"
)

// ErrNothing is returned for folders that have nothing to report.
var ErrNothing = errors.New("nothing to report")

// Options says how a report is made. The zero value works.
type Options struct {
	Title string // default: one made of the folders' names

	// Commands returns what makes a folder again; nil: the report does not say.
	Commands func(*Source) []Command

	// Graph is the file of the network of accounts, where they do not know all edges.
	Graph string
}

// Make reads folders, and returns the report of them in this order. Errors are ErrNothing of a folder that the program
// has not written, export.ErrNoExport and others of a damaged one, with its name.
func Make(ctx context.Context, dirs []string, o Options) (*Report, error) {
	r := &Report{Title: o.Title}
	var names []string
	for i, dir := range dirs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		source, err := open(dir)
		if err != nil {
			return nil, err
		}
		s := &Section{ID: fmt.Sprintf("s%d", i+1), Title: filepath.Base(filepath.Clean(dir)), Kind: source.Kind()}
		if err := s.fill(ctx, source, o); err != nil {
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

// fill writes the section of a source.
func (s *Section) fill(ctx context.Context, from *Source, o Options) (err error) {
	switch {
	case from.Export != nil:
		err = s.export(from)
	case from.Account != nil:
		err = s.account(ctx, from, o.Graph)
	case from.Simulation != nil:
		err = s.simulation(from)
	case from.Benchmark != nil:
		err = s.benchmark(from)
	case from.Sampling != nil:
		err = s.sampling(from)
	case from.Average != nil:
		err = s.average(from)
	default:
		err = s.tablesAndPictures(from)
	}
	if err != nil {
		return err
	}
	if of := from.Version(); of != "" && of != version.String() {
		s.warn("made by version %s of mafalda; this report is by %s, which reads it, and checks nothing else", of,
			version.String())
	}
	s.unfinished(from)
	s.summarize()
	if err := s.pictures(from.Dir); err != nil {
		return err
	}
	if o.Commands != nil {
		s.Commands = o.Commands(from)
	}
	s.Hashes, err = hashes(from)
	return err
}

func (s *Section) warn(format string, args ...any) {
	s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...))
}

// sum adds to the summary.
func (s *Section) sum(name, format string, args ...any) {
	s.Summary = append(s.Summary, Field{name, fmt.Sprintf(format, args...)})
}

// summarize completes the summary: it begins with what the folder is, and ends with what its numbers do not cover.
func (s *Section) summarize() {
	if !slices.ContainsFunc(s.Summary, func(f Field) bool { return f.Name == whatItIs }) {
		s.Summary = append([]Field{{whatItIs, s.Lead}}, s.Summary...)
	}
	for _, w := range s.Warnings {
		s.sum("mind", "%s", w)
	}
	if len(s.NotCovered) > 0 {
		s.sum("does not cover", "%s", strings.Join(s.NotCovered, "; "))
	}
}

// whatItIs is what a summary begins with.
const whatItIs = "what it is"

func (s *Section) ask(name, format string, args ...any) {
	s.Asked = append(s.Asked, Field{name, fmt.Sprintf(format, args...)})
}

// unfinished says if a grid has cells that its tables lack, or tables and no cells.
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
	if listed := from.listed(); listed >= 0 && n > listed {
		s.warn("not finished: %d of the %d results that are kept here are in the tables; the same command goes on, and "+
			"makes them anew", listed, n)
	}
}
