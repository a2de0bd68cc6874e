package noise

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
)

// ledger is what an issuer is to do, kept in the slowest way: the rows of all steps are known, and for every step that
// was handed out the steps whose rows are in it.
type ledger struct {
	all     [][]float64 // of a stream that nothing happens to
	next    int
	unsent  []int
	last    []int // steps in the row that may be asked for again; nil: none may
	sending string
}

// sum adds rows, the oldest first.
func (l *ledger) sum(steps []int) []float64 {
	row := slices.Clone(l.all[steps[0]])
	for _, s := range steps[1:] {
		for i, v := range l.all[s] {
			row[i] += v
		}
	}
	return row
}

// TestIssuerIsItsLedger: whatever is asked for, in whatever order, with restarts, crashes after which one of the two
// copies of the state is old or torn, and for every class of strategies: rows agree with the ledger to the last bit, and
// everything out of order is refused.
func TestIssuerIsItsLedger(t *testing.T) {
	all := strategies(t)
	all["regenerated"] = all["dense"]
	dirs, rows, seed := map[string]string{}, map[string][][]float64{}, uint64(7)
	options := func(name string) Options { return Options{Seed: &seed, Regenerate: name == "regenerated"} }
	for name, c := range all {
		dirs[name] = exported(t, c)
		s, err := Open(dirs[name], "ann", 100, options(name))
		if err != nil {
			t.Fatal(err)
		}
		rows[name] = read(t, s.Next, steps)
	}
	path := filepath.Join(inMemory(t), "state")
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(all))).Draw(t, "strategy")
		os.Remove(path)
		x := &issuing{t: t, dir: dirs[name], path: path, opts: options(name), ledger: ledger{all: rows[name]}}
		x.open(true)
		defer func() { x.issuer.stream.release() }()
		t.Repeat(map[string]func(*rapid.T){"": x.standing, "next": x.row, "again": x.again, "unsent": x.unsent,
			"sending": x.sends, "other step": x.other, "closed": x.closed, "crashed": x.crashed})
	})
}

// inMemory returns a folder whose files need not wait for a disk, where there is one.
func inMemory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "mafalda")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// issuing is an issuer beside its ledger.
type issuing struct {
	t         *rapid.T
	dir, path string
	opts      Options
	issuer    *Issuer
	ledger
}

func (x *issuing) open(fresh bool) {
	var err error
	if x.issuer, err = OpenIssuer(x.dir, "ann", 100, State{Path: x.path, New: fresh}, x.opts); err != nil {
		x.t.Fatal(err)
	}
}

func (x *issuing) standing(t *rapid.T) {
	s := x.issuer.Standing()
	issued := x.next - 1
	if x.last == nil {
		issued = -1
	}
	if s.Next != x.next || s.Issued != issued || s.Sending != x.sending || !slices.Equal(s.Unsent, x.ledger.unsent) {
		t.Fatalf("%+v, where the ledger has %d, %d, %q, %v", s, x.next, issued, x.sending, x.ledger.unsent)
	}
}

func (x *issuing) row(t *rapid.T) {
	row, err := x.issuer.Row(x.next)
	if x.next == steps {
		if err != io.EOF {
			t.Fatalf("after the last step: %v", err)
		}
		return
	}
	x.last, x.ledger.unsent, x.ledger.sending = append(x.ledger.unsent, x.next), nil, ""
	x.next++
	if err != nil || !slices.Equal(row, x.sum(x.last)) {
		t.Fatalf("row %d is another one, %v", x.next-1, err)
	}
}

func (x *issuing) again(t *rapid.T) {
	row, err := x.issuer.Row(x.next - 1)
	switch {
	case x.last == nil && !errors.Is(err, ErrOrder):
		t.Fatalf("row %d, which is no more: %v", x.next-1, err)
	case x.last != nil && (err != nil || !slices.Equal(row, x.sum(x.last))):
		t.Fatalf("row %d is another one the second time, %v", x.next-1, err)
	}
}

