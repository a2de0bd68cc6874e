package noise

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// limited returns a budget that the first so many rows of an export meet, and the next one passes.
func limited(t *testing.T, dir string, rows int) Limit {
	t.Helper()
	all, err := OpenOdometer(dir, "ann", 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := all.After(rows)
	if err != nil {
		t.Fatal(err)
	}
	return Limit{Mu: *s.Mu * (1 + 1e-9)}
}

// within returns how many rows a budget has room for, and compares that with all rows, one by one.
func within(t *testing.T, dir string, l Limit) int {
	t.Helper()
	all, err := OpenOdometer(dir, "ann", 0)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := all[0].rowsWithin(l)
	if err != nil {
		t.Fatal(err)
	}
	for s := range steps {
		if spent, err := all.After(s + 1); err != nil || (*spent.Mu <= l.Mu) != (s < rows) {
			t.Fatalf("%d rows are within %v, and after %d it is %v, %v", rows, l, s+1, spent, err)
		}
	}
	return rows
}

// The row that would pass the budget is not drawn: not at once, not when the state is opened again without the budget, not
// from a copy of the state, and not after a crash. A budget is never raised, and a smaller one holds from then on.
func TestBudgetEndsTheRun(t *testing.T) {
	dir := exported(t, dense(t))
	limit := limited(t, dir, 7)
	end := within(t, dir, limit)
	if end < 7 || end >= steps {
		t.Fatalf("a budget for %d of %d rows says nothing", end, steps)
	}
	path, copied := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "copy")
	open := func(path string, fresh bool, l *Limit) (*Stream, error) {
		return OpenDurable(dir, "ann", 100, State{Path: path, New: fresh}, Options{Limit: l})
	}
	d, err := open(path, true, &limit)
	if err != nil {
		t.Fatal(err)
	}
	read(t, d.Next, end-1)
	if err := d.issue(1); err != nil { // killed when the state was written, and the row was not used
		t.Fatal(err)
	}
	if err := d.release(); err != nil {
		t.Fatal(err)
	}
	refused := func(path string, l *Limit) {
		t.Helper()
		d, err := open(path, false, l)
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float64, 100)
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := d.Next(row); !errors.Is(err, ErrBudget) || !strings.Contains(err.Error(), "mu = ") {
				t.Errorf("row %d: %v", end, err)
			}
			if err := d.Skip(); !errors.Is(err, ErrBudget) {
				t.Errorf("skipping row %d: %v", end, err)
			}
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) || row[0] != 0 {
			t.Errorf("a row that was refused was drawn (%v)", err)
		}
		if _, err := Draw(d, 1, NPY); !errors.Is(err, ErrBudget) {
			t.Errorf("drawing: %v", err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	refused(path, &limit)
	refused(path, nil)
	state, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, state, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(copied, nil)
	larger := limited(t, dir, end+1)
	if _, err := open(path, false, &larger); !errors.Is(err, ErrState) {
		t.Errorf("a larger budget: %v", err)
	}
	smaller := Limit{Mu: limit.Mu / 2}
	if _, err := open(path, false, &smaller); !errors.Is(err, ErrBudget) {
		t.Errorf("a budget that is spent already: %v", err)
	}
	refused(path, nil)
}

// A counter on other storage also knows of a budget that an old copy of the state does not have.
func TestCounterKeepsTheBudget(t *testing.T) {
	dir := exported(t, dense(t))
	path, counter := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "counter")
	limit := limited(t, dir, 5)
	end := within(t, dir, limit)
	open := func(fresh bool, l *Limit) *Stream {
		d, err := OpenDurable(dir, "ann", 100, State{Path: path, Counter: counter, New: fresh}, Options{Limit: l})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if err := open(true, nil).Close(); err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := open(false, &limit).Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, old, 0o600); err != nil {
		t.Fatal(err)
	}
	d := open(false, nil)
	read(t, d.Next, end)
	if err := d.Next(make([]float64, 100)); !errors.Is(err, ErrBudget) {
		t.Errorf("from an old copy: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// A row counts from when it may have been sent: drawn and declared unsent, or skipped, it counts when it is carried.
func TestSpentCountsWhatMayBeOut(t *testing.T) {
	dir := exported(t, dense(t))
	path := filepath.Join(t.TempDir(), "state")
	fresh := true
	open := func() *Issuer {
		i, err := OpenIssuer(dir, "ann", 100, State{Path: path, New: fresh}, Options{})
		fresh = false
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	i := open()
	row := func(step int) func() error {
		return func() error { _, err := i.Row(step); return err }
	}
	unsent := func(step int) func() error { return func() error { return i.Unsent(step) } }
	again := func() error { err := i.Close(); i = open(); return err }
	for n, step := range []struct {
		do   func() error
		rows int // that may be out
	}{
		{again, 0}, {row(0), 1}, {row(0), 1}, {again, 1}, {unsent(0), 0}, {again, 0}, {row(1), 2}, {unsent(2), 2},
		{again, 2}, {unsent(3), 2}, {row(4), 5}, {unsent(4), 2}, {again, 2}, {row(5), 6}, {again, 6},
	} {
		if err := step.do(); err != nil {
			t.Fatal(n, err)
		}
		if s, err := i.Stream().Spent(); err != nil || s.Steps != step.rows {
			t.Errorf("%d: %d rows may be out, not %d (%v)", n, s.Steps, step.rows, err)
		}
	}
	if err := i.Close(); err != nil {
		t.Error(err)
	}
}

// More noise than the manifest says costs less; a budget says less than it can: one line each.
func TestLimits(t *testing.T) {
	dir := exported(t, dense(t))
	quiet, err := Open(dir, "ann", 10, Options{})
	if err != nil {
		t.Fatal(err)
	}
	loud, err := Open(dir, "ann", 10, Options{NoiseStd: 2 * quiet.NoiseStd()})
	if err != nil {
		t.Fatal(err)
	}
	for rows := range steps + 1 {
		a, errA := quiet.spentAfter(rows)
		b, errB := loud.spentAfter(rows)
		if errA != nil || errB != nil || math.Abs(*a.Mu-2**b.Mu) > 1e-9**a.Mu || *a.Mu > 0.5 || *b.Mu > 0.25 {
			t.Errorf("%d rows: %v and %v (%v, %v)", rows, a, b, errA, errB)
		}
	}
	if end, err := quiet.spentAfter(steps); err != nil || *end.Mu > 0.5 || *end.Mu < 0.5*(1-1e-15) { // sens(C) is 1 but for rounding
		t.Errorf("all rows: %v, %v", end, err)
	}
	for say, l := range map[string]Limit{
		"a limit has":  {},
		"or a mu":      {Mu: 1, Epsilon: 1},
		"positive":     {Mu: math.NaN()},
		"has no delta": {Epsilon: 1},
		"row 0 alone":  {Mu: 1e-9},
		"above 0":      {Epsilon: 1, Delta: 1},
		"and finite":   {Mu: math.Inf(1)},
	} {
		if _, err := Open(dir, "ann", 10, Options{Limit: &l}); err == nil || !strings.Contains(err.Error(), say) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v; want %q", l, err, say)
		}
		if _, err := OpenDurable(dir, "ann", 10, State{Path: filepath.Join(t.TempDir(), "s"), New: true},
			Options{Limit: &l}); err == nil {
			t.Errorf("%v starts a state", l)
		}
	}
	s, err := Open(dir, "ann", 10, Options{Limit: &Limit{Epsilon: 100, Delta: 1e-6}})
	if err != nil || s.End() != steps {
		t.Fatal(err)
	}
	for range steps {
		if err := s.Next(make([]float64, 10)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Next(make([]float64, 10)); err != io.EOF {
		t.Error(err)
	}
}
