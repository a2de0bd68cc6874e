package noise

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"mafalda/internal/files"
)

// piped is a stream of all rows of single precision into a pipe whose other end the test has.
type piped struct {
	dir, path string
	all       [][]float64
	reader    *os.File
	done      chan error
}

func startPipe(t *testing.T) *piped {
	t.Helper()
	p := &piped{dir: exported(t, strategies(t)["blt"]), path: filepath.Join(t.TempDir(), "state"), done: make(chan error, 1)}
	seed := uint64(11)
	opts := Options{Seed: &seed}
	s, err := Open(p.dir, "ann", 100, opts)
	if err != nil {
		t.Fatal(err)
	}
	p.all = read(t, s.Next, steps)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.reader = r
	t.Cleanup(func() { r.Close() })
	out := files.NewPipe(w)
	if out == nil {
		w.Close()
		t.Fatal("it is not told what was read from a pipe")
	}
	d, err := OpenDurable(p.dir, "ann", 100, State{Path: p.path, New: true}, opts)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Draw(d, 0, Raw32)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	go func() { p.done <- errors.Join(rows.ToStream(out, true), d.Close(), out.Close()) }()
	return p
}

// next reads a row and the number of its step.
func (p *piped) next(t *testing.T) (step uint64, row []float32) {
	t.Helper()
	row = make([]float32, 100)
	if err := errors.Join(binary.Read(p.reader, binary.LittleEndian, &step), binary.Read(p.reader, binary.LittleEndian, row)); err != nil {
		t.Fatal(err)
	}
	return step, row
}

// after opens the state again: with the row after those that are out.
func (p *piped) after(t *testing.T, row int) *Issuer {
	t.Helper()
	seed := uint64(11)
	i, err := OpenIssuer(p.dir, "ann", 100, State{Path: p.path, Row: &row}, Options{Seed: &seed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { i.Close() })
	return i
}

// TestPipe: rows come with their steps, and never more than one that was not asked for; a reader that dies costs none.
func TestPipe(t *testing.T) {
	p := startPipe(t)
	for want := range 3 {
		step, row := p.next(t)
		for i, v := range p.all[want] {
			if step != uint64(want) || row[i] != float32(v) {
				t.Fatalf("number %d of row %d (%d) is %v, not %v", i, want, step, row[i], v)
			}
		}
	}
	time.Sleep(100 * time.Millisecond) // it waits for the reader
	if err := p.reader.Close(); err != nil {
		t.Fatal(err)
	}
	err := <-p.done
	var unread *UnreadError
	if !errors.As(err, &unread) || unread.Row != 3 {
		t.Fatalf("after a reader that read 3 rows: %v", err)
	}
	i := p.after(t, 4)
	if s := i.Standing(); s.Next != 4 || !slices.Equal(s.Unsent, []int{3}) {
		t.Errorf("%+v", s)
	}
	l := ledger{all: p.all}
	if row, err := i.Row(4); err != nil || !slices.Equal(row, l.sum([]int{3, 4})) {
		t.Errorf("row 4 does not have row 3 in it: %v", err)
	}
}

// TestPipeTorn: a row of which a byte was read is used up.
func TestPipeTorn(t *testing.T) {
	p := startPipe(t)
	p.next(t)
	if _, err := io.ReadFull(p.reader, make([]byte, 9)); err != nil {
		t.Fatal(err)
	}
	if err := p.reader.Close(); err != nil {
		t.Fatal(err)
	}
	var lost *LostError
	if err := <-p.done; !errors.As(err, &lost) || lost.First != 1 || lost.Last != 1 || !errors.Is(err, ErrReader) {
		t.Fatalf("after a part of row 1: %v", err)
	}
	if s := p.after(t, 2).Standing(); s.Next != 2 || len(s.Unsent) > 0 {
		t.Errorf("%+v", s)
	}
}

// TestPipeToTheEnd: a reader that takes everything, and one that stops between two rows while the next one is not drawn.
func TestPipeToTheEnd(t *testing.T) {
	p := startPipe(t)
	for range steps {
		p.next(t)
	}
	if err := <-p.done; err != nil {
		t.Error(err)
	}
	if _, err := io.ReadFull(p.reader, make([]byte, 1)); err != io.EOF {
		t.Errorf("after the last row: %v", err)
	}
}
