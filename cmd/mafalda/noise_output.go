package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"

	"mafalda/internal/cli"
	"mafalda/internal/files"
	"mafalda/internal/npy"
	"mafalda/noise"
)

// rows is a stream, with its state if it has one.
type rows struct {
	*noise.Stream
	durable *noise.Durable
}

// batch is Durable's, also for streams without a state.
func (r rows) batch(count int, prepare func(next func(dst []float64) error) error, publish func() error) error {
	if r.durable != nil {
		return r.durable.Batch(count, prepare, publish)
	}
	if err := prepare(r.Next); err != nil {
		return err
	}
	return publish()
}

func (r rows) close() error {
	if r.durable != nil {
		return r.durable.Close()
	}
	return nil
}

// rowFiles are the file of rows in the making, and the one that says what is in it.
type rowFiles struct{ rows, about *files.Private }

// probe finds out, before there are rows, whether both can be written.
func (f *noiseFlags) probe() error {
	if f.out == "" {
		return nil
	}
	r, err := f.files()
	r.discard()
	return err
}

// files starts both.
func (f *noiseFlags) files() (r rowFiles, err error) {
	if r.rows, err = files.NewPrivate(f.out, f.force); err == nil {
		r.about, err = files.NewPrivate(f.out+".json", f.force)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		err = cli.Usagef("%w (use --force to replace it)", err)
	case errors.Is(err, files.ErrIrregular):
		err = cli.Usage(err)
	}
	return r, err
}

// discard takes away what was not published.
func (r rowFiles) discard() {
	for _, p := range []*files.Private{r.rows, r.about} {
		if p != nil {
			_ = p.Discard()
		}
	}
}

// drawing is one run of the command.
type drawing struct {
	*noiseFlags
	rows
	first, count int
}

// text says which rows these are, and of what.
func (d *drawing) text() string {
	text := fmt.Sprintf("%s of 0..%d", rowsText("row", d.first, d.first+d.count-1), d.Steps()-1)
	if d.node != "" {
		text += fmt.Sprintf(" of %q", d.node)
	}
	if d.out != "" {
		text += ": " + d.out
	}
	return text
}

func rowsText(what string, first, last int) string {
	if first == last {
		return fmt.Sprintf("%s %d", what, first)
	}
	return fmt.Sprintf("%ss %d..%d", what, first, last)
}

// about is what the file beside the rows says.
type about struct {
	File     string  `json:"file"`
	SHA256   string  `json:"sha256"`
	Format   string  `json:"format"`
	Node     string  `json:"node,omitempty"`
	FirstRow int     `json:"first_row"` // for the message of this step, the next one for the next
	Rows     int     `json:"rows"`
	Steps    int     `json:"steps"`
	Dim      int     `json:"dim"`
	NoiseStd float64 `json:"noise_std"`
	Grid     float64 `json:"grid,omitempty"`
	Export   string  `json:"export"` // SHA-256 of the manifest
	Private  bool    `json:"private"`
	Seed     *uint64 `json:"seed,omitempty"`
	Note     string  `json:"note,omitempty"`
}

func (d *drawing) about(sum hash.Hash) about {
	a := about{File: d.out, SHA256: hex.EncodeToString(sum.Sum(nil)), Format: d.format, Node: d.node, FirstRow: d.first,
		Rows:  d.count,
		Steps: d.Steps(), Dim: d.dim, NoiseStd: d.NoiseStd(), Grid: d.grid, Export: d.Export(), Private: d.Private()}
	if !a.Private {
		a.Seed, a.Note = &d.seed, "simulated, not private: everybody can make this noise from its seed"
	}
	return a
}

// toFile writes the rows and what they are, and only then lets them be used: when both are on disk, and the state says
// that they are out. An interruption before that leaves no file, and the rows for another time.
func (d *drawing) toFile(ctx context.Context) error {
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	out, err := d.files()
	defer out.discard()
	if err != nil {
		return err
	}
	keep := context.AfterFunc(ctx, out.discard)
	prepare := func(next func(dst []float64) error) error {
		err := d.fill(ctx, out, next)
		if !keep() || ctx.Err() != nil {
			err = cli.ErrInterrupted
		}
		if err != nil {
			return fmt.Errorf("%s: %w; no row has gone out", d.out, err)
		}
		return nil
	}
	return d.batch(d.count, prepare, func() error {
		if err := out.about.Publish(); err != nil {
			return err
		}
		return out.rows.Publish()
	})
}

// fill draws the rows into both files and brings them to the disk.
func (d *drawing) fill(ctx context.Context, out rowFiles, next func(dst []float64) error) error {
	sum := sha256.New()
	w := bufio.NewWriterSize(io.MultiWriter(out.rows, sum), 1<<16)
	if err := d.header(w); err != nil {
		return err
	}
	row := d.newRow()
	for i := 0; i < d.count && ctx.Err() == nil; i++ {
		if err := row.draw(next); err != nil {
			return fmt.Errorf("drawing row %d: %w", d.first+i, err)
		}
		if err := row.write(w); err != nil {
			return err
		}
	}
	if err := errors.Join(w.Flush(), cli.WriteJSON(out.about, d.about(sum))); err != nil {
		return err
	}
	return errors.Join(out.rows.Finish(), out.about.Finish())
}

// toStream writes one row after the other, each when the state says that it is out.
func (d *drawing) toStream(out io.Writer) error {
	w := bufio.NewWriterSize(out, 1<<16)
	if err := d.header(w); err != nil {
		return err
	}
	row := d.newRow()
	for range d.count {
		err := d.batch(1, row.draw, func() error { return errors.Join(row.write(w), w.Flush()) })
		if err != nil {
			return err
		}
	}
	return nil
}

// explain says which rows an error has cost.
func (d *drawing) explain(err error) error {
	if !errors.Is(err, noise.ErrLost) {
		return err
	}
	first, last := d.first, d.Step()-1
	if d.out == "" {
		first = last
	}
	return fmt.Errorf("%w: %s may not have come out and cannot come again; leave %s out, and go on with --row %d in "+
		"step %d (docs/noise.md)", err, rowsText("row", first, last), rowsText("step", first, last), last+1, last+1)
}

func (d *drawing) header(w io.Writer) error {
	if d.format != "npy" {
		return nil
	}
	return npy.WriteHeader(w, []int{d.count, d.dim})
}

// oneRow is a row on its way out, in single precision too if that is wanted.
type oneRow struct {
	stream  *noise.Stream
	numbers []float64
	single  []float32
}

func (d *drawing) newRow() *oneRow {
	r := &oneRow{stream: d.Stream, numbers: make([]float64, d.dim)}
	if d.format == "raw32" {
		r.single = make([]float32, d.dim)
	}
	return r
}

func (r *oneRow) draw(next func(dst []float64) error) error {
	if err := next(r.numbers); err != nil || r.single == nil {
		return err
	}
	return r.stream.Single(r.single, r.numbers)
}

func (r *oneRow) write(w io.Writer) error {
	if r.single != nil {
		return binary.Write(w, binary.LittleEndian, r.single)
	}
	return npy.WriteNumbers(w, r.numbers)
}
