package study

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestMain lets processes of the tests be writers: see TestProcesses.
func TestMain(m *testing.M) {
	if dir := os.Getenv("STUDY_WRITER"); dir != "" {
		if err := writer(dir, os.Getenv("STUDY_ROW")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// writer fills a row of its own and one that all writers share, and sums up.
func writer(dir, row string) error {
	s, err := Open[place, value](dir, specOf("x"))
	if err != nil {
		return err
	}
	slowly := func(ctx context.Context, c place) (value, error) {
		time.Sleep(time.Millisecond)
		return compute(ctx, c)
	}
	err = Run(context.Background(), s, append(places(row, 20), places("shared", 10)...), slowly, Options{Workers: 2})
	return errors.Join(err, s.Summarize(context.Background(), summary))
}

// Several processes in one folder keep all they find, whoever is killed, and the last summary is of everything.
func TestProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	start := func(row string) *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "STUDY_WRITER="+dir, "STUDY_ROW="+row)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	killed := start("killed")
	var writers []*exec.Cmd
	for i := range 4 {
		writers = append(writers, start(fmt.Sprint("row", i)))
	}
	for cells := 0; cells < 5; { // in the middle of things
		found, err := filepath.Glob(filepath.Join(dir, "cells", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		cells = len(found)
	}
	if err := killed.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = killed.Wait() // it says that it was killed, or is done already
	for _, w := range writers {
		if err := w.Wait(); err != nil {
			t.Error(err)
		}
	}
	if table := read(t, filepath.Join(dir, "table.csv")); strings.Count(table, "\n") < 90 ||
		strings.Count(table, "row3 ") != 20 {
		t.Errorf("the summary has %d lines:\n%s", strings.Count(table, "\n"), table)
	}
	before := len(open(t, dir, specOf("x")).allEntries())
	if err := writer(dir, "killed"); err != nil {
		t.Error(err)
	}
	if s := open(t, dir, specOf("x")); len(s.allEntries()) != 110 || before < 90 {
		t.Errorf("%d cells, %d at the end", before, len(s.allEntries()))
	}
}

// Whatever the cells, the workers and the moment when it ends: what is kept is right, and another run completes it.
func TestRunAnywhere(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		if err != nil {
			t.Fatal(err)
		}
		cells := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) place {
			return place{rapid.String().Draw(t, "row"), rapid.Float64().Draw(t, "column")}
		}), 1, 4).Draw(t, "cells")
		workers, end := rapid.IntRange(0, 5).Draw(t, "workers"), int64(rapid.IntRange(1, 5).Draw(t, "end"))
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var begun atomic.Int64
		do := func(ctx context.Context, c place) (value, error) {
			if begun.Add(1) == end {
				cancel()
			}
			if ctx.Err() != nil {
				return value{}, ctx.Err()
			}
			return compute(ctx, c)
		}
		for range 2 {
			s, err := Open[place, value](dir, specOf("x"))
			if err != nil {
				t.Fatal(err)
			}
			before := len(s.allEntries())
			var stopped *StoppedError
			err = Run(ctx, s, cells, do, Options{Workers: workers})
			if err != nil && (!errors.As(err, &stopped) || !errors.Is(err, context.Canceled) ||
				stopped.Done != len(s.allEntries()) || stopped.Done >= stopped.Total) {
				t.Fatalf("%d cells after %d: %v, %+v", len(s.allEntries()), before, err, stopped)
			}
			ctx = context.Background()
		}
		s, err := Open[place, value](dir, specOf("x"))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cells {
			r, there, err := s.Get(c)
			if want, _ := compute(ctx, c); err != nil || !there || *r.Half != *want.Half ||
				r.Text != strings.ToValidUTF8(want.Text, "\ufffd") {
				t.Fatalf("%+v: %+v, %v, %v", c, r, there, err)
			}
		}
	})
}

// The first error ends a run, names it, and keeps what was found; a run that finds nothing leaves nothing.
func TestErrors(t *testing.T) {
	bad := errors.New("bad cell")
	root := t.TempDir()
	for after := range 3 {
		dir := filepath.Join(root, fmt.Sprint(after), "d")
		s := open(t, dir, specOf("x"))
		begun := 0
		err := Run(context.Background(), s, places("a", 5), func(ctx context.Context, c place) (value, error) {
			if begun++; begun > after {
				return value{}, bad
			}
			return compute(ctx, c)
		}, Options{})
		var stopped *StoppedError
		if !errors.Is(err, bad) || !errors.As(err, &stopped) || stopped.Done != after || stopped.Total != 5 {
			t.Errorf("after %d: %v, %+v", after, err, stopped)
		}
		if err := s.Summarize(context.Background(), summary); err != nil {
			t.Error(err)
		}
		_, missing := os.Stat(filepath.Dir(dir))
		if (missing != nil) != (after == 0) {
			t.Errorf("after %d: %v", after, missing)
		}
	}
}

func TestProgress(t *testing.T) {
	var said []int
	s := open(t, "", specOf("x"))
	err := Run(context.Background(), s, places("a", 20), compute, Options{Workers: 4, Progress: func(done, total int) {
		if said = append(said, done); total != 20 {
			t.Errorf("of %d", total)
		}
	}})
	if err != nil || len(said) != 40 || said[39] != 20 {
		t.Errorf("%v, %v", said, err)
	}
}