func (x *issuing) unsent(t *rapid.T) {
	step := x.next - rapid.IntRange(0, 1).Draw(t, "before the next")
	err := x.issuer.Unsent(step)
	switch {
	case step == steps:
		if err != io.EOF {
			t.Fatalf("after the last step: %v", err)
		}
	case step == x.next:
		x.ledger.unsent, x.last, x.ledger.sending = append(x.ledger.unsent, step), nil, ""
		x.next++
		if err != nil {
			t.Fatal(err)
		}
	case len(x.ledger.unsent) > 0:
		if err != nil {
			t.Fatalf("declared twice: %v", err)
		}
	case x.last == nil:
		if !errors.Is(err, ErrOrder) {
			t.Fatalf("of a step whose row is not out: %v", err)
		}
	case x.sending != "":
		if !errors.Is(err, ErrSent) {
			t.Fatalf("of a message that is being sent: %v", err)
		}
	default:
		x.ledger.unsent, x.last = x.last, nil
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (x *issuing) sends(t *rapid.T) {
	digest := strings.Repeat(rapid.SampledFrom([]string{"0a", "B0", "ff"}).Draw(t, "digest"), 32)
	err := x.issuer.Sending(x.next-1, digest)
	digest = strings.ToLower(digest)
	switch {
	case x.last == nil:
		if !errors.Is(err, ErrOrder) {
			t.Fatalf("of a step whose row is not out: %v", err)
		}
	case x.sending != "" && x.sending != digest:
		if !errors.Is(err, ErrSent) {
			t.Fatalf("a second message: %v", err)
		}
	default:
		x.ledger.sending = digest
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (x *issuing) other(t *rapid.T) {
	step := rapid.IntRange(-2, steps+2).Draw(t, "step")
	if step == x.next || step == x.next-1 {
		return
	}
	_, err := x.issuer.Row(step)
	for _, err := range []error{err, x.issuer.Unsent(step), x.issuer.Sending(step, strings.Repeat("a", 64))} {
		if !errors.Is(err, ErrOrder) {
			t.Fatalf("step %d, where %d is next: %v", step, x.next, err)
		}
	}
}

func (x *issuing) closed(t *rapid.T) {
	if err := x.issuer.Close(); err != nil {
		t.Fatal(err)
	}
	x.open(false)
}

// crashed leaves one copy of the place torn, or the second one as it was before.
func (x *issuing) crashed(t *rapid.T) {
	if err := x.issuer.stream.release(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(x.path)
	if err != nil {
		t.Fatal(err)
	}
	at := len(content) - rapid.IntRange(1, 2).Draw(t, "copy")*blockSize
	content[at+rapid.IntRange(0, 80).Draw(t, "at")] ^= 1
	if err := os.WriteFile(x.path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	x.open(false)
}

// TestIssuerCutOff: of a crash between the two copies of the state the first one is believed, which is what the row, or
// the answer, that may have left was for.
func TestIssuerCutOff(t *testing.T) {
	dir, path := exported(t, strategies(t)["blt"]), filepath.Join(t.TempDir(), "state")
	open := func(fresh bool) *Issuer {
		i, err := OpenIssuer(dir, "ann", 100, State{Path: path, New: fresh}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	i := open(true)
	for _, act := range []func() error{
		func() error { _, err := i.Row(0); return err },
		func() error { return i.Unsent(0) },
		func() error { _, err := i.Row(1); return err },
		func() error { return i.Sending(1, strings.Repeat("c", 64)) },
		func() error { return i.Unsent(2) },
	} {
		before := content(t, path)
		if err := act(); err != nil {
			t.Fatal(err)
		}
		want := i.Standing()
		if err := i.stream.release(); err != nil {
			t.Fatal(err)
		}
		now := content(t, path)
		copy(now[len(now)-blockSize:], before[len(before)-blockSize:])
		if err := os.WriteFile(path, now, 0o600); err != nil {
			t.Fatal(err)
		}
		i = open(false)
		if s := i.Standing(); s.Next != want.Next || s.Issued != want.Issued || s.Sending != want.Sending ||
			!slices.Equal(s.Unsent, want.Unsent) {
			t.Errorf("%+v after a crash, %+v before", s, want)
		}
	}
	i.stream.release()
}

// TestIssuerEnds: after an error of the state, or of drawing, there is no row, not even the last one: its room may hold
// something else.
func TestIssuerEnds(t *testing.T) {
	dir := exported(t, strategies(t)["blt"])
	for name, harm := range map[string]func(i *Issuer, path string) error{
		"the state is gone":    func(_ *Issuer, path string) error { return os.Remove(path) },
		"the state is another": func(_ *Issuer, path string) error { return os.WriteFile(path, []byte("x"), 0o600) },
		"numbers":              func(i *Issuer, _ string) error { i.stream.std = 1e308; return nil },
	} {
		path := filepath.Join(t.TempDir(), "state")
		i, err := OpenIssuer(dir, "ann", 100, State{Path: path, New: true}, Options{})
		if err == nil {
			_, err = i.Row(0)
		}
		if err = errors.Join(err, harm(i, path)); err != nil {
			t.Fatal(err)
		}
		if _, err := i.Row(1); err == nil {
			t.Errorf("%s: there is a row", name)
		}
		for _, step := range []int{0, 1} {
			if row, err := i.Row(step); err == nil {
				t.Errorf("%s: step %d has a row afterwards: %v", name, step, row[:3])
			}
			if err := i.Unsent(step); err == nil {
				t.Errorf("%s: step %d is declared afterwards", name, step)
			}
		}
		i.stream.release()
	}
}

// TestSkip: the row after skipped steps is the sum, also for a stream without a state, in single precision and on a
// grid; the state of a stream that goes on has it too.
func TestSkip(t *testing.T) {
	dir, seed := exported(t, strategies(t)["blt"]), uint64(5)
	opts := Options{Seed: &seed, Grid: 0x1p-20}
	plain, err := Open(dir, "ann", 100, opts)
	if err != nil {
		t.Fatal(err)
	}
	l := ledger{all: read(t, plain.Next, steps)}
	s, err := Open(dir, "ann", 100, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Skip(), s.Skip()); err != nil || s.Carried() != 2 || s.Step() != 2 {
		t.Fatal(err, s.Carried(), s.Step())
	}
	if got := read(t, s.Next, 2); !same(got, [][]float64{l.sum([]int{0, 1, 2}), l.all[3]}) {
		t.Error("the rows after two skipped steps are others")
	}
	path := filepath.Join(t.TempDir(), "state")
	d, err := OpenDurable(dir, "ann", 100, State{Path: path, New: true}, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Skip(), d.Skip(), d.Close()); err != nil {
		t.Fatal(err)
	}
	if d, err = OpenDurable(dir, "ann", 100, State{Path: path}, opts); err != nil {
		t.Fatal(err)
	}
	if got := read(t, d.Next, 2); !same(got, [][]float64{l.sum([]int{0, 1, 2}), l.all[3]}) {
		t.Error("the rows after two skipped steps and a restart are others")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	i, err := OpenIssuer(dir, "ann", 100, State{Path: path}, opts)
	if err != nil {
		t.Fatal(err)
	}
	if s := i.Standing(); s.Next != 4 || s.Issued != -1 {
		t.Errorf("rows of a stream can be asked for again: %+v", s)
	}
	if err := i.Close(); err != nil {
		t.Fatal(err)
	}
}
