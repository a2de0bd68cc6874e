package study

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is there is not computed again, more cells come to it, and a summary is of all of them.
func TestResume(t *testing.T) {
	dir := filled(t, specOf("x"))
	s := open(t, dir, specOf("x"))
	computed := 0
	count := func(ctx context.Context, c place) (value, error) { computed++; return compute(ctx, c) }
	ctx := context.Background()
	if err := Run(ctx, s, append(places("a", 5), places("a", 2)...), count, Options{}); err != nil || computed != 2 {
		t.Errorf("%d cells computed, want 2; %v", computed, err)
	}
	if err := s.Summarize(ctx, summary); err != nil ||
		strings.Count(read(t, filepath.Join(dir, "table.csv")), "\n") != 8 {
		t.Errorf("%v, %s", err, read(t, filepath.Join(dir, "table.csv")))
	}
	r, there, err := open(t, dir, specOf("x")).Get(place{"a", 4. / 3})
	if err != nil || !there || r.Text != "a<&>" || *r.Half != 4./3/2 {
		t.Errorf("%+v, %v, %v", r, there, err)
	}
	if _, there, err := s.Get(place{"c", 0}); there || err != nil {
		t.Errorf("a cell that nobody computed: %v, %v", there, err)
	}
}

// Somebody who finds study.json before there are cells does not stumble.
func TestNoCellsYet(t *testing.T) {
	dir := filled(t, specOf("x"))
	s := open(t, dir, specOf("x"))
	if err := os.RemoveAll(filepath.Join(dir, "cells")); err != nil {
		t.Fatal(err)
	}
	if err := Run(context.Background(), s, places("c", 1), compute, Options{}); err != nil {
		t.Error(err)
	}
}

// Without a folder everything is in memory.
func TestInMemory(t *testing.T) {
	s := open(t, "", specOf("x"))
	err := Run(context.Background(), s, places("a", 3), compute, Options{Workers: 2})
	if r, there, failed := s.Get(place{"a", 0}); err != nil || failed != nil || !there || r.Text == "" {
		t.Errorf("%+v, %v, %v, %v", r, there, err, failed)
	}
	if err := s.Summarize(context.Background(), nil); err != nil {
		t.Error(err)
	}
}

// A folder belongs to one set of inputs; who replaces them removes what the study wrote, and nothing else.
func TestOtherInputs(t *testing.T) {
	dir := filled(t, specOf("x", "y"))
	mine := filepath.Join(dir, "mine.txt")
	write(t, mine, "my notes")
	for name, tc := range map[string]struct {
		spec Spec
		say  string
	}{
		"another value": {specOf("x", "z"), "input 1 is y there and z here"},
		"one less":      {specOf("x"), "input 1 is gone"},
		"one more":      {specOf("x", "y", "z"), "input 2 is new"},
		"another study": {Spec{Study: "b", Inputs: specOf("x", "y").Inputs}, "they are of a test, not of b"},
	} {
		var other *InputsError
		if _, err := Open[place, value](dir, tc.spec); !errors.As(err, &other) ||
			!strings.Contains(err.Error(), tc.say) {
			t.Errorf("%s: %v, want %q", name, err, tc.say)
		}
	}
	spec := specOf("x", "z")
	spec.Replace = true
	s := open(t, dir, spec)
	if len(open(t, dir, specOf("x", "y")).allEntries()) != 6 {
		t.Error("replaced before there was a result")
	}
	if err := Run(context.Background(), s, places("c", 1), compute, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "table.csv")); err == nil || read(t, mine) != "my notes" {
		t.Errorf("summary: %v; %s", err, read(t, mine))
	}
	if again := open(t, dir, specOf("x", "z")); len(again.allEntries()) != 1 {
		t.Errorf("%d cells, want 1", len(again.allEntries()))
	}
}

// A run whose folder was replaced by another command stops, and does not take it back.
func TestReplacedMeanwhile(t *testing.T) {
	dir := filled(t, specOf("x"))
	spec := specOf("y")
	spec.Replace = true
	old, other := open(t, dir, specOf("x")), open(t, dir, spec)
	ctx := context.Background()
	if err := Run(ctx, other, places("a", 1), compute, Options{}); err != nil {
		t.Fatal(err)
	}
	var inputs *InputsError
	if err := Run(ctx, old, places("z", 1), compute, Options{}); !errors.As(err, &inputs) {
		t.Errorf("a result of the replaced study: %v", err)
	}
	if err := old.Summarize(ctx, summary); !errors.As(err, &inputs) {
		t.Errorf("its summary: %v", err)
	}
	spec = specOf("x")
	spec.Replace = true
	if err := Run(ctx, open(t, dir, spec), places("z", 1), compute, Options{}); err != nil {
		t.Error(err)
	}
	if err := Run(ctx, other, places("b", 1), compute, Options{}); !errors.As(err, &inputs) {
		t.Errorf("replaced twice by one run: %v", err)
	}
}

