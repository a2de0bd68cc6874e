package noise

import (
	"errors"
	"math"
	"testing"
)

// TestBatch: rows that could not be kept come again, rows that could not be published do not.
func TestBatch(t *testing.T) {
	dir, path, _ := begun(t, 1)
	full := errors.New("no space left")
	kept := make([][]float64, 2)
	draw := func(err error) func(func([]float64) error) error {
		return func(next func([]float64) error) error {
			for i := range kept {
				kept[i] = make([]float64, 3)
				if err := next(kept[i]); err != nil {
					return err
				}
			}
			return err
		}
	}
	d := reopen(t, dir, State{Path: path})
	if err := d.Batch(2, draw(full), func() error { t.Error("published"); return nil }); err != full {
		t.Error(err)
	}
	if err := d.Next(kept[0]); err != full {
		t.Errorf("after a failure: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	first := kept
	kept = make([][]float64, 2)
	d = reopen(t, dir, State{Path: path})
	published := false
	if err := d.Batch(2, draw(nil), func() error { published = true; return nil }); err != nil || !published ||
		!same(first, kept) {
		t.Errorf("%v, published %v: %v and %v", err, published, first, kept)
	}
	if err := d.Batch(2, draw(nil), func() error { return full }); !errors.Is(err, ErrLost) || !errors.Is(err, full) {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if d = reopen(t, dir, State{Path: path}); d.Step() != 5 || !d.CutOff() {
		t.Errorf("row %d is next, cut off %v; want 5, and true", d.Step(), d.CutOff())
	}
}

// TestNothingBurned: a row of a wrong length, or with numbers that are not finite, is not noted as handed out; after an
// error of the disk nothing more comes out.
func TestNothingBurned(t *testing.T) {
	dir, path, _ := begun(t, 1)
	d := reopen(t, dir, State{Path: path})
	if err := d.Next(make([]float64, 2)); err == nil {
		t.Error("a row too short")
	}
	if err := d.NextFloat32(make([]float32, 4)); err == nil {
		t.Error("a row too long")
	}
	if d.disk.state.place.Issued != 1 {
		t.Errorf("%d rows are out, want 1", d.disk.state.place.Issued)
	}
	d.std = math.Inf(1)
	for range 2 {
		row := []float64{1, 1, 1}
		if err := d.Next(row); !errors.Is(err, ErrNumbers) || row[0] != 1 || d.disk.state.place.Issued != 1 {
			t.Errorf("infinite noise: %v, %v, %d rows are out", err, row, d.disk.state.place.Issued)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	d = reopen(t, dir, State{Path: path})
	d.std = math.Inf(1)
	deaf := func(next func([]float64) error) error {
		_ = next(make([]float64, 3))
		return nil
	}
	if err := d.Batch(1, deaf, func() error { t.Error("published"); return nil }); !errors.Is(err, ErrNumbers) {
		t.Errorf("rows that were not looked at: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	d = reopen(t, dir, State{Path: path})
	if err := d.disk.state.file.Close(); err != nil {
		t.Fatal(err)
	}
	row := []float64{1, 1, 1}
	if err := d.Next(row); err == nil || row[0] != 1 || d.Next(row) == nil {
		t.Errorf("a state that cannot be written: %v, %v", err, row)
	}
}
