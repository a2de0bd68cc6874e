package study

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Two writers of one cell, whose results differ as measured times do: one of them remains, as a whole.
func TestTwoWritersOfOneCell(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "grid")
	cell := place{"a", 1}
	long := func(writer int) value { return value{Text: strings.Repeat(fmt.Sprint(writer), 100000)} }
	var wg sync.WaitGroup
	for writer := range 4 {
		store := open(t, dir, specOf("x"))
		wg.Go(func() {
			for range 20 {
				if err := store.Put(context.Background(), cell, long(writer)); err != nil {
					t.Error(err)
				}
				got, there, err := open(t, dir, specOf("x")).Get(cell)
				if err != nil || !there || len(got.Text) != 100000 || strings.Trim(got.Text, got.Text[:1]) != "" {
					t.Errorf("%v, %v: %.10s", there, err, got.Text)
				}
			}
		})
	}
	wg.Wait()
	names, err := os.ReadDir(filepath.Join(dir, cellsName))
	if err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
}

// A shard that was killed while it wrote leaves a temporary file, which is no cell and in nobody's way.
func TestHalfWrittenCell(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "grid")
	if err := shard(t, dir, Shard{1, 2}, compute); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, cellsName, "*.json"))
	if err != nil || len(names) != 4 {
		t.Fatal(names, err)
	}
	content := read(t, names[0])
	write(t, filepath.Join(dir, cellsName, ".mafalda-123"), content[:len(content)/2])
	if o, err := Look(dir); err != nil || o.Done != 4 {
		t.Errorf("%+v, %v", o, err)
	}
	if err := shard(t, dir, Shard{2, 2}, compute); err != nil {
		t.Fatal(err)
	}
	if o, err := Look(dir); err != nil || !o.Complete() {
		t.Errorf("%+v, %v", o, err)
	}
	// of a file system that loses what was written: found, and named
	write(t, names[0], content[:len(content)/2])
	if _, err := Look(dir); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), names[0]) {
		t.Errorf("half a cell: %v", err)
	}
	if err := os.Remove(names[0]); err != nil {
		t.Fatal(err)
	}
	if o, err := Look(dir); err != nil || o.Done != 6 || len(o.Left) != 1 {
		t.Errorf("%+v, %v", o, err)
	}
}

// Shards of two versions of a program do not mix.
func TestMixedVersions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "grid")
	of := func(version string) Spec {
		s := Spec{Study: "mafalda count"}
		s.Inputs.Add("program", version)
		return s
	}
	store := open(t, dir, of("v1.2.0"))
	if err := store.Ask(context.Background(), []string{"count"}, places("a", 2)); err != nil {
		t.Fatal(err)
	}
	var other *InputsError
	_, err := Open[place, value](dir, of("v1.3.0"))
	if !errors.As(err, &other) || !strings.HasSuffix(err.Error(), "holds results of other inputs: program is v1.2.0 there and v1.3.0 here") {
		t.Errorf("%v", err)
	}
	// one that was there before the first
	late := open(t, filepath.Join(t.TempDir(), "later"), of("v1.3.0"))
	late.folder.dir = dir
	if err := late.Ask(context.Background(), []string{"count"}, places("a", 2)); !errors.As(err, &other) {
		t.Errorf("%v", err)
	}
}

// What cannot be kept ends a shard at once: the other cells could not be kept either.
func TestShardThatCannotKeep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "grid")
	computed := 0
	err := shard(t, dir, Shard{1, 1}, func(ctx context.Context, c place) (value, error) {
		if computed++; computed == 3 {
			cells := filepath.Join(dir, cellsName)
			if err := os.Rename(cells, cells+"-away"); err != nil {
				t.Fatal(err)
			}
			write(t, cells, "") // where nothing can be written now
		}
		return compute(ctx, c)
	})
	var stopped *StoppedError
	if !errors.As(err, &stopped) || computed != 3 || stopped.Done != 2 || !strings.Contains(err.Error(), dir) {
		t.Errorf("%v after %d cells", err, computed)
	}
	if names, _ := os.ReadDir(filepath.Join(dir, failedName)); len(names) > 0 {
		t.Errorf("a full disk is no failure of a cell: %v", names)
	}
}