// Folders with files of somebody else are left alone, also by those who may replace.
func TestForeign(t *testing.T) {
	for name, setUp := range map[string]func(t *testing.T, dir string) string{
		"a file of the user's": func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir,
				"thesis.tex"), "")
			return dir
		},
		"a file, not a folder": func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir, "f"),
				"")
			return dir + "/f"
		},
		"a summary of the user's": func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir, "table.csv"),
				"")
			return dir
		},
		"later, in the study's": func(t *testing.T, _ string) string {
			dir := filled(t, Spec{Study: "a test", Inputs: specOf("x").Inputs})
			if err := os.Remove(filepath.Join(dir, "table.csv")); err != nil {
				t.Fatal(err)
			}
			r := `{"study":"a test","inputs":[{"name":"input 0","value":"x"}],"key":"` +
				specOf("x").Inputs.Key("a test").String() + `","files":[]}`
			write(t, filepath.Join(dir, "study.json"), r)
			write(t, filepath.Join(dir, "table.csv"), "mine")
			return dir
		},
	} {
		for _, replace := range []bool{false, true} {
			spec := specOf("x")
			spec.Replace = replace
			if _, err := Open[place, value](setUp(t, t.TempDir()), spec); !errors.Is(err, ErrForeign) {
				t.Errorf("%s, replace %v: %v", name, replace, err)
			}
		}
	}
}

// Summaries of names that are known only when there are results do not replace files of the user's either.
func TestForeignSummary(t *testing.T) {
	dir := filled(t, specOf("x"))
	write(t, filepath.Join(dir, "figure.png"), "mine")
	err := open(t, dir, specOf("x")).Summarize(context.Background(), func([]Entry[place, value]) ([]File, error) {
		return []File{{"figure.png", nil}}, nil
	})
	if !errors.Is(err, ErrForeign) || read(t, filepath.Join(dir, "figure.png")) != "mine" {
		t.Errorf("%v, %s", err, read(t, filepath.Join(dir, "figure.png")))
	}
}

// A summary that is not made any more goes; a file of the user's that gets its name later stays.
func TestSummariesThatAreMadeNoMore(t *testing.T) {
	dir, ctx := filled(t, specOf("x")), context.Background()
	made := func(names ...string) func([]Entry[place, value]) ([]File, error) {
		return func([]Entry[place, value]) (all []File, _ error) {
			for _, name := range names {
				all = append(all, File{name, func(w io.Writer) error { _, err := io.WriteString(w, "made"); return err }})
			}
			return all, nil
		}
	}
	there := func(name string) bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil }
	for _, names := range [][]string{{"table.csv", "level1.png"}, {"table.csv", "level1.01.png", "level1.02.png"}} {
		if err := open(t, dir, specOf("x")).Summarize(ctx, made(names...)); err != nil {
			t.Fatal(err)
		}
	}
	if there("level1.png") || !there("level1.01.png") || !there("level1.02.png") || !there("table.csv") {
		t.Error("what is there is not what was made last")
	}
	write(t, filepath.Join(dir, "level1.png"), "mine")
	for _, names := range [][]string{{"table.csv"}, {"table.csv", "level1.png"}} {
		err := open(t, dir, specOf("x")).Summarize(ctx, made(names...))
		if errors.Is(err, ErrForeign) != (len(names) > 1) || read(t, filepath.Join(dir, "level1.png")) != "mine" {
			t.Errorf("%v: %v", names, err)
		}
	}
	if there("level1.01.png") {
		t.Error("it is there still")
	}
}

// A folder with files and no study.json is somebody else's, also for --force.
func TestFolderWithoutStudyIsForeign(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "old.json"), "{}")
	for _, replace := range []bool{false, true} {
		spec := specOf("x")
		spec.Replace = replace
		if _, err := Open[place, value](dir, spec); !errors.Is(err, ErrForeign) || strings.Contains(err.Error(), "\n") {
			t.Errorf("replace %v: %v", replace, err)
		}
	}
	if read(t, filepath.Join(dir, "old.json")) != "{}" {
		t.Error("old.json is another file")
	}
}

