package study

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Shards share out all cells, each to one, and no shard has more than the mean and the dearest cell.
func TestDeal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		costs := rapid.SliceOfN(rapid.Float64Range(0, 10), 0, 40).Draw(t, "costs")
		of := rapid.IntRange(1, 12).Draw(t, "of")
		var all []int
		var total, dearest float64
		for _, c := range costs {
			total, dearest = total+c, max(dearest, c)
		}
		for i := 1; i <= of; i++ {
			mine := Shard{i, of}.Deal(costs)
			if !slices.IsSorted(mine) || !slices.Equal(mine, Shard{i, of}.Deal(costs)) {
				t.Fatalf("shard %d of %d has %v", i, of, mine)
			}
			var load float64
			for _, c := range mine {
				load += costs[c]
			}
			if load > total/float64(of)+dearest+1e-9 {
				t.Fatalf("shard %d of %d has %v of %v, a cell costs at most %v", i, of, load, total, dearest)
			}
			all = append(all, mine...)
		}
		slices.Sort(all)
		for i, c := range all {
			if c != i {
				t.Fatalf("%d shards have %v", of, all)
			}
		}
		if len(all) != len(costs) {
			t.Fatalf("%d shards have %d of %d cells", of, len(all), len(costs))
		}
	})
	if got := Deal(make([]float64, 3), math.MaxInt); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("more shards than there can be: %v", got)
	}
	if got := (Shard{2, 3}).Deal(make([]float64, 7)); len(got) != 2 {
		t.Errorf("cells that cost nothing: %v", got)
	}
}

// shard computes the cells of one shard of rows a and b, as a program would.
func shard(t *testing.T, dir string, s Shard, do func(context.Context, place) (value, error)) error {
	t.Helper()
	store := open(t, dir, specOf("x"))
	all := append(places("a", 3), places("b", 4)...)
	if err := store.Ask(context.Background(), []string{"count", "--to=7"}, all); err != nil {
		t.Fatal(err)
	}
	var mine []place
	for _, i := range s.Deal(make([]float64, len(all))) {
		mine = append(mine, all[i])
	}
	return Run(context.Background(), store, mine, do, Options{GoOn: true})
}

func TestLook(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "grid")
	if _, err := Look(dir); !errors.Is(err, ErrForeign) {
		t.Errorf("no folder: %v", err)
	}
	if _, err := Look(filled(t, specOf("x"))); !errors.Is(err, ErrForeign) {
		t.Errorf("a folder without shards: %v", err)
	}
	broken := errors.New("broken\nand more")
	fails := func(ctx context.Context, c place) (value, error) {
		if c.Row == "b" && c.Column == 0 {
			return value{}, broken
		}
		return compute(ctx, c)
	}
	var stopped *StoppedError
	for i := 1; i <= 2; i++ {
		err := shard(t, dir, Shard{i, 3}, fails)
		if err != nil && (!errors.As(err, &stopped) || !errors.Is(err, broken)) {
			t.Fatal(err)
		}
	}
	if stopped == nil || stopped.Done != stopped.Total-1 {
		t.Errorf("the other cells of the shard: %+v", stopped)
	}
	o, err := Look(dir)
	if err != nil {
		t.Fatal(err)
	}
	if o.Cells != 7 || o.Done != 4 || len(o.Failed) != 1 || len(o.Left) != 2 || o.Complete() ||
		o.Failed[0].Error != "broken" || !strings.Contains(string(o.Failed[0].Cell), `"row":"b"`) ||
		len(o.Commands) != 1 || !slices.Equal(o.Commands[0], []string{"count", "--to=7"}) {
		t.Errorf("%+v", o)
	}
	for i := 1; i <= 3; i++ { // what is there is not computed again
		if err := shard(t, dir, Shard{i, 3}, compute); err != nil {
			t.Fatal(err)
		}
	}
	if o, err = Look(dir); err != nil || !o.Complete() || len(o.Failed) != 0 {
		t.Errorf("%+v, %v", o, err)
	}
	store := open(t, dir, specOf("x"))
	if err := store.Summarize(context.Background(), summary); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(read(t, filepath.Join(dir, "table.csv")), "\n"); lines != 7 {
		t.Errorf("%d lines", lines)
	}
}

func TestDamagedGrids(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "grid")
	if err := shard(t, dir, Shard{1, 3}, compute); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(filepath.Join(dir, gridsName))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	path := filepath.Join(dir, gridsName, names[0].Name())
	content := read(t, path)
	for name, text := range map[string]string{"cut": content[:len(content)/2], "fewer cells": strings.Replace(content,
		`{"row":"a","column":0},`, "", 1), "empty": ""} {
		write(t, path, text)
		if _, err := Look(dir); !errors.Is(err, ErrDamaged) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	write(t, path, content)
	write(t, filepath.Join(dir, gridsName, strings.Repeat("0", 64)+".json"), content)
	if _, err := Look(dir); !errors.Is(err, ErrDamaged) {
		t.Errorf("another name: %v", err)
	}
}

// Results of other inputs are replaced with their grids.
func TestReplaceGrids(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "grid")
	if err := shard(t, dir, Shard{1, 3}, compute); err != nil {
		t.Fatal(err)
	}
	spec := specOf("y")
	spec.Replace = true
	if err := Run(context.Background(), open(t, dir, spec), places("a", 1), compute, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := Look(dir); !errors.Is(err, ErrForeign) {
		t.Errorf("%v", err)
	}
}
