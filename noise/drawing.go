package noise

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"mafalda/internal/files"
	"mafalda/simulated"
)

// A Drawing is the next rows of a stream, on their way to a file or a stream of bytes.
type Drawing struct {
	stream       *Stream
	format       Format
	first, count int
	carried      int // rows of steps before, in the first one

	// Progress, if not nil, sees how many rows ToFile has made, of how many.
	Progress func(done, total int)
}

// LeftError is about more rows than there are.
type LeftError struct {
	Left, Steps int
	Budget      error // wraps ErrBudget; nil: the node's budget has room for all rows
}

func (e *LeftError) Error() string {
	text := fmt.Sprintf("%d of %d rows are left", e.Left, e.Steps)
	if e.Budget != nil {
		text += fmt.Sprintf(": %v", e.Budget)
	}
	return text
}

// Unwrap returns why there are no more, if it is the node's budget.
func (e *LeftError) Unwrap() error { return e.Budget }

// TooFew returns the error about more rows than are left.
func TooFew(s *Stream) *LeftError {
	e := &LeftError{Left: max(s.End()-s.Step(), 0), Steps: s.Steps()}
	if s.End() < s.Steps() {
		e.Budget = s.endError()
	}
	return e
}

// Draw returns the next count rows of a stream, all that are left if count is 0: up to the last step, or to the row that
// would pass the node's budget. Nothing is drawn yet. The error is a LeftError.
func Draw(s *Stream, count int, f Format) (*Drawing, error) {
	left := s.End() - s.Step()
	if count > left || left <= 0 {
		return nil, TooFew(s)
	}
	if count == 0 {
		count = left
	}
	return &Drawing{stream: s, format: f, first: s.Step(), count: count, carried: s.Carried()}, nil
}

// Condition returns the stream's Condition.
func (d *Drawing) Condition() string { return d.stream.Condition() }

// String names the rows, and of what they are.
func (d *Drawing) String() string {
	text := fmt.Sprintf("%s of 0..%d", rowsText("row", d.first, d.first+d.count-1), d.stream.Steps()-1)
	if node := d.stream.node; node != "" {
		text += fmt.Sprintf(" of %q", node)
	}
	if d.carried > 0 {
		text += fmt.Sprintf(", with %s, never sent, in the first", rowsText("row", d.first-d.carried, d.first-1))
	}
	return text
}

func rowsText(what string, first, last int) string {
	if first == last {
		return fmt.Sprintf("%s %d", what, first)
	}
	return fmt.Sprintf("%ss %d..%d", what, first, last)
}

// LostError is about rows that are used up and may not have come out: the next row is Last+1, for step Last+1. It wraps
// ErrLost and what has gone wrong.
type LostError struct {
	First, Last int
	err         error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%v: %s may not have come out and cannot come again; leave %s out", e.err,
		rowsText("row", e.First, e.Last), rowsText("step", e.First, e.Last))
}

// Unwrap returns what has gone wrong.
func (e *LostError) Unwrap() error { return e.err }

// lostError says which rows an error has cost, from first on.
func (d *Drawing) lostError(first int, err error) error {
	if !errors.Is(err, ErrLost) {
		return err
	}
	return &LostError{first, d.stream.Step() - 1, err}
}

// About is what a file of rows holds.
type About struct {
	File     string  `json:"file"`
	SHA256   string  `json:"sha256"`
	Format   Format  `json:"format"`
	Node     string  `json:"node,omitempty"`
	FirstRow int     `json:"first_row"` // step whose message the first row is for; the next row is for the next step
	Rows     int     `json:"rows"`
	Carried  int     `json:"carried,omitempty"` // rows of steps before the first that are in it
	Steps    int     `json:"steps"`
	Dim      int     `json:"dim"`
	NoiseStd float64 `json:"noise_std"`
	Grid     float64 `json:"grid,omitempty"`
	Export   string  `json:"export"` // SHA-256 of the manifest
	Private  bool    `json:"private"`
	Seed     *uint64 `json:"seed,omitempty"`
	Sampling string  `json:"sampling,omitempty"` // scheme of batches that must be drawn in secret: see Note
	Note     string  `json:"note,omitempty"`
	// SharedWith are the neighbours that noise is shared with; a Check has nothing but that in its rows.
	SharedWith []string `json:"shared_with,omitempty"`
	Check      bool     `json:"check,omitempty"`
	// Spent is what is given away when the last of these rows is out; nil for noise that protects nothing, and without
	// a privacy level.
	Spent *Spent `json:"spent,omitempty"`
}

