package noise

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Pipe is a stream of bytes that knows what its reader has taken.
type Pipe interface {
	io.Writer
	// Drain waits until the reader has taken all, or is gone, and returns how many bytes it has not.
	Drain() (left int, err error)
	// Gone reports whether there is no reader any more.
	Gone() bool
}

// ErrReader is about a reader that is gone.
var ErrReader = errors.New("the reader is gone")

// errUntouched is about a row of which certainly not a byte was read.
var errUntouched = errors.New("not a byte of the row was read")

// UnreadError is about a row that went to a reader that was gone, of which not a byte was read. It wraps ErrReader. The
// state notes its step as skipped (Stream.Skip): the next row contains it.
type UnreadError struct{ Row int }

func (e *UnreadError) Error() string {
	return fmt.Sprintf("%v, and has not read a byte of row %d, which is added to the next one; leave step %[2]d out",
		ErrReader, e.Row)
}

// Unwrap returns ErrReader.
func (e *UnreadError) Unwrap() error { return ErrReader }

// ToStream writes one row after the other, each when the state says that it is out; with steps, the number of its step
// before it, eight bytes, the least significant first. To a Pipe a row is written when its reader has taken all that
// went before: one row, at most, is out before its reader asked for it, and if the reader is gone by then it is carried. It
// fails as Next and writing do, with ErrReader before the last row, with an UnreadError, and with a LostError.
func (d *Drawing) ToStream(out io.Writer, withSteps bool) error {
	s := d.stream
	if d.format == NPY && withSteps {
		return errors.New("a .npy file has no place for numbers of steps")
	}
	counted := &counter{w: out}
	w := bufio.NewWriterSize(counted, 1<<16)
	if err := d.format.header(w, d.count, s.dim); err != nil {
		return err
	}
	row := newRow(s, d.format)
	pipe, _ := out.(Pipe)
	for range d.count {
		step := d.stream.Step()
		if pipe != nil && step > d.first && pipe.Gone() {
			return fmt.Errorf("%w: row %d was not drawn", ErrReader, step)
		}
		err := d.stream.Batch(1, row.draw, func() error {
			var err error
			counted.bytes = 0
			if withSteps {
				_, err = w.Write(binary.LittleEndian.AppendUint64(nil, uint64(step)))
			}
			return counted.waitTaken(errors.Join(err, row.write(w), w.Flush()))
		})
		if errors.Is(err, errUntouched) {
			return &UnreadError{step}
		}
		if err != nil {
			return d.lostError(step, err)
		}
	}
	return nil
}

// counter counts what is written.
type counter struct {
	w     io.Writer
	bytes int
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.bytes += n
	return n, err
}

// waitTaken waits until a row was taken by the reader, if it is known when. The error is errUntouched if none of its
// bytes was.
func (c *counter) waitTaken(err error) error {
	pipe, ok := c.w.(Pipe)
	if !ok {
		return err
	}
	left, drained := pipe.Drain()
	switch {
	case drained != nil:
		return errors.Join(err, drained)
	case err == nil && left == 0:
		return nil
	case left == c.bytes && pipe.Gone():
		return errUntouched
	case err == nil:
		return ErrReader
	}
	return err
}