// Temporary files of killed processes are removed by the next process that writes, and are never taken for cells. Once
// they stayed for an hour, and temporary summaries for ever.
func TestTemporariesOfKilledProcesses(t *testing.T) {
	var name string
	probe := t.TempDir()
	_ = replaceFile(filepath.Join(probe, "x"), func(io.Writer) error {
		entries, err := os.ReadDir(probe)
		if err != nil || len(entries) != 1 {
			t.Fatal(entries, err)
		}
		name = entries[0].Name()
		return errors.New("enough")
	})
	was, dir := filled(t, specOf("x")), filepath.Join(t.TempDir(), "moved") // where this process has not been yet
	if err := os.Rename(was, dir); err != nil {
		t.Fatal(err)
	}
	places := []string{filepath.Join(dir, name), filepath.Join(dir, "cells", name)}
	for _, path := range places {
		write(t, path, "half a c")
	}
	s := open(t, dir, specOf("x"))
	if len(s.allEntries()) != 6 {
		t.Errorf("%d cells", len(s.allEntries()))
	}
	for _, path := range []string{filepath.Join(dir, "y"), filepath.Join(dir, "cells", ".y")} {
		if err := replaceFile(path, func(io.Writer) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range places {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is there still", path)
		}
	}
}

// A place where no folder can be is found at once.
func TestUnwritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	if _, err := Open[place, value](filepath.Join(file, "a", "b"), specOf("x")); err == nil ||
		errors.Is(err, ErrForeign) {
		t.Errorf("%v", err)
	}
}

// A link that leads nowhere is no place for a folder, which shows before anything is computed.
func TestLinkToNowhere(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{link, filepath.Join(link, "grid")} {
		if _, err := Open[place, value](dir, specOf("x")); err == nil || !strings.Contains(err.Error(), "cannot write to "+dir) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// Nothing is written through a link in the folder, whatever study.json says that the study has written.
func TestLinksAreRefused(t *testing.T) {
	for _, name := range []string{"table.csv", "cells", "failed", ".lock", "export"} {
		dir, elsewhere := filled(t, specOf("x")), filepath.Join(t.TempDir(), "precious")
		write(t, elsewhere, "precious")
		if err := errors.Join(os.RemoveAll(filepath.Join(dir, name)), os.Symlink(elsewhere, filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
		_, err := Open[place, value](dir, specOf("x"))
		if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), name+" is a link") {
			t.Errorf("%s: %v", name, err)
		}
		if read(t, elsewhere) != "precious" {
			t.Errorf("%s: it was written through", name)
		}
	}
}

// A folder from somebody else has no file outside of it written, by links with the names of grids, failures and cells.
func TestNothingIsWrittenThroughLinksOfCells(t *testing.T) {
	for _, in := range []string{gridsName, failedName, cellsName} {
		t.Run(in, func(t *testing.T) {
			dir, elsewhere := filepath.Join(t.TempDir(), "grid"), filepath.Join(t.TempDir(), "elsewhere")
			store, cell := open(t, dir, specOf("x")), place{"a", 1}
			put := func() error {
				return errors.Join(store.Ask(t.Context(), []string{"account"}, []place{cell}),
					store.Fail(cell, errors.New("why")), store.Put(t.Context(), cell, value{}))
			}
			if err := errors.Join(put(), store.Fail(cell, errors.New("why"))); err != nil {
				t.Fatal(err)
			}
			links, err := filepath.Glob(filepath.Join(dir, in, "*.json"))
			if err != nil || len(links) != 1 {
				t.Fatal(links, err)
			}
			err = errors.Join(os.WriteFile(elsewhere, []byte("precious"), 0o666), os.Remove(links[0]),
				os.Symlink(elsewhere, links[0]))
			if err != nil {
				t.Fatal(err)
			}
			if err := put(); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "it is a link") {
				t.Error(err)
			}
			if content, err := os.ReadFile(elsewhere); err != nil || string(content) != "precious" {
				t.Errorf("%q, %v", content, err)
			}
		})
	}
}

// A folder that another process is just making is its own, never somebody else's.
func TestOpenedWhileItIsMade(t *testing.T) {
	for range 100 {
		dir, done := filepath.Join(t.TempDir(), "new"), make(chan error, 1)
		maker := open(t, dir, specOf("x"))
		go func() {
			ctx := context.Background()
			err := Run(ctx, maker, places("a", 1), compute, Options{})
			done <- errors.Join(err, maker.Summarize(ctx, summary))
		}()
		for made := false; !made; {
			_, err := Open[place, value](dir, specOf("x"))
			if err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-done:
				if made = true; err != nil {
					t.Fatal(err)
				}
			default:
			}
		}
	}
}
