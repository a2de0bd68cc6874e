package study

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Cells that another program computes, in any order and more than once, leave the same bytes as Run.
func TestWork(t *testing.T) {
	one, other := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "other")
	cells := places("a<b", 5)
	s := open(t, one, specOf("x"))
	if err := Run(t.Context(), s, cells, compute, Options{}); err != nil {
		t.Fatal(err)
	}
	kept := open(t, other, specOf("x"))
	first, err := compute(t.Context(), cells[1])
	if err == nil {
		err = kept.Put(t.Context(), cells[1], first)
	}
	if err != nil {
		t.Fatal(err)
	}
	w, err := kept.Work(append(cells, cells[0]), nil)
	if err != nil || len(w.Cells) != 4 || w.Total != 5 {
		t.Fatalf("%v, %v", w, err)
	}
	computing, err := open(t, "", specOf("x")).Work(cells, compute) // the other program, which has no folder
	if err != nil || computing.Key != w.Key || len(computing.Cells) != 5 {
		t.Fatalf("%v, %v", computing, err)
	}
	for i := len(w.Cells) - 1; i >= 0; i-- {
		if err := w.Fail(w.Cells[i], errors.New("it was killed")); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			result, err := computing.Do(t.Context(), w.Cells[i])
			if err == nil {
				err = w.Keep(t.Context(), w.Cells[i], result)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if left, err := kept.Work(cells, nil); err != nil || len(left.Cells) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	if a, b := cellsIn(t, one), cellsIn(t, other); a != b {
		t.Errorf("%s\nis not\n%s", b, a)
	}
	if failures, err := os.ReadDir(filepath.Join(other, failedName)); err != nil || len(failures) > 0 {
		t.Errorf("%v, %v", failures, err)
	}
}

// cellsIn returns names and contents of the files of cells.
func cellsIn(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, cellsName))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, cellsName, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(e.Name() + " " + string(content))
	}
	return all.String()
}

// What another version of the program has computed is refused, and a result that is there stays.
func TestWorkRefuses(t *testing.T) {
	s := open(t, "", specOf("x"))
	w, err := s.Work(places("a", 2), compute)
	if err != nil {
		t.Fatal(err)
	}
	cell := w.Cells[0]
	for _, test := range [][2]string{{string(cell), `{"text":"t","more":1}`}, {string(cell), `{"text":`},
		{string(cell), `{ "text":"t"}`},
		{`{"row":"a"}`, `{"text":"t"}`}, {`{}`, `{"text":"t"}`}} {
		err := w.Keep(t.Context(), json.RawMessage(test[0]), json.RawMessage(test[1]))
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", test, err)
		}
	}
	if _, err := w.Do(t.Context(), json.RawMessage(`{"place":1}`)); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	for _, text := range []string{"first", "second"} {
		if err := w.Keep(t.Context(), cell, json.RawMessage(`{"text":"`+text+`"}`)); err != nil {
			t.Error(err)
		}
	}
	if r, there, err := s.Get(place{"a", 0}); r.Text != "first" || !there || err != nil {
		t.Errorf("%v, %v, %v", r, there, err)
	}
}
