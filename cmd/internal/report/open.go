package report

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mafalda/cmd/internal/document"
	"mafalda/export"
	"mafalda/internal/files"
	"mafalda/internal/lists"
)

const maxFile = 1 << 29 // bytes

// resultNames are the files of results, each beside what it says.
func resultNames() []string {
	return []string{"account.json", "growth.json", "runs.json", "benchmark.json", "workloads.json", "sampling.json", "average.json",
		"compare.json", "advice.json", "audit.json", "partpsp.json"}
}

// open reads a folder.
func open(ctx context.Context, dir string) (*Source, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such folder: %w", dir, ErrNothing)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is a file, not a folder: %w", dir, ErrNothing)
	}
	s := &Source{Dir: dir}
	if s.hasFile(export.ManifestName) {
		if s.Export, err = export.LoadUntil(ctx, dir); err != nil {
			return nil, err
		}
		s.Commands = [][]string{s.Export.Manifest.Command}
		return s, s.describeExport()
	}
	if s.hasFile("study.json") {
		s.Study = &Study{}
		if err := s.read("study.json", s.Study); err != nil {
			return nil, err
		}
		s.Commands = s.Study.Commands
	}
	made := slices.IndexFunc(resultNames(), s.hasFile)
	switch {
	case s.hasFile(document.FileName):
		return s, s.readDocument(made)
	case made >= 0:
		return nil, fmt.Errorf("%s: %w: it has %s, but no %s, which says what its results mean; run its command again", dir, ErrNothing,
			resultNames()[made], document.FileName)
	case s.Study == nil && len(s.ending(".svg")) == 0:
		return nil, fmt.Errorf("%s: %w: it is no folder of an export, account, simulation, benchmark, comparison of "+
			"batches, average, audit, or of pictures", dir, ErrNothing)
	case s.Study != nil && len(s.ending(".svg")) == 0 && len(s.ending(".csv")) == 0:
		return nil, fmt.Errorf("%s: %w: its command ended before the first result; run it again", dir, ErrNothing)
	}
	s.describeTables()
	return s, nil
}

// readDocument reads what the results say, and the command that made them, if they are not of a study: from a file of
// resultNames, if there is one.
func (s *Source) readDocument(result int) error {
	s.Document = &document.Document{}
	if err := s.read(document.FileName, s.Document); err != nil {
		return err
	}
	if err := s.Document.Check(); err != nil {
		return fmt.Errorf("%s is damaged: %w", filepath.Join(s.Dir, document.FileName), err)
	}
	if s.Study != nil || result < 0 {
		return nil
	}
	var made struct {
		Command []string `json:"command"`
	}
	err := s.read(resultNames()[result], &made)
	s.Commands = [][]string{made.Command}
	return err
}

// describeTables makes the document of a folder that has none: its tables, as they are.
func (s *Source) describeTables() {
	const shown = 200 // rows
	d := document.New("pictures", "Pictures and tables, as they are in the folder.")
	d.Version = ""
	s.Document = d
	if s.Study != nil {
		d.Kind = strings.TrimPrefix(s.Study.Name, "mafalda ")
		for _, i := range s.Study.Inputs {
			if i.Name == "program" {
				d.Version = i.Value
			}
		}
	}
	for _, name := range s.ending(".csv") {
		lines, err := s.table(name)
		if err != nil {
			d.Warn("%s is not shown: %v", name, err)
			continue
		}
		header, rows := lines[0], lines[1:]
		t := document.Table{Caption: name, Header: header, Words: 1}
		if len(rows) > shown {
			t.Caption = fmt.Sprintf("%s, the first %d of %d rows", name, shown, len(rows))
		}
		t.Rows = lists.Map(rows[:min(shown, len(rows))], func(r []string) []string { return lists.Map(r, strings.TrimSpace) })
		d.Table(t)
	}
}

func (s *Source) hasFile(name string) bool {
	info, err := os.Stat(filepath.Join(s.Dir, name))
	return err == nil && !info.IsDir()
}

// ending returns the files whose names end like this, sorted.
func (s *Source) ending(suffix string) []string {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if name := e.Name(); e.Type().IsRegular() && !strings.HasPrefix(name, ".") && strings.HasSuffix(name, suffix) {
			names = append(names, name)
		}
	}
	return names
}

// read parses a file of JSON.
func (s *Source) read(name string, into any) error {
	path := filepath.Join(s.Dir, name)
	text, err := files.Read(path, maxFile)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s is damaged, or of a version that this one does not read: %w", path, err)
	}
	return nil
}

// table reads a file of CSV with a header, which is its first line.
func (s *Source) table(name string) ([][]string, error) {
	path := filepath.Join(s.Dir, name)
	text, err := files.Read(path, maxFile)
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case len(lines) == 0:
		return nil, fmt.Errorf("%s is empty", path)
	}
	return lines, nil
}

// hashes returns the SHA-256 of every file; for an export's files the one in its manifest, which was compared.
func hashes(s *Source) ([]document.Fact, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil, err
	}
	var all []document.Fact
	for _, e := range entries {
		name := e.Name()
		if !e.Type().IsRegular() || strings.HasPrefix(name, ".") {
			continue
		}
		hash, err := files.SHA256(filepath.Join(s.Dir, name))
		if err != nil {
			return nil, err
		}
		all = append(all, document.Fact{Name: name, Value: hash})
	}
	return all, nil
}