func (d *Drawing) describe(path string, sum hash.Hash) About {
	s := d.stream
	a := About{File: path, SHA256: hex.EncodeToString(sum.Sum(nil)), Format: d.format, Node: s.node, FirstRow: d.first,
		Rows: d.count, Carried: d.carried, Steps: s.steps, Dim: s.dim, NoiseStd: s.std, Grid: s.grid, Export: s.export, Private: s.Private(),
		SharedWith: s.Neighbours(), Check: s.Check()}
	if a.Note = s.Condition(); a.Note != "" {
		a.Sampling = s.manifest.Sampling.Scheme
	}
	if spent, err := s.Spent(); err == nil {
		a.Spent = &spent
	}
	if a.Check {
		a.Note = "rows to compare with a neighbour's: without the node's own noise, they protect nothing"
	}
	if s.seed != nil {
		a.Seed, a.Note = s.seed, simulated.Note+": everybody can make this noise from its seed"
	}
	return a
}

// rowFiles are the file of rows in the making, and the one that says what is in it.
type rowFiles struct{ rows, about *files.Private }

func newRowFiles(path string, replace bool) (r rowFiles, err error) {
	if r.rows, err = files.NewPrivate(path, replace); err == nil {
		r.about, err = files.NewPrivate(AboutPath(path), replace)
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

// AboutPath returns the path of the file that says what is in a file of rows.
func AboutPath(path string) string { return path + ".json" }

// CheckFile finds out, before any row is drawn, whether ToFile can write its two files. It fails with fs.ErrExist
// without replace, with files.ErrIrregular, and as the file system does.
func CheckFile(path string, replace bool) error {
	r, err := newRowFiles(path, replace)
	r.discard()
	return err
}

// ToFile writes the rows to a file that only its owner can read, and About it to AboutPath, and only then lets them be
// used: when both are on disk, and the state says that they are out. An interruption before that, or an error other
// than a LostError, leaves no file, and the rows for another time. It fails as CheckFile and Next do, with the cause of
// the context, and with a LostError.
func (d *Drawing) ToFile(ctx context.Context, path string, replace bool) error {
	out, err := newRowFiles(path, replace)
	defer out.discard()
	if err != nil {
		return err
	}
	keep := context.AfterFunc(ctx, out.discard)
	prepare := func(next func(dst []float64) error) error {
		err := d.fill(ctx, path, out, next)
		if !keep() || ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s: %w; no row has gone out", path, err)
		}
		return nil
	}
	return d.lostError(d.first, d.stream.Batch(d.count, prepare, func() error {
		if err := out.about.Publish(); err != nil {
			return err
		}
		return out.rows.Publish()
	}))
}

// fill draws the rows into both files and brings them to the disk.
func (d *Drawing) fill(ctx context.Context, path string, out rowFiles, next func(dst []float64) error) error {
	sum := sha256.New()
	w := bufio.NewWriterSize(io.MultiWriter(out.rows, sum), 1<<16)
	s := d.stream
	if err := d.format.header(w, d.count, s.dim); err != nil {
		return err
	}
	row := newRow(s, d.format)
	for i := 0; i < d.count && ctx.Err() == nil; i++ {
		if err := row.draw(next); err != nil {
			return fmt.Errorf("drawing row %d: %w", d.first+i, err)
		}
		if err := row.write(w); err != nil {
			return err
		}
		if d.Progress != nil {
			d.Progress(i+1, d.count)
		}
	}
	about := json.NewEncoder(out.about)
	about.SetIndent("", "  ")
	if err := errors.Join(w.Flush(), about.Encode(d.describe(path, sum))); err != nil {
		return err
	}
	return errors.Join(out.rows.Finish(), out.about.Finish())
}
