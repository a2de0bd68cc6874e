package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"mafalda/benchmarks"
	"mafalda/export"
	"mafalda/internal/files"
)

const maxFile = 1 << 29 // bytes

// open reads a folder.
func open(dir string) (*Source, error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is a file, not a folder: %w", dir, ErrNothing)
	}
	s := &Source{Dir: dir}
	if s.hasFile(export.ManifestName) {
		s.Export, err = export.Load(dir)
		return s, err
	}
	if s.hasFile("study.json") {
		s.Study = &Study{}
		if err := s.read("study.json", s.Study); err != nil {
			return nil, err
		}
	}
	switch {
	case s.hasFile("account.json"):
		s.Account = &Account{}
		err = s.read("account.json", s.Account)
	case s.hasFile("runs.json"):
		s.Simulation = &Simulation{}
		err = s.readSimulation()
	case s.hasFile("benchmark.json"):
		s.Benchmark = &benchmarks.Table{}
		err = s.read("benchmark.json", s.Benchmark)
	case s.hasFile("sampling.json"):
		s.Sampling = &Sampling{}
		err = s.read("sampling.json", s.Sampling)
	case s.hasFile("average.json"):
		s.Average = &Average{}
		err = s.read("average.json", s.Average)
	case s.Study == nil && len(s.ending(".svg")) == 0:
		return nil, fmt.Errorf("%s: %w: it is no folder of an export, account, simulation, benchmark, comparison of "+
			"batches, average, or of pictures", dir, ErrNothing)
	case s.Study != nil && len(s.ending(".svg")) == 0 && len(s.ending(".csv")) == 0:
		return nil, fmt.Errorf("%s: %w: its command ended before the first result; run it again", dir, ErrNothing)
	}
	return s, err
}

func (s *Source) readSimulation() error {
	if err := s.read("runs.json", s.Simulation); err != nil {
		return err
	}
	if !s.hasFile("simulate.csv") {
		return nil
	}
	_, rows, err := s.table("simulate.csv")
	s.Simulation.Rows = rows
	return err
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

// table reads a file of CSV with a header.
func (s *Source) table(name string) (header []string, rows []Row, err error) {
	path := filepath.Join(s.Dir, name)
	text, err := files.Read(path, maxFile)
	if err != nil {
		return nil, nil, err
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(lines) == 0 {
		return nil, nil, fmt.Errorf("%s is empty", path)
	}
	for _, line := range lines[1:] {
		row := Row{}
		for i, v := range line {
			row[lines[0][i]] = v
		}
		rows = append(rows, row)
	}
	return lines[0], rows, nil
}

// hashes returns the SHA-256 of every file; for an export's files the one in its manifest, which was compared.
func hashes(s *Source) ([]Field, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil, err
	}
	var all []Field
	for _, e := range entries {
		name := e.Name()
		if !e.Type().IsRegular() || strings.HasPrefix(name, ".") {
			continue
		}
		f, _, err := files.Open(filepath.Join(s.Dir, name))
		if err != nil {
			return nil, err
		}
		hash := sha256.New()
		_, err = io.Copy(hash, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		all = append(all, Field{name, hex.EncodeToString(hash.Sum(nil))})
	}
	return all, nil
}
